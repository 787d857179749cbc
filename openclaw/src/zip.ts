// A zip archive of a folder, written file by file into another file: deflated, UTF-8 names, regular files only. Links are left out, since they
// may lead out of the folder; so is .git.
import { open, readdir, readFile, type FileHandle } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { deflateRaw } from "node:zlib";
import { Fault } from "./fault.js";

/** What one archive may hold: beyond it, an import is better made from Git or in parts. */
export const limits = { files: 20_000, bytes: 512 * 1024 * 1024 };
const leftOut = new Set([".git", ".DS_Store"]);
const deflate = promisify(deflateRaw);

interface Packed {
  name: Buffer;
  crc: number;
  size: number;
  packed: number;
  deflated: boolean;
  at: number;
}

/** zipFolder writes the archive of a folder to a new file and returns how many files it holds. */
export async function zipFolder(folder: string, target: string, signal?: AbortSignal): Promise<number> {
  const files = await regularFiles(folder);
  if (files.length === 0) throw new Fault("invalid", `${folder} holds no files`);
  const out = await open(target, "wx", 0o600);
  try {
    const entries: Packed[] = [];
    let at = 0;
    for (const file of files) {
      if (signal?.aborted) throw new Fault("cancelled", "the host cancelled the request");
      const { entry, bytes } = await pack(folder, file, at);
      await write(out, bytes);
      at += bytes.reduce((n, b) => n + b.length, 0);
      if (at > limits.bytes) throw new Fault("invalid", `${folder} is larger than ${limits.bytes} bytes even when it is packed; import a part of it`);
      entries.push(entry);
    }
    const directory = entries.map(central);
    const size = directory.reduce((n, b) => n + b.length, 0);
    await write(out, [...directory, end(entries.length, size, at)]);
    return entries.length;
  } finally {
    await out.close();
  }
}

/** The regular files below a folder, by name. */
async function regularFiles(folder: string): Promise<string[]> {
  const found: string[] = [];
  const visit = async (dir: string): Promise<void> => {
    const list = await readdir(dir, { withFileTypes: true });
    list.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const item of list) {
      if (leftOut.has(item.name)) continue;
      const path = join(dir, item.name);
      if (item.isDirectory()) await visit(path);
      else if (item.isFile()) found.push(path);
      if (found.length > limits.files) throw new Fault("invalid", `${folder} holds more than ${limits.files} files; import a part of it`);
    }
  };
  await visit(folder);
  return found;
}

async function pack(folder: string, file: string, at: number): Promise<{ entry: Packed; bytes: Buffer[] }> {
  const data = await readFile(file);
  const small = await deflate(data);
  const deflated = small.length < data.length;
  const body = deflated ? small : data;
  const name = Buffer.from(relative(folder, file).split(sep).join("/"), "utf8");
  const entry = { name, crc: crc32(data), size: data.length, packed: body.length, deflated, at };
  return { entry, bytes: [local(entry), body] };
}

const utf8 = 0x0800;
const day = (1 << 5) | 1; // 1980-01-01: the archive of the same files is the same bytes

function local(e: Packed): Buffer {
  const b = Buffer.alloc(30);
  b.writeUInt32LE(0x04034b50, 0);
  b.writeUInt16LE(20, 4);
  common(b, e, 6);
  return Buffer.concat([b, e.name]);
}

/** The fields that an entry has in both places. */
function common(b: Buffer, e: Packed, at: number): void {
  b.writeUInt16LE(utf8, at);
  b.writeUInt16LE(e.deflated ? 8 : 0, at + 2);
  b.writeUInt16LE(day, at + 6);
  b.writeUInt32LE(e.crc, at + 8);
  b.writeUInt32LE(e.packed, at + 12);
  b.writeUInt32LE(e.size, at + 16);
  b.writeUInt16LE(e.name.length, at + 20);
}

function central(e: Packed): Buffer {
  const b = Buffer.alloc(46);
  b.writeUInt32LE(0x02014b50, 0);
  b.writeUInt16LE((3 << 8) | 20, 4); // made on Unix: the mode below is one
  b.writeUInt16LE(20, 6);
  common(b, e, 8);
  b.writeUInt32LE((0o100644 << 16) >>> 0, 38);
  b.writeUInt32LE(e.at, 42);
  return Buffer.concat([b, e.name]);
}

function end(count: number, size: number, at: number): Buffer {
  const b = Buffer.alloc(22);
  b.writeUInt32LE(0x06054b50, 0);
  b.writeUInt16LE(count, 8);
  b.writeUInt16LE(count, 10);
  b.writeUInt32LE(size, 12);
  b.writeUInt32LE(at, 16);
  return b;
}

async function write(out: FileHandle, parts: Buffer[]): Promise<void> {
  for (const part of parts) if (part.length > 0) await out.writeFile(part);
}

const table = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n >>> 0;
});

function crc32(data: Buffer): number {
  let c = 0xffffffff;
  for (const byte of data) c = (table[(c ^ byte) & 0xff] as number) ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}
