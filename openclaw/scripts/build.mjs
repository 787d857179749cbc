// Builds both plugins from the one source: dist/skald and dist/openviking, each a folder that the host can load. They are committed,
// since the skald binary embeds them (embed.go) and `go install` has no npm. With --check it only says whether they are current.
import { build } from "esbuild";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const hostVersion = ">=2026.8.1"; // the oldest host that the end-to-end smoke runs on
const check = process.argv.includes("--check");
const common = { absWorkingDir: root, bundle: true, format: "esm", platform: "node", target: "node20", external: ["openclaw/*"], logLevel: "warning" };

// The manifest is made from the same tables that the plugin works with.
const tables = join(root, ".build", "tables.mjs");
await build({
  ...common,
  stdin: { contents: 'export { keys } from "./keys.js"; export { toolSpecs } from "./toolspecs.js"; export * from "./build.js";', resolveDir: join(root, "src"), loader: "ts" },
  outfile: tables,
});
const { keys, toolSpecs, pluginDescription } = await import(`${pathToFileURL(tables).href}?${Date.now()}`);

for (const id of ["skald", "openviking"]) {
  const out = join(root, "dist", id);
  mkdirSync(out, { recursive: true });
  const define = { SKALD_PLUGIN_ID: JSON.stringify(id), SKALD_PLUGIN_VERSION: JSON.stringify(version) };
  const result = await build({ ...common, entryPoints: [join(root, "src", "index.ts")], outfile: join(out, "index.js"), define, write: false });
  const [code] = result.outputFiles;
  write(join(out, "index.js"), code.text);
  write(join(out, "openclaw.plugin.json"), json(manifest(id)));
  write(join(out, "package.json"), json(packageJson(id)));
  console.log(`dist/${id}/index.js ${code.contents.length} bytes`);
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
    license: "Apache-2.0",
    type: "module",
    main: "./index.js",
    openclaw: { extensions: ["./index.js"], compat: { pluginApi: hostVersion }, install: { minHostVersion: hostVersion } },
  };
}

function json(value) {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Leaves a file alone that is as it should be, and replaces others at once: Go builds read them at any moment. */
function write(path, text) {
  if (current(path) === text) return;
  if (check) {
    console.error(`${path.slice(root.length + 1)} is not current: run make plugin, and commit it`);
    process.exitCode = 1;
    return;
  }
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

function current(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
