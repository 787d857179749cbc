import assert from "node:assert/strict";
import { existsSync, chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import { parseConfig } from "../src/config.js";
import { findBinary } from "../src/binary.js";
import { daemonEnv } from "../src/daemon.js";
import plugin from "../src/index.js";
import { link } from "../src/process.js";
import { anchor, FakeHost, freshProcess, session, user } from "./fakes.js";

beforeEach(freshProcess);

async function freePort(): Promise<number> {
  const s = createServer();
  await new Promise<void>((resolve) => s.listen(0, "127.0.0.1", resolve));
  const { port } = s.address() as AddressInfo;
  await new Promise((resolve) => s.close(resolve));
  return port;
}

/** A program that behaves as `skald serve` does, as far as the plugin can see. */
function program(dir: string, body = serve): string {
  const path = join(dir, "skald");
  writeFileSync(path, `#!${process.execPath}\n${body}`);
  chmodSync(path, 0o755);
  return path;
}
const serve = `
const { createServer } = require("node:http"), fs = require("node:fs"), { join } = require("node:path");
const arg = (n) => process.argv[process.argv.indexOf(n) + 1];
fs.appendFileSync(join(arg("--data"), "starts"), JSON.stringify([process.argv.slice(2), Object.keys(process.env)]) + "\\n");
fs.writeFileSync(join(arg("--data"), "key"), "generated-key\\n");
const server = createServer((q, s) => {
  q.resume();
  if (!q.url.endsWith("handshake") && q.headers.authorization !== "Bearer generated-key") { s.writeHead(401); return s.end(); }
  s.end(JSON.stringify(q.url.endsWith("handshake") ? { name: "skald", version: "7", protocol: 1, min_protocol: 1, instance: "x", pid: process.pid } : { messages: [{ role: "user", content: "served" }], estimated_tokens: 1 }));
}).listen(Number(arg("--listen").split(":")[1]), "127.0.0.1");
process.on("SIGTERM", () => { fs.writeFileSync(join(arg("--data"), "drained"), "yes"); server.closeAllConnections(); server.close(); });
`;

test("the daemon is started once for all copies, its key is read, and the service stops it", async () => {
  const dir = mkdtempSync(join(tmpdir(), "skald-"));
  const dataDir = join(dir, "data");
  process.env.SECRET_OF_THE_HOST = "x";
  const host = new FakeHost({ port: await freePort(), dataDir, binary: program(dir) });
  plugin.register(host);
  plugin.register(host);
  const [a] = await Promise.all([host.engine(), host.engine(), host.services[0]!.start({ stateDir: "", logger: host.logger }), host.services[1]!.start({ stateDir: "", logger: host.logger })]);
  const result = await a.assemble({ ...session, messages: [user("q")] });
  assert.deepEqual(result.messages, [user("served")].map(({ role, content }) => ({ role, content })));
  const starts = readFileSync(join(dataDir, "starts"), "utf8").trim().split("\n").map((l) => JSON.parse(l));
  assert.equal(starts.length, 1);
  assert.deepEqual(starts[0][0].slice(0, 3), ["serve", "--data", dataDir]);
  assert.ok(!starts[0][1].includes("SECRET_OF_THE_HOST"), "the host's environment stays with the host");
  assert.equal(statSync(dataDir).mode & 0o777, 0o700);
  assert.ok(host.lines.some((l) => /started skald 7/.test(l)));
  await host.services[0]!.stop({ stateDir: "", logger: host.logger });
  assert.ok(!existsSync(join(dataDir, "drained")), "a reload that has started the next service keeps the daemon");
  await host.services[1]!.stop({ stateDir: "", logger: host.logger });
  assert.equal(readFileSync(join(dataDir, "drained"), "utf8"), "yes");
  link(address(host)).startedAt = 0; // long ago
  await (await host.engine()).bootstrap(session);
  assert.equal(readFileSync(join(dataDir, "starts"), "utf8").trim().split("\n").length, 1, "a late call leaves no daemon behind");
});

const address = (host: FakeHost) => `http://127.0.0.1:${host.pluginConfig?.port}`;

test("a daemon that was killed is started again within a call", async () => {
  const dir = mkdtempSync(join(tmpdir(), "skald-"));
  const dataDir = join(dir, "data");
  const host = new FakeHost({ port: await freePort(), dataDir, binary: program(dir) });
  plugin.register(host);
  const engine = await host.engine();
  const state = link(address(host));
  const gone = new Promise((resolve) => state.child?.once("exit", resolve));
  state.child?.ref();
  state.child?.kill("SIGKILL");
  await gone;
  state.startedAt = 0; // long ago
  const turn = { ...session, advancementKey: "k", admission: anchor(1), terminal: anchor(1), messages: [user("q")] };
  await assert.rejects(engine.commitTurn(turn), /did not acknowledge/, "the stand-in was reached again");
  await host.services[0]!.stop({ stateDir: "", logger: host.logger });
});

test("no binary: one clear warning with the fix, and the engine degrades", async () => {
  const saved = { PATH: process.env.PATH, SKALD_BIN: process.env.SKALD_BIN };
  process.env.PATH = "/nonexistent";
  delete process.env.SKALD_BIN;
  try {
    const host = new FakeHost({ port: await freePort(), dataDir: join(tmpdir(), "skald-none") });
    plugin.register(host);
    const engine = await host.engine();
    assert.deepEqual((await engine.assemble({ ...session, messages: [user("q")] })).messages, [user("q")]);
    await engine.bootstrap(session);
    const about = host.warnings.filter((w) => w.includes("no skald binary found"));
    assert.equal(about.length, 1);
    assert.match(about.join(), /SKALD_BIN/);
  } finally {
    Object.assign(process.env, saved);
    if (saved.SKALD_BIN === undefined) delete process.env.SKALD_BIN;
  }
});

test("a daemon that dies at once is reported with its code and log, and not started again at every turn", async () => {
  const dir = mkdtempSync(join(tmpdir(), "skald-"));
  const host = new FakeHost({ port: await freePort(), dataDir: join(dir, "data"), binary: program(dir, 'console.error("no space"); process.exit(3);') });
  plugin.register(host);
  const begun = Date.now();
  await host.engine();
  await host.engine();
  await host.engine();
  assert.ok(Date.now() - begun < 5000);
  assert.match(host.warnings.join(), /code 3.*daemon\.log/);
  assert.match(readFileSync(join(dir, "data", "daemon.log"), "utf8"), /no space/);
});

test("where the binary is looked for", () => {
  const dir = mkdtempSync(join(tmpdir(), "skald-"));
  const path = program(dir);
  const config = parseConfig({}, {});
  assert.equal(findBinary({ ...config, binary: path }), path);
  assert.equal(findBinary({ ...config, binary: join(dir, "none") }, undefined, { PATH: dir }), undefined, "a named one that is missing is not replaced");
  assert.equal(findBinary(config, undefined, { SKALD_BIN: path }), path);
  assert.equal(findBinary(config, undefined, { PATH: `/nonexistent:${dir}` }), path);
  assert.equal(findBinary(config, join(dir, "x"), { PATH: "" }), undefined);
});

test("the platform's npm package is found beside the plugin's, above it and through links", () => {
  const top = mkdtempSync(join(tmpdir(), "skald-"));
  const plugin = join(top, "node_modules", "skald-openclaw");
  const platform = join(top, "node_modules", `skald-openclaw-${process.platform}-${process.arch}`, "node_modules", ".skald");
  mkdirSync(join(plugin, "bin"), { recursive: true });
  const own = program(join(plugin, "bin"));
  const config = parseConfig({}, {});
  assert.equal(findBinary(config, plugin, { PATH: "" }), own, "the plugin's own folder when there is no package");
  mkdirSync(platform, { recursive: true });
  const packaged = program(platform);
  assert.equal(findBinary(config, plugin, { PATH: top }), packaged);
  const link = join(mkdtempSync(join(tmpdir(), "skald-")), "link");
  symlinkSync(plugin, link);
  assert.equal(findBinary(config, link, { PATH: "" }), realpathSync(packaged));
  assert.equal(findBinary(config, plugin, { SKALD_BIN: own }), own, "what is named comes first");
});

test("the daemon's environment holds no provider keys", () => {
  const env = daemonEnv({ PATH: "/bin", HOME: "/h", SKALD_MODEL_KEY: "m", OPENAI_API_KEY: "o", OPENCLAW_GATEWAY_TOKEN: "t", HTTPS_PROXY: "p", LC_ALL: "C" });
  assert.deepEqual(Object.keys(env).sort(), ["HOME", "HTTPS_PROXY", "LC_ALL", "PATH", "SKALD_MODEL_KEY"]);
});
