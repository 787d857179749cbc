// A light lint beside tsc: small files, no stray output, no `any` outside the host's declarations, no secrets or message text in logs.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const rules = [
  [/\bconsole\./, "no console: use the host's logger"],
  [/:\s*any\b|as any\b|<any>/, "no any"],
  [/@ts-(ignore|nocheck|expect-error)/, "no suppressed type errors"],
  [/log\.\w+\([^)]*(prompt|messages|apiKey|content)\b/i, "no text of the conversation and no key in logs"],
  [/\t| +$/, "no tabs, no space at the end"],
  [/^(let|var) /, "no module state"],
];
const problems = [];
for (const file of readdirSync(join(root, "src"))) {
  const lines = readFileSync(join(root, "src", file), "utf8").split("\n");
  if (lines.length > 320) problems.push(`src/${file}: ${lines.length} lines, more than 320`);
  lines.forEach((line, i) => {
    for (const [pattern, why] of rules) if (pattern.test(line) && !(file === "host.d.ts" && why === "no any")) problems.push(`src/${file}:${i + 1}: ${why}`);
  });
}
for (const p of problems) console.error(p);
process.exit(problems.length ? 1 : 0);
