// Writes the plugin's table of docs/configuration.md from src/keys.ts; with --check it only says whether the page is current.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);
const page = fileURLToPath(new URL("../docs/configuration.md", root));
const bundle = await build({ entryPoints: [fileURLToPath(new URL("src/keys.ts", root))], bundle: true, format: "esm", write: false });
const { keys } = await import(`data:text/javascript;base64,${Buffer.from(bundle.outputFiles[0].text).toString("base64")}`);

const cell = (text) => String(text).replaceAll("|", "\\|");
const rows = Object.entries(keys)
  .filter(([, key]) => !key.old)
  .map(([name, key]) => `| \`${name}\` | ${key.values ? key.values.join(", ") : key.type} | ${cell(key.text)} |`);
const old = Object.entries(keys).filter(([, key]) => key.old).map(([name]) => `\`${name}\``);
const table = ["| key | type | meaning |", "|---|---|---|", ...rows, "", `Accepted for existing OpenViking configurations, without effect: ${old.join(", ")}.`].join("\n");

const [begin, end] = ["<!-- keys: made by openclaw/scripts/doc-config.mjs -->", "<!-- end of keys -->"];
const before = readFileSync(page, "utf8");
const after = before.slice(0, before.indexOf(begin) + begin.length) + "\n" + table + "\n" + before.slice(before.indexOf(end));
if (before === after) process.exit(0);
if (process.argv.includes("--check")) {
  console.error("docs/configuration.md is not current: run node openclaw/scripts/doc-config.mjs");
  process.exit(1);
}
writeFileSync(page, after);
