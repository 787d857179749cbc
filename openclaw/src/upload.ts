// What a source of an import is, and the upload of local ones: the daemon never gets a path of this machine (001-074).
import { createReadStream } from "node:fs";
import { mkdtemp, realpath, rm, stat } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { basename, join, relative, resolve, sep } from "node:path";
import { within, type Client, type Deadline, type Route } from "./client.js";
import { Fault } from "./fault.js";
import { limits, zipFolder } from "./zip.js";

/** Where local paths may lie. */
export interface Reach {
  /** Relative paths begin here. */
  base?: string;
  /** Paths outside of base are refused: the agent works in a sandbox, or a stranger speaks. */
  inside: boolean;
}

const remote = /^(https?:\/\/|git@|git:\/\/|git\+|ssh:\/\/)/i;

/** isRemote tells an address that the daemon fetches from a path of this machine. */
export const isRemote = (source: string) => remote.test(source);

/** localPath is the checked path of a local source. */
export async function localPath(source: string, reach: Reach): Promise<{ path: string; folder: boolean; bytes: number }> {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(source)) throw new Fault("invalid", `${source}: give a path without a scheme, an http(s) URL, or a Git address`);
  const wanted = resolve(reach.base ?? process.cwd(), source === "~" || /^~[\\/]/.test(source) ? join(homedir(), source.slice(1)) : source);
  const path = await realpath(wanted).catch(() => {
    throw new Fault("not_found", `${wanted} does not exist on this machine`);
  });
  if (reach.inside) {
    const base = reach.base ? await realpath(reach.base).catch(() => undefined) : undefined;
    const from = base === undefined ? ".." : relative(base, path);
    if (from === ".." || from.startsWith(`..${sep}`) || resolve(from) === from) {
      throw new Fault("permission", `${wanted} lies outside of the agent's workspace: only files of the workspace can be imported from this session`);
    }
  }
  const about = await stat(path);
  if (!about.isFile() && !about.isDirectory()) throw new Fault("invalid", `${wanted} is neither a file nor a folder`);
  return { path, folder: about.isDirectory(), bytes: about.size };
}

/** upload sends a file, or the zip archive of a folder, and returns the id that an import takes. */
export async function upload(client: Client, source: { path: string; folder: boolean; bytes: number }, route: Route, d: Deadline): Promise<string> {
  if (!source.folder) return send(client, source.path, basename(source.path), source.bytes, route, d);
  const dir = await mkdtemp(join(tmpdir(), "skald-import-"));
  try {
    const archive = join(dir, "folder.zip");
    await zipFolder(source.path, archive, d.signal);
    const { size } = await stat(archive);
    return await send(client, archive, `${basename(source.path) || "folder"}.zip`, size, route, d);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function send(client: Client, path: string, name: string, bytes: number, route: Route, d: Deadline): Promise<string> {
  if (bytes > limits.bytes) throw new Fault("invalid", `${path} has ${bytes} bytes; at most ${limits.bytes} can be uploaded`);
  const boundary = `skald-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
  const shown = name.replace(/["\r\n\\]/g, "_");
  const head = Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${shown}"\r\nContent-Type: application/octet-stream\r\n\r\n`);
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const body = {
    type: `multipart/form-data; boundary=${boundary}`,
    length: head.length + bytes + tail.length,
    async *parts() {
      yield head;
      if (bytes > 0) yield* createReadStream(path, { end: bytes - 1 }) as AsyncIterable<Buffer>;
      yield tail;
    },
  };
  const answer = await client.api<{ temp_file_id?: string }>("POST", "/resources/temp_upload", body, route, d);
  if (!answer.temp_file_id) throw new Fault("internal", "the daemon took the upload and gave no id");
  return answer.temp_file_id;
}

/** Time for an import: what the caller asked for and what goes with it, else two minutes; never less than a call has. */
export function importDeadline(client: Client, wait: boolean, seconds: number | undefined, signal?: AbortSignal): Deadline {
  const ms = wait ? (seconds === undefined ? 120_000 : seconds * 1000 + 5000) : 60_000;
  return within(Math.max(client.config.timeoutMs, ms), signal);
}
