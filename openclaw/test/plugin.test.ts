// The plugin as it is shipped: packed by npm, unpacked in an empty folder, without the repository (PLG-07).
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { keys } from "../src/keys.js";
import { FakeDaemon, FakeHost, freshProcess, session, user } from "./fakes.js";

const dist = join(process.cwd(), "dist");
const json = (path: string) => JSON.parse(readFileSync(path, "utf8"));

function run(command: string, args: string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8", shell: process.platform === "win32" });
  assert.equal(status, 0, stderr);
  return stdout;
}

/** The unpacked package of one build. */
function packed(id: string): string {
  const dir = mkdtempSync(join(tmpdir(), "skald-pack-"));
  const [{ filename }] = JSON.parse(run("npm", ["pack", "--json", "--offline", "--ignore-scripts", "--pack-destination", dir, join(dist, id)], dir)) as [{ filename: string }];
  run("tar", ["-xzf", filename], dir);
  return join(dir, "package");
}

for (const id of ["skald", "openviking"]) {
  const dir = packed(id);
  const load = async (config: Record<string, unknown> = {}, mode = "full") => {
    freshProcess();
    const { default: entry } = await import(pathToFileURL(join(dir, "index.js")).href);
    const host = new FakeHost(config, dir);
    host.registrationMode = mode;
    entry.register(host);
    return { entry, host, manifest: json(join(dir, "openclaw.plugin.json")), pkg: json(join(dir, "package.json")) };
  };

  test(`${id}: PLG-07 the packed plugin imports and registers in an empty folder`, async () => {
    const { host, pkg } = await load();
    assert.ok(!existsSync(join(dir, "node_modules")) && existsSync(join(dir, pkg.main)));
    assert.equal(host.engines.size, 1);
    assert.ok(host.tools.size > 0 && host.services.length === 1 && host.commands.has("skald"));
    assert.deepEqual(host.warnings, []);
  });

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

  test(`${id}: PLG-08 every documented key passes, and an unknown one is named`, async () => {
    const page = readFileSync(join(process.cwd(), "..", "docs", "configuration.md"), "utf8");
    const table = page.slice(page.indexOf("<!-- keys"), page.indexOf("<!-- end of keys -->"));
    const documented = [...table.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)].map(([, name, type]) => [name, sample(name as string, String(type).trim())] as const);
    assert.deepEqual(documented.map(([name]) => name), Object.keys(keys).filter((name) => !keys[name]!.old));
    const config = { ...Object.fromEntries(documented), configPath: undefined, mode: "local" };
    const { host, manifest } = await load(config);
    for (const name of Object.keys(config)) assert.ok(name in manifest.configSchema.properties, name);
    assert.deepEqual(host.warnings, []);
    const { host: other } = await load({ ...config, recalLimit: 3 });
    assert.deepEqual(other.warnings, ['warn skald: configuration: unknown key "recalLimit" (did you mean "recallLimit"?); ignored']);
  });

  test(`${id}: PLG-04 registering touches no file and starts nothing, in no mode; a real start works later`, async () => {
    const place = mkdtempSync(join(tmpdir(), "skald-ro-"));
    writeFileSync(join(place, "file"), ""); // what stands below a file can neither be made nor read, whoever runs the test
    const daemon = await new FakeDaemon().start();
    const config = { dataDir: join(place, "file", "data"), binary: "/bin/false", port: daemon.port };
    const before = process.getActiveResourcesInfo().sort();
    for (const mode of ["discovery", "tool-discovery", "cli-metadata", "setup-only", "full"]) {
      const { host } = await load(config, mode);
      assert.deepEqual(host.warnings, [], mode);
      assert.deepEqual([...host.hooks.keys()].sort(), ["before_reset", "gateway_stop", "model_call_started", "reply_payload_sending", "session_end", "session_start"]);
      assert.deepEqual(process.getActiveResourcesInfo().sort(), before, `${mode}: no timer, no socket, no child`);
      assert.equal(daemon.seen.length, 0, mode);
    }
    const { host } = await load(config, "full");
    const engine = await host.engine();
    await engine.assemble({ ...session, messages: [user("q")], prompt: "p" });
    assert.equal(daemon.named("assemble").length, 1);
    await daemon.stop();
  });
}

/** A value of a key's documented type: the first of those that are listed, else any of it. */
function sample(name: string, type: string): unknown {
  const any: Record<string, unknown> = { string: "x", boolean: true, number: Math.min(1000, keys[name]?.max ?? 1000), strings: ["x"], secret: "k", object: { a: "b" } };
  return type in any ? any[type] : type.split(",")[0];
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
