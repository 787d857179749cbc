// `mode: remote` with the address of an OpenViking server.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import { parseConfig } from "../src/config.js";
import plugin from "../src/index.js";
import { behind } from "../src/store.js";
import { FakeHost, freshProcess, session, user } from "./fakes.js";

beforeEach(freshProcess);

async function freePort(): Promise<number> {
  const s = createServer();
  await new Promise<void>((resolve) => s.listen(0, "127.0.0.1", resolve));
  const { port } = s.address() as AddressInfo;
  await new Promise((resolve) => s.close(resolve));
  return port;
}

/** A server that answers /health as given, and 404 to everything else. It remembers which headers came. */
async function server(health: object): Promise<{ url: string; seen: http.IncomingMessage[]; stop: () => Promise<void> }> {
  const seen: http.IncomingMessage[] = [];
  const s = http.createServer((q, r) => {
    seen.push(q);
    r.writeHead(q.url === "/health" ? 200 : 404);
    r.end(JSON.stringify(q.url === "/health" ? health : { status: "error", error: { code: "NOT_FOUND", message: "Not Found" } }));
  });
  await new Promise<void>((resolve) => s.listen(0, "127.0.0.1", resolve));
  const stop = () => new Promise<void>((resolve) => (s.closeAllConnections(), s.close(() => resolve())));
  return { url: `http://127.0.0.1:${(s.address() as AddressInfo).port}`, seen, stop };
}

/** A program that behaves as `skald serve` does, and notes how it was called. */
function program(dir: string): string {
  const path = join(dir, "skald");
  writeFileSync(path, `#!${process.execPath}
const { createServer } = require("node:http"), fs = require("node:fs"), { join } = require("node:path");
const arg = (n) => process.argv[process.argv.indexOf(n) + 1];
fs.writeFileSync(join(arg("--data"), "call"), JSON.stringify({ args: process.argv.slice(2), key: process.env.SKALD_STORE_KEY, account: process.env.SKALD_STORE_ACCOUNT }));
fs.writeFileSync(join(arg("--data"), "key"), "local-key");
const server = createServer((q, s) => {
  q.resume();
  if (!q.url.endsWith("handshake") && (q.headers.authorization !== "Bearer local-key" || q.headers["x-openviking-account"])) { s.writeHead(401); return s.end(); }
  s.end(JSON.stringify(q.url.endsWith("handshake") ? { name: "skald", version: "7", protocol: 1, min_protocol: 1, instance: "x", pid: process.pid } : { messages: [{ role: "user", content: "served" }], estimated_tokens: 1 }));
}).listen(Number(arg("--listen").split(":")[1]), "127.0.0.1");
process.on("SIGTERM", () => { server.closeAllConnections(); server.close(); });
`);
  chmodSync(path, 0o755);
  return path;
}

const healthy = { status: "ok", healthy: true, version: "0.5.2", auth_mode: "api_key" };

test("a daemon of this machine is started in front of an OpenViking server, gets its key, and serves the turns; also when the server is away later", async () => {
  const ov = await server(healthy);
  const dir = mkdtempSync(join(tmpdir(), "skald-"));
  const config = { mode: "remote", baseUrl: ov.url, apiKey: "ov-user-key", accountId: "acme", dataDir: dir, port: await freePort(), binary: program(dir) };
  const use = async () => {
    const host = new FakeHost(config);
    plugin.register(host);
    const [service] = host.services;
    await service!.start({ stateDir: "", logger: host.logger });
    const result = await (await host.engine()).assemble({ ...session, messages: [user("q")] });
    assert.equal(result.messages[0].content, "served", host.lines.join("\n"));
    const status = await new Promise<any>((resolve) => void host.methods.get("skald.status")!({ params: {}, respond: (_ok, payload) => resolve(payload) }));
    assert.equal(status.plugin.store, ov.url);
    await service!.stop({ stateDir: "", logger: host.logger });
  };
  await use();
  const [folder] = readdirSync(dir).filter((n) => n.startsWith("openviking-"));
  const call = JSON.parse(readFileSync(join(dir, folder!, "call"), "utf8"));
  assert.deepEqual(call.args, ["serve", "--data", join(dir, folder!), "--listen", `127.0.0.1:${config.port}`, "--store", "openviking", "--store-url", ov.url]);
  assert.deepEqual([call.key, call.account], ["ov-user-key", "acme"]);
  assert.ok(ov.seen.length > 0 && ov.seen.every((q) => !q.headers.authorization && !q.headers["x-api-key"]), "the key goes to no one before it is known who answers");
  await ov.stop();
  freshProcess();
  await use();
});

test("what is no OpenViking server is left alone", async () => {
  for (const health of [{ status: "ok" }, { healthy: true }, { healthy: true, auth_mode: 1, version: "1" }]) {
    freshProcess();
    const other = await server(health);
    const dir = mkdtempSync(join(tmpdir(), "skald-"));
    const host = new FakeHost({ baseUrl: other.url, apiKey: "k", dataDir: dir, binary: program(dir) });
    plugin.register(host);
    await host.engine();
    assert.match(host.warnings.join(), /another program answers/);
    assert.deepEqual(readdirSync(dir), ["skald"]);
    await other.stop();
  }
});

test("one data folder for each server, and a port that the server does not have", () => {
  const made = (given: object) => {
    const config = parseConfig({ mode: "remote", dataDir: "/d", ...given }, {});
    behind(config);
    return config;
  };
  const [a, b] = [made({ baseUrl: "http://127.0.0.1:1933" }), made({ baseUrl: "https://ov.example.org" })];
  assert.equal(a.baseUrl, "http://127.0.0.1:1934");
  assert.notEqual(a.dataDir, b.dataDir);
  assert.equal(made({ baseUrl: "http://localhost:1934" }).port, 1935);
  assert.equal(made({ baseUrl: "https://ov.example.org:1934" }).port, 1934);
  assert.equal(made({ baseUrl: "https://ov.example.org", port: 2000 }).port, 2000);
  assert.ok(!existsSync("/d"));
});
