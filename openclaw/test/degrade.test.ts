import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { ownMessages } from "../src/degrade.js";
import plugin from "../src/index.js";
import { anchor, assistant, FakeDaemon, FakeHost, freshProcess, session, user } from "./fakes.js";

let daemon: FakeDaemon;
beforeEach(async () => {
  freshProcess();
  daemon = await new FakeDaemon().start();
});
afterEach(() => daemon.stop());

function load(config: Record<string, unknown> = {}): FakeHost {
  const host = new FakeHost({ port: daemon.port, autoStart: false, dataDir: "/nonexistent/skald", ...config });
  plugin.register(host);
  return host;
}

test("daemon down: everything degrades, one warning", async () => {
  await daemon.stop();
  const host = load();
  const engine = await host.engine();
  const messages = [user("q1"), assistant("a1")];
  const result = await engine.assemble({ ...session, messages, prompt: "q2" });
  assert.deepEqual(result.messages, messages);
  assert.ok(result.estimatedTokens > 0);
  assert.deepEqual((await engine.assemble({ ...session, messages })).messages, messages);
  assert.equal((await engine.bootstrap(session)).bootstrapped, false);
  const compacted = await engine.compact({ ...session, force: true });
  assert.equal(compacted.ok, false);
  assert.equal(compacted.compacted, false);
  assert.match(compacted.reason ?? "", /no skald daemon at/);
  assert.deepEqual(await engine.ingest({ ...session, message: user("x") }), { ingested: false });
  await engine.afterTurn({ ...session, messages, prePromptMessageCount: 1 });
  assert.equal(await engine.prepareSubagentSpawn({ parentSessionKey: "a", childSessionKey: "b" }), undefined);
  await engine.onSubagentEnded({ childSessionKey: "b", reason: "swept" });
  assert.equal(host.warnings.filter((w) => w.includes("goes on with the host's own messages")).length, 1);
  await (await host.engine()).assemble({ ...session, messages });
  assert.equal(host.warnings.length, 1, "once, not for every call and every turn");
  await daemon.start();
});

test("a daemon that comes back is used again, and its next failure is reported again", async () => {
  const port = daemon.port;
  const host = load();
  await daemon.stop();
  await (await host.engine()).assemble({ ...session, messages: [] });
  daemon = await new FakeDaemon().start(port);
  daemon.answers.assemble = () => ({ body: { messages: [user("from skald")], estimated_tokens: 1 } });
  const result = await (await host.engine()).assemble({ ...session, messages: [] });
  assert.deepEqual(result.messages, [user("from skald")]);
  assert.ok(host.lines.some((l) => l.startsWith("info skald: connected")));
});

test("a daemon that went after its hello and came back is found within the same call", async () => {
  const host = load();
  const engine = await host.engine();
  const port = daemon.port;
  await daemon.stop();
  daemon = await new FakeDaemon().start(port);
  assert.equal((await engine.bootstrap(session)).bootstrapped, true);
  await daemon.stop();
  const turn = engine.commitTurn({ ...session, advancementKey: "k", admission: anchor(1), terminal: anchor(1), messages: [user("q")] });
  await assert.rejects(turn, /no skald daemon/);
  assert.equal(host.warnings.length, 1);
  daemon = await new FakeDaemon().start(port);
});

test("a slow daemon: assemble gives up in time", async () => {
  daemon.answers.assemble = () => ({ body: {}, delayMs: 6000 });
  const engine = await load().engine();
  const begun = Date.now();
  const result = await engine.assemble({ ...session, messages: [user("q")] });
  const took = Date.now() - begun;
  assert.ok(took >= 1900 && took < 3000, `${took} ms`);
  assert.deepEqual(result.messages, [user("q")]);
});

test("a daemon that says nothing at all costs its time once, not at every call", async () => {
  daemon.answers.handshake = () => ({ body: {}, delayMs: 20_000 });
  const engine = await load().engine();
  const begun = Date.now();
  await engine.assemble({ ...session, messages: [user("q")] });
  await engine.bootstrap(session);
  assert.ok(Date.now() - begun < 1000);
});

test("errors of the daemon and nonsense degrade; budget_too_small too", async () => {
  const answers = [
    { status: 422, body: { error: { kind: "budget_too_small", message: "below the minimum" } } },
    { status: 200, raw: "not json" },
    { status: 200, body: { messages: null, estimated_tokens: 1 } },
    { status: 500, raw: "" },
    { status: 404, raw: "404 page not found" },
  ];
  for (const answer of answers) {
    daemon.answers.assemble = () => answer;
    const host = load();
    const result = await (await host.engine()).assemble({ ...session, messages: [user("q")] });
    assert.deepEqual(result.messages, [user("q")], JSON.stringify(answer));
  }
});

test("another program on the port is not taken for a daemon, and gets no key", async () => {
  daemon.answers.handshake = () => ({ status: 200, body: { status: "ok" } });
  const host = load({ apiKey: "k-secret", autoStart: true });
  const result = await (await host.engine()).assemble({ ...session, messages: [user("q")] });
  assert.deepEqual(result.messages, [user("q")]);
  assert.match(host.warnings.join(), /another program answers/);
  assert.ok(daemon.seen.every((s) => s.name === "handshake" && s.headers.authorization === undefined));
});

test("ASM-04: a completed reply stays, a blank one at the end goes", () => {
  assert.deepEqual(ownMessages([user("q1"), assistant("a1")]).messages, [user("q1"), assistant("a1")]);
  const blank = { role: "assistant", content: "" };
  assert.deepEqual(ownMessages([user("q1"), blank]).messages, [user("q1")]);
  assert.deepEqual(ownMessages([user("q1"), { role: "assistant", content: [{ type: "text", text: " " }] }]).messages, [user("q1")]);
  const call = { role: "assistant", content: [{ type: "toolCall", id: "c", name: "t", arguments: {} }] };
  assert.deepEqual(ownMessages([user("q1"), call]).messages, [user("q1"), call]);
});

test("the host's own messages yield by whole exchanges when they exceed the budget", () => {
  const long = "x".repeat(4000); // about 1000 tokens
  const list = [user(long), assistant(long), user("q2"), assistant("a2"), user("q3"), assistant("a3")];
  const result = ownMessages(list, 500);
  assert.deepEqual(result.messages, list.slice(2));
  assert.ok(result.estimatedTokens <= 500);
  assert.deepEqual(ownMessages([user(long), assistant(long)], 10).messages.length, 2, "the last exchange stays");
});
