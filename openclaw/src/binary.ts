// Finding the skald binary.
import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { Config } from "./config.js";

const name = process.platform === "win32" ? "skald.exe" : "skald";

/**
 * Where npm puts the binary of this system: in a package of its own, and there in a folder that npm ignores and the host leaves out when
 * it copies a plugin and its dependencies, as it does at every load.
 */
const packaged = join("node_modules", `skald-openclaw-${process.platform}-${process.arch}`, "node_modules", ".skald");

/**
 * findBinary looks at the configuration's `binary`, SKALD_BIN, the platform's npm package, the plugin's own bin folder and the PATH.
 * What is named by hand is never replaced by another. rootDir is the plugin's real folder: its code runs from a copy elsewhere.
 */
export function findBinary(config: Config, rootDir?: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const named = config.binary ?? env.SKALD_BIN;
  if (named) return executable(named) ? named : undefined;
  const own = rootDir ? [...above(rootDir).map((d) => join(d, packaged)), join(rootDir, "bin")] : [];
  const path = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return [...own, ...path].map((folder) => join(folder, name)).find(executable);
}

/** The folder and all above it, as npm looks for packages: links resolved. */
function above(folder: string): string[] {
  const folders = [real(folder)];
  for (let next = dirname(folders[0]!); next !== folders.at(-1); next = dirname(next)) folders.push(next);
  return folders;
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
