// Turns that go past the engine are noticed, told to the daemon, and said once per gap. PLG-06.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import type { ReplyResult } from "../src/host.js";
import plugin from "../src/index.js";
import { older } from "../src/slot.js";
import { anchor, FakeDaemon, FakeHost, freshProcess, session, until, user } from "./fakes.js";

let daemon: FakeDaemon;
beforeEach(async () => {
  freshProcess();
  daemon = await new FakeDaemon().start();
});
afterEach(() => daemon.stop());

function load(change?: (host: FakeHost) => void): FakeHost {
  const host = new FakeHost({ port: daemon.port, autoStart: false, dataDir: "/nonexistent/skald" });
  host.config = { plugins: { slots: { contextEngine: "skald" } } };
  change?.(host);
  plugin.register(host);
  return host;
}

const calls = (host: FakeHost, runId: string) => host.hooks.get("model_call_started")!({ ...session, runId }, {});
const reply = (host: FakeHost, runId: string, event: object = {}): string | undefined => {
  const sent = { kind: "final", runId, sessionKey: session.sessionKey, usageState: { agentId: "main" }, payload: { text: "answer" }, ...event };
  return (host.hooks.get("reply_payload_sending")!(sent, {}) as ReplyResult | undefined)?.payload.text;
};
const assemble = async (host: FakeHost) => (await host.engine()).assemble({ ...session, messages: [user("q")], prompt: "p" });
const events = () => daemon.named("event").filter((s) => s.body.event === "bypassed");

test("served turns: nothing is said, however many calls and replies a run has", async () => {
  const host = load();
  for (const run of ["r1", "r2"]) {
    await assemble(host);
    calls(host, run);
    calls(host, run);
    assert.equal(reply(host, run), undefined);
    assert.equal(reply(host, run), undefined);
  }
  assert.deepEqual(host.warnings, []);
  assert.equal(events().length, 0);
});

test("a gap is said once in the chat and once in the log, told to the daemon turn by turn, and said again after the next one", async () => {
  const host = load();
  await assemble(host);
  reply(host, "r1");
  calls(host, "r2");
  assert.match(reply(host, "r2") ?? "", /^answer\n\n\(Skald was not used for this answer: the host ran it without the engine.*\/skald status/);
  assert.equal(reply(host, "r3"), undefined);
  await until(() => events().length === 2);
  assert.equal(events()[0]?.body.session.session_key, session.sessionKey);
  assert.equal(host.warnings.length, 1);
  await host.commands.get("skald")!.handler({ ...session, args: "status" });
  assert.equal(daemon.named("command")[0]?.body.host.missed, 2);
  await assemble(host);
  assert.equal(reply(host, "r4"), undefined);
  assert.notEqual(reply(host, "r5"), undefined);
  assert.equal(host.warnings.length, 2);
});

test("a daemon that cannot be asked is the reason that is named", async () => {
  const host = load();
  daemon.answers.assemble = () => ({ status: 503, body: { error: { kind: "unavailable", message: "the disk is full" } } });
  await assemble(host);
  calls(host, "r1");
  assert.match(reply(host, "r1") ?? "", /not used for this answer: the disk is full\./);
});

test("a CLI backend's turn is handed over without an assemble: it is kept, and nothing is said", async () => {
  const host = load();
  for (const run of ["r1", "r2"]) {
    const engine = await host.engine();
    await engine.commitTurn({ ...session, advancementKey: run, admission: anchor(1), terminal: anchor(1), messages: [user("q")] });
    assert.equal(reply(host, run), undefined);
  }
  await assemble(host);
  calls(host, "r3");
  await (await host.engine()).commitTurn({ ...session, advancementKey: "r3", admission: anchor(1), terminal: anchor(1), messages: [user("q")] });
  assert.equal(reply(host, "r3"), undefined);
});

test("no word about commands' answers, passing notes, other engines' slots, bypassed and internal sessions", async () => {
  const host = load();
  for (const event of [{ usageState: undefined }, { kind: "block" }, { payload: {} }, { sessionKey: undefined }, { sessionKey: "agent:main:internal-session-effects:x" }]) {
    assert.equal(reply(host, `r${JSON.stringify(event)}`, event), undefined, JSON.stringify(event));
  }
  assert.equal(reply(load((h) => (h.config = { plugins: { slots: { contextEngine: "legacy" } } })), "r1"), undefined);
  assert.equal(reply(load((h) => (h.pluginConfig = { ...h.pluginConfig, bypassSessionPatterns: ["agent:**"] })), "r2"), undefined);
  assert.equal(events().length, 0);
});

test("PLG-06 status says that the engine is not in use, and why", async () => {
  const status = async (change: (host: FakeHost) => void) => {
    const host = load(change);
    const answer = await new Promise<any>((resolve) => void host.methods.get("skald.status")!({ params: {}, respond: (_ok, payload) => resolve(payload) }));
    await host.commands.get("skald")!.handler({ ...session, args: "status" });
    assert.equal(daemon.seen.at(-1)?.body.host.slot, answer.plugin.engine === "selected" ? "" : answer.plugin.engine);
    return answer.plugin.engine as string;
  };
  assert.equal(await status(() => {}), "selected");
  assert.match(await status((h) => (h.config = { plugins: { slots: { contextEngine: "lossless" } } })), /not active: plugins\.slots\.contextEngine is "lossless"/);
  assert.match(await status((h) => (h.config = undefined)), /not active/);
  assert.match(await status((h) => (h.registerContextEngine = undefined)), /no engine slot/);
});

test("PLG-06 on a host that does not hand turns over durably the engine does not own the compaction", async () => {
  const old = load((h) => (h.runtime = { version: "2026.7.9" }));
  const engine = await old.engine();
  assert.equal(engine.info.ownsCompaction, false);
  assert.match(old.warnings.join(), /OpenClaw 2026\.7\.9 is older than 2026\.8\.1/);
  assert.match((await engine.compact({ ...session, force: true })).reason ?? "", /the host did not compact it/);
  assert.equal(daemon.named("compact").length, 0, "compaction is the host's");
  for (const version of ["2026.8.1", "2026.9.6", "2027.1.0", "nightly", undefined]) {
    freshProcess();
    assert.equal((await (await load((h) => (h.runtime = { version })).engine()).info).ownsCompaction, true, version);
  }
  assert.deepEqual([older("2026.8.0", "2026.8.1"), older("2025.12.9", "2026.8.1"), older("2026.10.1", "2026.8.1")], [true, true, false]);
});
