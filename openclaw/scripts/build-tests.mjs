// Bundles test/*.test.ts for node's own runner, so that any Node from 20 on can run them.
import { build } from "esbuild";
import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const out = join(root, ".build", "test");
rmSync(out, { recursive: true, force: true });
await build({
  entryPoints: readdirSync(join(root, "test")).filter((f) => f.endsWith(".test.ts")).map((f) => join(root, "test", f)),
  outdir: out,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  sourcemap: "inline",
  external: ["openclaw/*"],
  logLevel: "warning",
});
