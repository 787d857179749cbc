// Tools, hooks, status, bypass, the fallback for hosts without the slot, and the import of the transcript.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { SkaldEngine } from "../src/engine.js";
import { Client } from "../src/client.js";
import { parseConfig } from "../src/config.js";
import type { ReadTranscript, TranscriptPage } from "../src/host.js";
import plugin from "../src/index.js";
import { anchor, assistant, FakeDaemon, FakeHost, freshProcess, session, until, user } from "./fakes.js";

let daemon: FakeDaemon;
beforeEach(async () => {
  freshProcess();
  daemon = await new FakeDaemon().start();
});
afterEach(() => daemon.stop());

function load(config: Record<string, unknown> = {}, change?: (host: FakeHost) => void): FakeHost {
  const host = new FakeHost({ port: daemon.port, autoStart: false, dataDir: "/nonexistent/skald", ...config });
  change?.(host);
  plugin.register(host);
  return host;
}

const tool = (host: FakeHost, name: string, ctx: object = session) => host.tools.get(name)!({ ...ctx });

test("a tool posts its call with the session of its context", async () => {
  const host = load({ agent_prefix: "t", accountId: "acc", userId: "usr" });
  const result = await tool(host, "memory_recall").execute("call_1", { query: "blue", limit: 3 });
  assert.deepEqual(result, { content: [{ type: "text", text: "result of memory_recall" }], details: { n: 1 } });
  const { body, headers } = daemon.named("tool")[0]!;
  assert.equal(body.tool, "memory_recall");
  assert.deepEqual(body.args, { query: "blue", limit: 3 });
  assert.equal(body.tool_call_id, "call_1");
  assert.equal(body.session.session_key, session.sessionKey);
  assert.equal(headers["x-openviking-agent"], "t_main");
  assert.equal(headers["x-openviking-account"], "acc");
  assert.equal(headers["x-openviking-user"], "usr");
});

test("memory_expand and ov_archive_expand accept both spellings", async () => {
  const host = load({ tools: "all" });
  await tool(host, "memory_expand").execute("c", { summaryOrMemoryUri: "viking://a", query: "q" });
  await tool(host, "ov_archive_expand").execute("c", { archiveId: "archive_001" });
  assert.deepEqual(daemon.named("tool").map((s) => s.body.args), [{ uri: "viking://a", query: "q" }, { archive: "archive_001" }]);
});

test("a failing tool says what happened and never throws", async () => {
  const host = load();
  daemon.answers.tool = () => ({ status: 404, body: { error: { kind: "not_found", message: "no such memory", field: "uri" } } });
  const missing = await tool(host, "memory_forget").execute("c", { uri: "viking://x" });
  assert.equal(missing.content[0]?.text, "memory_forget did not work: no such memory (uri)");
  daemon.answers.tool = () => ({ body: { text: "text is empty", is_error: true } });
  assert.deepEqual(await tool(host, "memory_store").execute("c", {}), { content: [{ type: "text", text: "text is empty" }], details: { isError: true } });
  await daemon.stop();
  freshProcess();
  const down = await tool(load(), "memory_recall").execute("c", { query: "q" });
  assert.match(down.content[0]?.text ?? "", /memory_recall did not work: no skald daemon/);
  await daemon.start();
});

test("disabledTools and enabledTools are obeyed by name and group", () => {
  assert.ok(!load({ disabledTools: ["memory_forget"] }).tools.has("memory_forget"));
  assert.deepEqual([...load({ enabledTools: ["memory_recall"] }).tools.keys()], ["memory_recall"]);
  assert.equal(load({ disabledTools: "memory" }).tools.size, 0);
});

test("hooks post events and wait for nobody", async () => {
  const host = load();
  host.hooks.get("session_start")!({ ...session }, { agentId: "main" });
  host.hooks.get("before_reset")!({ reason: "new", messages: [user("TEXT")] }, { ...session, agentId: "main" });
  host.hooks.get("session_end")!({ ...session, reason: "new" }, {});
  host.hooks.get("gateway_stop")!({ reason: "stop" }, {});
  await until(() => daemon.named("event").length === 4);
  const events = daemon.named("event").map((s) => s.body);
  assert.deepEqual(events.map((e) => e.event).sort(), ["before_reset", "gateway_stop", "session_end", "session_start"]);
  const reset = events.find((e) => e.event === "before_reset");
  assert.equal(reset.reason, "new");
  assert.equal(reset.session.session_key, session.sessionKey);
  assert.deepEqual(events.find((e) => e.event === "gateway_stop").session, {});
  assert.ok(!daemon.named("event").some((s) => s.text.includes("TEXT")));
});

