#!/usr/bin/env node
// Runs the skald binary of this system, which npm installed as skald-openclaw-<os>-<cpu>.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const name = `skald-openclaw-${process.platform}-${process.arch}`;
let folder;
try {
  folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
} catch {
  console.error(`skald: the npm package ${name} is not there. Install skald-openclaw without --omit=optional; if npm knows no such package, this system has no build.`);
  process.exit(1);
}
const child = spawn(join(folder, "node_modules", ".skald", process.platform === "win32" ? "skald.exe" : "skald"), process.argv.slice(2), { stdio: "inherit" });
process.on("SIGINT", () => {}); // the terminal sends it to the binary as well, and this waits for its end
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("error", (error) => {
  console.error(`skald: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  process.removeAllListeners(signal ?? "SIGINT");
  if (signal) process.kill(process.pid, signal);
  else process.exit(code ?? 1);
});
