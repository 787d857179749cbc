// Builds both plugins from the one source: dist/skald and dist/openviking, each a folder that the host can load.
import { build } from "esbuild";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const common = { bundle: true, format: "esm", platform: "node", target: "node20", external: ["openclaw/*"], logLevel: "warning" };

// The manifest is made from the same tables that the plugin works with.
const tables = join(root, ".build", "tables.mjs");
await build({
  ...common,
  stdin: { contents: 'export { keys } from "./keys.js"; export { toolSpecs } from "./tools.js"; export * from "./build.js";', resolveDir: join(root, "src"), loader: "ts" },
  outfile: tables,
});
const { keys, toolSpecs, pluginDescription } = await import(`${pathToFileURL(tables).href}?${Date.now()}`);

for (const id of ["skald", "openviking"]) {
  const out = join(root, "dist", id);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const define = { SKALD_PLUGIN_ID: JSON.stringify(id), SKALD_PLUGIN_VERSION: JSON.stringify(version) };
  const result = await build({ ...common, entryPoints: [join(root, "src", "index.ts")], outfile: join(out, "index.js"), define, metafile: true });
  write(out, "openclaw.plugin.json", manifest(id));
  write(out, "package.json", packageJson(id));
  console.log(`dist/${id}/index.js ${Object.values(result.metafile.outputs)[0].bytes} bytes`);
}

/** The schema names every key but checks none: a wrong value is the plugin's to report, never a reason not to start. */
function configSchema() {
  const properties = Object.entries(keys).map(([name, key]) => [
    name,
    { description: key.text, ...(key.default === undefined ? {} : { default: key.default }) },
  ]);
  return { type: "object", additionalProperties: true, properties: Object.fromEntries(properties) };
}

function manifest(id) {
  return {
    id,
    name: id === "skald" ? "Skald" : "Skald (in place of OpenViking)",
    description: pluginDescription,
    version,
    kind: "context-engine",
    activation: { onStartup: true, onCapabilities: ["hook", "tool"] },
    contracts: { tools: toolSpecs.map((t) => t.name) },
    uiHints: { apiKey: { label: "Daemon key", sensitive: true } },
    configSchema: configSchema(),
  };
}

function packageJson(id) {
  return {
    name: id === "skald" ? "skald-openclaw" : "skald-openclaw-openviking",
    version,
    description: pluginDescription,
    type: "module",
    main: "./index.js",
    openclaw: { extensions: ["./index.js"], compat: { pluginApi: ">=2026.8.1" } },
  };
}

function write(out, name, value) {
  writeFileSync(join(out, name), `${JSON.stringify(value, null, 2)}\n`);
}
