import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { keys } from "../src/keys.js";
import { FakeHost, freshProcess } from "./fakes.js";

const dist = join(process.cwd(), "dist");
const json = (path: string) => JSON.parse(readFileSync(path, "utf8"));

for (const id of ["skald", "openviking"]) {
  const load = async (config: Record<string, unknown> = {}) => {
    freshProcess();
    // PLG-07: from an empty directory, without the repository
    const dir = mkdtempSync(join(tmpdir(), "skald-plugin-"));
    cpSync(join(dist, id), dir, { recursive: true });
    const { default: entry } = await import(pathToFileURL(join(dir, "index.js")).href);
    const host = new FakeHost(config);
    entry.register(host);
    return { entry, host, manifest: json(join(dir, "openclaw.plugin.json")), pkg: json(join(dir, "package.json")) };
  };

  test(`${id}: PLG-01 every tool is declared, whatever is configured`, async () => {
    const { manifest } = await load();
    for (const config of [{}, { tools: "all" }, { disabledTools: ["memory_forget"] }]) {
      const { host } = await load(config);
      for (const name of host.tools.keys()) assert.ok(manifest.contracts.tools.includes(name), name);
    }
    const { host } = await load({ tools: "all" });
    assert.deepEqual([...host.tools.keys()].sort(), [...manifest.contracts.tools].sort());
    assert.equal(manifest.kind, "context-engine");
    assert.equal(manifest.activation.onStartup, true);
  });

  test(`${id}: PLG-03 plugin, manifest, engine and service ids are equal`, async () => {
    const { entry, host, manifest, pkg } = await load({ port: 9, autoStart: false });
    assert.equal(entry.id, id);
    assert.equal(manifest.id, id);
    assert.deepEqual([...host.engines.keys()], [id]);
    assert.equal((await host.engine()).info.id, id);
    assert.equal(host.services[0]?.id, id);
    assert.equal(pkg.version, manifest.version);
    assert.equal((await host.engine()).info.version, manifest.version);
    assert.deepEqual(pkg.openclaw.extensions, ["./index.js"]);
  });

  test(`${id}: PLG-08 the schema names every key and refuses none`, async () => {
    const { manifest } = await load();
    assert.deepEqual(Object.keys(manifest.configSchema.properties), Object.keys(keys));
    assert.equal(manifest.configSchema.additionalProperties, true);
    for (const [name, p] of Object.entries<Record<string, unknown>>(manifest.configSchema.properties)) {
      assert.ok(p.description, name);
      assert.equal(p.type, undefined, "a wrong value is reported by the plugin, never a reason not to start");
    }
  });

  test(`${id}: PLG-04 registering opens and starts nothing`, async () => {
    const dataDir = join(tmpdir(), "skald-must-not-exist", String(process.pid));
    const { host } = await load({ dataDir, binary: "/bin/false" });
    assert.throws(() => readFileSync(dataDir), /ENOENT/);
    assert.deepEqual(host.warnings, []);
    assert.deepEqual([...host.hooks.keys()].sort(), ["before_reset", "gateway_stop", "session_end", "session_start"]);
  });
}

test("the openviking build offers the archive tools without being asked, and reads OpenViking's environment", async () => {
  freshProcess();
  const { default: entry } = await import(pathToFileURL(join(dist, "openviking", "index.js")).href);
  const host = new FakeHost({});
  entry.register(host);
  assert.ok(host.tools.has("ov_archive_search"));
  freshProcess();
  const { default: plain } = await import(pathToFileURL(join(dist, "skald", "index.js")).href);
  const other = new FakeHost({});
  plain.register(other);
  assert.deepEqual([...other.tools.keys()], ["memory_recall", "memory_recall_auto", "memory_expand", "memory_store", "memory_forget"]);
});

test("several copies of the module warn once in a process", async () => {
  freshProcess();
  const lines: string[] = [];
  for (let i = 0; i < 3; i++) {
    const { default: entry } = await import(`${pathToFileURL(join(dist, "skald", "index.js")).href}?copy=${i}`);
    const host = new FakeHost({ recalLimit: 1 });
    entry.register(host);
    lines.push(...host.warnings);
  }
  assert.deepEqual(lines, ['warn skald: configuration: unknown key "recalLimit" (did you mean "recallLimit"?); ignored']);
});
