// Compares our declarations of the host with its published ones, when the host is in the cache (scripts/setup-host.sh).
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawnSync } from "node:child_process";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const cache = process.env.SKALD_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "skald");
const hosts = existsSync(cache) ? readdirSync(cache).filter((d) => /^openclaw-[\d.]+$/.test(d)) : [];
if (hosts.length === 0) {
  console.log(`check:host skipped: no host in ${cache}; run scripts/setup-host.sh`);
  process.exit(0);
}
for (const host of hosts) {
  const sdk = join(cache, host, "node_modules", "openclaw", "dist", "plugin-sdk");
  const config = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      skipLibCheck: true,
      noUnusedLocals: false,
      typeRoots: [join(root, "node_modules", "@types")],
      paths: { "openclaw/plugin-sdk/plugin-entry": [join(sdk, "plugin-entry.d.ts")] },
    },
    include: [],
    exclude: [],
    files: [join(root, "src", "sdk.d.ts"), join(root, "test", "host-types.ts")],
  };
  const file = join(root, ".build", `tsconfig.${host}.json`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(config, null, 2));
  const tsc = spawnSync(process.execPath, [join(root, "node_modules", "typescript", "bin", "tsc"), "-p", file], { stdio: "inherit" });
  if (tsc.status !== 0) process.exit(tsc.status ?? 1);
  console.log(`check:host: our declarations fit ${host}`);
}