test("skald.status answers with daemon and plugin health, daemon up or down", async () => {
  const host = load({ recalLimit: 1 });
  const ask = () => new Promise<any>((resolve) => void host.methods.get("skald.status")!({ params: {}, respond: (_ok, payload) => resolve(payload) }));
  const up = await ask();
  assert.equal(up.ok, true);
  assert.equal(up.daemon.version, "1.2.3");
  assert.match(up.plugin.engine, /not active: plugins\.slots\.contextEngine is "legacy"/);
  assert.match(JSON.stringify(up.plugin), /recalLimit/);
  await daemon.stop();
  freshProcess();
  const down = await ask();
  assert.equal(down.ok, false);
  assert.match(down.daemon.error, /no skald daemon/);
  await daemon.start();
});

test("a bypassed session is left alone: nothing is sent", async () => {
  const host = load({ bypassSessionPatterns: ["agent:*:g1"] });
  const engine = await host.engine();
  const messages = [user("q"), assistant("a")];
  assert.deepEqual((await engine.assemble({ ...session, messages, tokenBudget: 1000 })).messages, messages);
  assert.deepEqual(await engine.commitTurn({ ...session, advancementKey: "k", admission: anchor(1), terminal: anchor(1), messages }), { status: "committed" });
  await engine.bootstrap(session);
  await engine.afterTurn({ ...session, messages, prePromptMessageCount: 0 });
  await engine.ingestBatch({ ...session, messages });
  assert.equal((await engine.compact(session)).compacted, false);
  assert.equal(await engine.prepareSubagentSpawn({ parentSessionKey: session.sessionKey, childSessionKey: "c" }), undefined);
  assert.match((await tool(host, "memory_recall").execute("c", { query: "q" })).content[0]?.text ?? "", /switched off/);
  host.hooks.get("session_end")!(session, {});
  assert.deepEqual(daemon.seen.map((s) => s.name), ["handshake"]);
  const other = { ...session, sessionKey: "agent:main:internal-session-effects:abc" };
  await engine.commitTurn({ ...other, advancementKey: "k", admission: anchor(1), terminal: anchor(1), messages });
  assert.equal(daemon.named("commit_turn").length, 1, "internal sessions go to the daemon as they are");
});

test("autoCapture off is the daemon's to obey", async () => {
  const engine = await load({ autoCapture: false }).engine();
  await engine.commitTurn({ ...session, advancementKey: "k", admission: anchor(1), terminal: anchor(1), messages: [user("q")] });
  assert.equal(daemon.named("commit_turn")[0]?.body.settings.autoCapture, false);
});

test("a host without the slot: recall before the prompt, capture after the turn", async () => {
  daemon.answers.tool = () => ({ body: { text: `fact </relevant-memories> ${"y".repeat(2000)}` } });
  const host = load({ recallTokenBudget: 100 }, (h) => (h.registerContextEngine = undefined));
  const result = (await host.hooks.get("before_prompt_build")!({ prompt: "what colour?" }, session)) as { prependContext: string };
  assert.match(result.prependContext, /^<relevant-memories>\n/);
  assert.match(result.prependContext, /<\/relevant-memories>$/);
  assert.equal(result.prependContext.split("</relevant-memories>").length, 2, "nothing inside can close it");
  assert.ok(result.prependContext.length < 100 * 4 + 200);
  assert.deepEqual(daemon.named("tool")[0]?.body.args, { query: "what colour?" });
  assert.equal(await host.hooks.get("before_prompt_build")!({ prompt: " " }, session), undefined);
  await host.hooks.get("agent_end")!({ messages: [user("old"), assistant("x"), user("new"), assistant("y")] }, session);
  assert.deepEqual(daemon.named("ingest")[0]?.body.messages, [user("new"), assistant("y")]);
  const quiet = load({ autoRecall: false }, (h) => (h.registerContextEngine = undefined));
  assert.equal(await quiet.hooks.get("before_prompt_build")!({ prompt: "q" }, session), undefined);
  assert.ok(!load().hooks.has("before_prompt_build"), "never beside the engine");
});

/** A transcript of n entries, read two at a time; the cursor is the number read. */
function transcript(n: number, special: Record<string, TranscriptPage> = {}) {
  const calls: Parameters<ReadTranscript>[0][] = [];
  const read: ReadTranscript = async (params) => {
    calls.push(params);
    const page = special[params.cursor ?? ""];
    if (page && !(page.kind === "page" && params.maxBytes)) return page;
    const at = Number(params.cursor ?? 0);
    const entries = Array.from({ length: Math.min(2, n - at) }, (_, i) => ({ entryId: `e${at + i}`, seq: at + i + 1, message: user(`m${at + i}`) }));
    return { kind: "page", cursor: String(at + entries.length), hasMore: at + entries.length < n, entries };
  };
  return { read, calls };
}

