// /skald in the chat, and what of it must not become conversation.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { Client } from "../src/client.js";
import { withoutCommands } from "../src/command.js";
import { parseConfig } from "../src/config.js";
import { SkaldEngine } from "../src/engine.js";
import plugin from "../src/index.js";
import { assistant, FakeDaemon, FakeHost, freshProcess, session, user } from "./fakes.js";

let daemon: FakeDaemon;
beforeEach(async () => {
  freshProcess();
  daemon = await new FakeDaemon().start();
});
afterEach(() => daemon.stop());

function load(config: Record<string, unknown> = {}): FakeHost {
  const host = new FakeHost({ port: daemon.port, autoStart: false, dataDir: "/nonexistent/skald", ...config });
  host.runtime = { version: "2026.9.6" };
  host.config = { plugins: { slots: { contextEngine: "skald" } } };
  plugin.register(host);
  return host;
}

const say = async (host: FakeHost, args?: string, ctx: object = {}) => (await host.commands.get("skald")!.handler({ ...session, ...ctx, args })).text;

test("the line goes to the daemon with session, settings and what the host knows", async () => {
  const host = load({ recallLimit: 3 });
  assert.equal(await say(host, " why  "), "answer to why");
  const { body } = daemon.named("command")[0]!;
  assert.equal(body.line, "why");
  assert.equal(body.session.session_key, session.sessionKey);
  assert.equal(body.settings.recallLimit, 3);
  assert.deepEqual(body.host, { name: "OpenClaw 2026.9.6", plugin: "0.0.0", protocol: 1, slot: "", missed: 0, reason: "" });
  const { requireAuth, requiredScopes, acceptsArgs } = host.commands.get("skald")!;
  assert.deepEqual([requireAuth, requiredScopes, acceptsArgs], [true, ["operator.read"], true]);
});

test("who is the owner: the host says so, or the gateway's client has admin rights", async () => {
  const host = load();
  for (const ctx of [{ senderIsOwner: true }, { gatewayClientScopes: ["operator.admin"] }, { senderIsOwner: false }, { gatewayClientScopes: ["operator.read"] }, {}]) await say(host, "forget x", ctx);
  assert.deepEqual(daemon.named("command").map((s) => s.body.owner), [true, true, false, false, false]);
});

test("daemon down, session bypassed: a clear answer, nothing sent", async () => {
  assert.match(await say(load({ bypassSessionPatterns: ["agent:*:g1"] }), "status"), /leaves this session alone/);
  await daemon.stop();
  assert.match(await say(load(), "status"), /^\/skald did not work: no skald daemon at .*goes on with OpenClaw's own history\.$/);
  await daemon.start();
});

const typed = (text: string) => user(text);
const injected = (text: string) => ({ ...assistant(text), provider: "openclaw", model: "gateway-injected" });

test("commands and their answers are no conversation; a line that a model answered is", () => {
  const talk = [user("q"), assistant("a"), typed("/skald why"), injected("because"), user("/skaldic poems?"), assistant("b")];
  const kept = withoutCommands(talk, (m) => m);
  assert.deepEqual(kept, [talk[0], talk[1], talk[4], talk[5]]);
  const http = [typed("/skald status"), assistant("I do not know that command")];
  assert.deepEqual(withoutCommands(http, (m) => m), http);
  const other = [typed("/status"), injected("fine")];
  assert.deepEqual(withoutCommands(other, (m) => m), other, "other commands are the host's business");
  assert.deepEqual(withoutCommands([user("q"), { role: "user", content: [{ type: "text", text: " /Skald" }] }], (m) => m).length, 1, "its answer is not there yet");
  for (const typed of ["/ov-import /a --wait", "/ADD-SKILL x", '/ov-search "q"', "/ov-recall-trace"]) {
    const line = { role: "user", content: [{ type: "text", text: typed }] };
    assert.deepEqual(withoutCommands([line], (m) => m), [], typed);
  }
  assert.equal(withoutCommands([{ role: "user", content: "/ov-importer" }], (m) => m).length, 1);
  assert.deepEqual(withoutCommands([null, 3], (m) => m).length, 2);
});

test("neither the import nor assemble's tail carries them", async () => {
  const list = [user("q"), assistant("a"), typed("/skald"), injected("help")];
  const client = new Client(parseConfig({ port: daemon.port, autoStart: false }, {}), new FakeHost().logger, async () => {});
  const entries = list.map((message, i) => ({ entryId: `e${i}`, seq: i + 1, message }));
  const engine = new SkaldEngine(client, async () => async () => ({ kind: "page", cursor: "c", hasMore: false, entries }));
  await engine.bootstrap(session);
  assert.deepEqual(daemon.named("reconcile")[0]?.body.entries.map((e: { entry_id: string }) => e.entry_id), ["e0", "e1"]);
  await engine.assemble({ ...session, messages: list, prompt: "p", runtimeSettings: { model: { provider: "lab" } } });
  const { body } = daemon.named("assemble")[0]!;
  assert.deepEqual(body.tail, list.slice(0, 2));
  assert.equal(body.message_count, 4);
  assert.equal(body.provider, "lab");
});