function importing(read?: ReadTranscript): SkaldEngine {
  const config = parseConfig({ port: daemon.port, autoStart: false }, {});
  return new SkaldEngine(new Client(config, new FakeHost().logger, async () => {}), async () => read);
}

test("bootstrap imports page by page, each with the cursor after it", async () => {
  const { read, calls } = transcript(5);
  const result = await importing(read).bootstrap({ ...session, sessionTarget: { agentId: "main", storePath: "/s" } });
  assert.deepEqual(result, { bootstrapped: true, importedMessages: 5 });
  const sent = daemon.named("reconcile").map((s) => s.body);
  assert.deepEqual(sent.map((b) => b.cursor), ["2", "4", "5"]);
  assert.deepEqual(sent.map((b) => b.reset), [true, false, false]);
  assert.deepEqual(sent[0].entries[0], { entry_id: "e0", position: 0, message: user("m0") });
  assert.equal(calls[0]?.storePath, "/s");
  assert.equal(calls[0]?.agentId, "main");
});

test("bootstrap resumes from the daemon's cursor and sends nothing when nothing is new", async () => {
  daemon.answers.bootstrap = () => ({ body: { session_id: "s", last_seq: 5, cursor: "5" } });
  const { read, calls } = transcript(5);
  await importing(read).bootstrap(session);
  assert.equal(calls[0]?.cursor, "5");
  assert.equal(daemon.named("reconcile").length, 0);
});

test("a long transcript: three pages before the turn, the rest behind it, and commitTurn comes after", async () => {
  const { read } = transcript(20);
  const engine = importing(read);
  daemon.answers.reconcile = (b) => ({ body: { imported: b.entries.length, known: 0 }, delayMs: 20 });
  await engine.bootstrap(session);
  assert.ok(daemon.named("reconcile").length < 10);
  await engine.commitTurn({ ...session, advancementKey: "k", admission: anchor(20), terminal: anchor(20), messages: [user("q")] });
  const names = daemon.seen.map((s) => s.name);
  assert.equal(names.filter((n) => n === "reconcile").length, 10);
  assert.equal(names.at(-1), "commit_turn");
  await engine.dispose();
});

test("dispose stops a long import; the next one goes on", async () => {
  const { read } = transcript(2000);
  const engine = importing(read);
  await engine.bootstrap(session);
  await engine.dispose();
  const sent = daemon.named("reconcile").length;
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(daemon.named("reconcile").length, sent);
});

test("reset, unavailable, missing, an oversized entry, an older host, a throwing cursor", async () => {
  daemon.answers.bootstrap = () => ({ body: { session_id: "s", last_seq: 5, cursor: "old" } });
  await importing(transcript(2, { old: { kind: "reset", cursor: "0" } }).read).bootstrap(session);
  assert.deepEqual(daemon.named("reconcile").map((s) => [s.body.reset, s.body.cursor]), [[true, "2"]]);
  for (const page of [{ kind: "unavailable" }, { kind: "missing" }] as TranscriptPage[]) {
    assert.equal((await importing(transcript(2, { old: page }).read).bootstrap(session)).bootstrapped, true);
  }
  assert.equal(daemon.named("reconcile").length, 1);
  daemon.answers.bootstrap = () => ({ body: { session_id: "s", last_seq: 0, cursor: "0" } });
  const big = transcript(2, { "0": { kind: "page", cursor: "0", hasMore: true, entries: [], requiredBytes: 5_000_000 } });
  await importing(big.read).bootstrap(session);
  assert.equal(big.calls[1]?.maxBytes, 5_000_000);
  assert.equal(daemon.named("reconcile").length, 2);
  assert.equal((await importing(undefined).bootstrap(session)).bootstrapped, true);
  const throwing: ReadTranscript = async () => {
    throw new Error("fence");
  };
  assert.deepEqual(await importing(throwing).bootstrap(session), { bootstrapped: true, importedMessages: 0 });
});

test("a slow import does not hold up bootstrap beyond its deadline", async () => {
  daemon.answers.reconcile = () => ({ body: { imported: 1 }, delayMs: 5000 });
  const begun = Date.now();
  const engine = importing(transcript(4).read);
  await engine.bootstrap(session);
  assert.ok(Date.now() - begun < 2600);
});
