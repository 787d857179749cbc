import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import plugin from "../src/index.js";
import { anchor, assistant, FakeDaemon, FakeHost, freshProcess, session, user } from "./fakes.js";

let daemon: FakeDaemon;
beforeEach(async () => {
  freshProcess();
  daemon = await new FakeDaemon().start();
});
afterEach(() => daemon.stop());

function load(config: Record<string, unknown> = {}): FakeHost {
  const host = new FakeHost({ port: daemon.port, apiKey: "k-secret", autoStart: false, ...config });
  plugin.register(host);
  return host;
}

// Everything that JSON can carry and careless code changes.
const odd = {
  role: "user",
  content: 'NUL \u0000, lone \ud800, "quotes", \u2028, 1e21',
  timestamp: 1796040246861,
  numbers: [1e21, 0.1, -0, 1e-7, 9007199254740991],
  nested: { b: 1, a: null, "": [] },
  __openclaw: { senderIsOwner: true },
};

test("the engine declares what the host needs, and asks for no runtimeContext", async () => {
  const { info } = await load().engine();
  assert.equal(info.id, "skald");
  assert.equal(info.ownsCompaction, true);
  assert.deepEqual(info.transcriptSemantics, { currentTurnFence: "before-current-turn-entry-v1", turnAdvancementIdempotency: "atomic-idempotent-v1" });
  assert.deepEqual(info.acceptedHostParams, ["sessionKey", "prompt", "sessionTarget", "abortSignal", "runtimeSettings"]);
  const person = await load({ peer_role: "person" }).engine();
  assert.ok(person.info.acceptedHostParams?.includes("runtimeContext"));
});

test("commitTurn posts the exchange byte for byte, with anchors and the turn's id", async () => {
  const engine = await load({ commitTokenThreshold: 5000 }).engine();
  await engine.assemble({ ...session, messages: [], tokenBudget: 4000, prompt: "q" });
  await engine.assemble({ ...session, messages: [], tokenBudget: 6000 });
  const messages = [odd, assistant("a")];
  const result = await engine.commitTurn({ ...session, advancementKey: "adv1", admission: anchor(3), terminal: anchor(4), messages, isHeartbeat: false, sessionTarget: { expectedLifecycleRevision: "rev2" } });
  assert.deepEqual(result, { status: "committed" });
  const [seen] = daemon.named("commit_turn");
  assert.ok(seen);
  for (const m of messages) assert.ok(seen.text.includes(JSON.stringify(m)), "the message's own bytes");
  const { body, headers } = seen;
  assert.deepEqual(body.session, { session_id: session.sessionId, session_key: session.sessionKey, agent_id: "main", lifecycle: "rev2" });
  assert.deepEqual(body.settings, { commitTokenThreshold: 5000 });
  assert.equal(body.advancement_key, "adv1");
  assert.deepEqual(body.admission, { entryId: "e3", rawSeq: 3, activeMessagePosition: 3 });
  assert.deepEqual(body.terminal, { entryId: "e4", rawSeq: 4, activeMessagePosition: 4 });
  assert.equal(body.token_budget, 4000, "the smallest budget of the turn");
  assert.equal(body.turn_id, daemon.named("assemble")[0]?.body.turn_id);
  assert.equal(headers.authorization, "Bearer k-secret");
  assert.equal(headers["x-skald-protocol"], "1");
  assert.equal(headers["x-openviking-agent"], "main");
  assert.equal(headers["x-openviking-account"], undefined);
});

test("commitTurn without an assemble names no turn; duplicate is passed on", async () => {
  daemon.answers.commit_turn = () => ({ body: { status: "duplicate" } });
  const engine = await load().engine();
  assert.deepEqual(await engine.commitTurn({ ...session, advancementKey: "k", admission: anchor(1), terminal: anchor(1), messages: [odd] }), { status: "duplicate" });
  assert.equal(daemon.named("commit_turn")[0]?.body.turn_id, undefined);
});

test("commitTurn throws when the turn is not stored: daemon error, strange answer, daemon gone", async () => {
  const engine = await load().engine();
  const turn = { ...session, advancementKey: "k", admission: anchor(1), terminal: anchor(1), messages: [odd] };
  daemon.answers.commit_turn = () => ({ status: 503, body: { error: { kind: "unavailable", message: "disk full" } } });
  await assert.rejects(engine.commitTurn(turn), /not stored yet: disk full/);
  daemon.answers.commit_turn = () => ({ body: { status: "maybe" } });
  await assert.rejects(engine.commitTurn(turn), /not acknowledge/);
  daemon.answers.commit_turn = () => ({ raw: "<html>" });
  await assert.rejects(engine.commitTurn(turn), /without a usable body/);
  await daemon.stop();
  await assert.rejects(engine.commitTurn(turn), /not stored yet/);
  await daemon.start();
});

test("assemble sends count, tail, prompt, budget, model and tools, and returns the daemon's messages", async () => {
  daemon.answers.assemble = () => ({
    raw: '{"messages":[{"role":"user","content":"head","timestamp":1},{"role":"toolResult","x":"\\ud800"}],"estimated_tokens":55,"system_prompt_addition":"add","projection_epoch":"e3","turn_id":"t"}',
  });
  const engine = await load().engine();
  const messages = Array.from({ length: 30 }, (_, i) => user(`m${i}`, i));
  const result = await engine.assemble({ ...session, messages, tokenBudget: 41726, model: "scripted", prompt: "what?", availableTools: new Set(["read", "memory_recall"]) });
  const { body } = daemon.named("assemble")[0]!;
  assert.equal(body.message_count, 30);
  assert.deepEqual(body.tail, messages.slice(-12));
  assert.equal(body.prompt, "what?");
  assert.equal(body.token_budget, 41726);
  assert.equal(body.model, "scripted");
  assert.deepEqual(body.available_tools, ["read", "memory_recall"]);
  assert.match(body.turn_id, /^[0-9a-f-]{36}$/);
  assert.equal(JSON.stringify(result.messages), '[{"role":"user","content":"head","timestamp":1},{"role":"toolResult","x":"\\ud800"}]');
  assert.equal(result.estimatedTokens, 55);
  assert.equal(result.systemPromptAddition, "add");
  assert.deepEqual(result.contextProjection, { mode: "thread_bootstrap", epoch: "e3" });
});

test("a large message bounds the tail; the newest one always goes", async () => {
  const engine = await load().engine();
  const big = user("x".repeat(300_000));
  await engine.assemble({ ...session, messages: [user("a"), big, user("b")] });
  assert.deepEqual(daemon.named("assemble")[0]?.body.tail, [user("b")]);
  const other = await load().engine();
  await other.assemble({ ...session, messages: [user("a"), big] });
  assert.deepEqual(daemon.named("assemble")[1]?.body.tail, [big]);
});

test("need_tail is answered once", async () => {
  daemon.answers.assemble = (b) => ({ body: b.tail.length < 20 ? { messages: [], estimated_tokens: 0, need_tail: 20 } : { messages: b.tail, estimated_tokens: 9 } });
  const engine = await load().engine();
  const messages = Array.from({ length: 30 }, (_, i) => user(`m${i}`));
  const result = await engine.assemble({ ...session, messages });
  assert.deepEqual(result.messages, messages.slice(-20));
  assert.equal(daemon.named("assemble").length, 2);
  daemon.answers.assemble = () => ({ body: { messages: [], estimated_tokens: 0, need_tail: 99 } });
  const never = await load().engine();
  assert.deepEqual((await never.assemble({ ...session, messages })).messages, messages, "degraded to the host's own");
  assert.equal(daemon.named("assemble").length, 4);
});

test("later calls of the turn get the same bytes, whatever the host did to the objects", async () => {
  daemon.answers.assemble = () => ({ body: { messages: [user("head"), odd], estimated_tokens: 500 } });
  const engine = await load().engine();
  const first = await engine.assemble({ ...session, messages: [user("q")], tokenBudget: 40000, prompt: "p" });
  const bytes = JSON.stringify(first.messages);
  (first.messages[0] as { content: string }).content = "[prefix] head";
  first.messages.push(user("the host's"));
  const second = await engine.assemble({ ...session, messages: first.messages, tokenBudget: 63000 });
  const third = await engine.assemble({ ...session, messages: second.messages, tokenBudget: 500 });
  assert.equal(JSON.stringify(second.messages), bytes);
  assert.equal(JSON.stringify(third.messages), bytes);
  assert.equal(daemon.named("assemble").length, 1);
});

test("a budget below the first estimate asks for a refit, under the same turn id and with the first list", async () => {
  daemon.answers.assemble = (b) => ({ body: { messages: [user(`fit ${b.token_budget}`)], estimated_tokens: b.token_budget - 100 } });
  const engine = await load().engine();
  const first = await engine.assemble({ ...session, messages: [user("q1"), assistant("a1")], tokenBudget: 1000, prompt: "p" });
  const second = await engine.assemble({ ...session, messages: first.messages, tokenBudget: 600 });
  assert.deepEqual(second.messages, [user("fit 600")]);
  const [a, b] = daemon.named("assemble").map((s) => s.body);
  assert.equal(a.turn_id, b.turn_id);
  assert.deepEqual(b.tail, [user("q1"), assistant("a1")]);
  assert.equal(b.prompt, "p");
  const third = await engine.assemble({ ...session, messages: second.messages, tokenBudget: 500 });
  assert.deepEqual(third.messages, second.messages);
});

test("after a compaction the turn's next assemble asks anew", async () => {
  const engine = await load().engine();
  await engine.assemble({ ...session, messages: [user("q")] });
  const result = await engine.compact({ ...session, tokenBudget: 20000, currentTokenCount: 25000, force: true, compactionTarget: "budget" });
  assert.deepEqual(result, { ok: true, compacted: true, reason: undefined, result: { summary: "sum", firstKeptEntryId: "e7", tokensBefore: 900, tokensAfter: 300, details: { checkpoint: { id: "c" } } } });
  const { body } = daemon.named("compact")[0]!;
  assert.equal(body.trigger, "overflow");
  assert.equal(body.current_token_count, 25000);
  assert.equal(body.force, true);
  await engine.assemble({ ...session, messages: [user("q")] });
  assert.equal(daemon.named("assemble").length, 2);
});

test("manual compact names its trigger and instructions; a cancelled one answers at once", async () => {
  const engine = await load().engine();
  await engine.compact({ ...session, force: true, compactionTarget: "threshold", customInstructions: "keep x" });
  assert.equal(daemon.named("compact")[0]?.body.trigger, "manual");
  assert.equal(daemon.named("compact")[0]?.body.custom_instructions, "keep x");
  daemon.answers.compact = () => ({ body: {}, delayMs: 5000 });
  const abort = new AbortController();
  setTimeout(() => abort.abort(), 50);
  const begun = Date.now();
  const result = await engine.compact({ ...session, abortSignal: abort.signal });
  assert.ok(Date.now() - begun < 2000);
  assert.equal(result.ok, false);
  assert.match(result.reason ?? "", /cancelled/);
});

test("an older host: afterTurn stores, and its running turn stays visible after the kept messages", async () => {
  daemon.answers.assemble = () => ({ body: { messages: [user("head")], estimated_tokens: 10 } });
  const engine = await load().engine();
  const first = await engine.assemble({ ...session, messages: [user("old")], tokenBudget: 1000, prompt: "p" });
  const running = [...first.messages, user("p"), { role: "assistant", content: [] }, { role: "toolResult", content: [] }];
  await engine.afterTurn({ ...session, messages: running, prePromptMessageCount: 1, tokenBudget: 1000 });
  const second = await engine.assemble({ ...session, messages: running, tokenBudget: 1000 });
  assert.deepEqual(second.messages, [user("head"), ...running.slice(1)]);
  const { body } = daemon.named("after_turn")[0]!;
  assert.equal(body.pre_prompt_message_count, 1);
  assert.deepEqual(body.messages, running);
});

test("ingest and ingestBatch", async () => {
  const engine = await load().engine();
  assert.deepEqual(await engine.ingest({ ...session, message: odd, isHeartbeat: true }), { ingested: true });
  assert.deepEqual(await engine.ingestBatch({ ...session, messages: [user("a"), user("b")] }), { ingestedCount: 2 });
  assert.equal(daemon.named("ingest")[0]?.body.is_heartbeat, true);
  assert.ok(daemon.named("ingest")[0]?.text.includes(JSON.stringify(odd)));
});

test("sub-agents: prepare, rollback, ended; maintain and dispose", async () => {
  const engine = await load().engine();
  const child = "agent:main:subagent:3beb";
  const prepared = await engine.prepareSubagentSpawn({ parentSessionKey: session.sessionKey, childSessionKey: child, contextMode: "fork" });
  assert.equal(daemon.named("subagent_prepare")[0]?.body.child_session_key, child);
  assert.equal(daemon.named("subagent_prepare")[0]?.body.context_mode, "fork");
  assert.equal(daemon.named("subagent_prepare")[0]?.body.session.session_key, session.sessionKey);
  await prepared?.rollback();
  assert.equal(daemon.named("subagent_rollback")[0]?.body.child_session_key, child);
  await engine.onSubagentEnded({ childSessionKey: child, reason: "completed" });
  assert.equal(daemon.named("subagent_ended")[0]?.body.reason, "completed");
  assert.deepEqual(await engine.maintain(session), { changed: false, bytesFreed: 0, rewrittenEntries: 0 });
  await engine.dispose();
});

test("person mode: only the sender's id leaves runtimeContext", async () => {
  const engine = await load({ peer_role: "person" }).engine();
  const runtimeContext = { senderId: "wx/user-01", config: { apiKey: "HOST-KEY" } };
  await engine.bootstrap({ ...session, runtimeContext });
  await engine.assemble({ ...session, messages: [] });
  for (const s of daemon.seen) assert.ok(!s.text.includes("HOST-KEY"));
  assert.equal(daemon.named("bootstrap")[0]?.body.session.sender_id, "wx/user-01");
  assert.equal(daemon.named("assemble")[0]?.body.session.sender_id, "wx/user-01", "remembered for the turn");
});

test("two instances share nothing but the daemon", async () => {
  const host = load();
  const [a, b] = [await host.engine(), await host.engine()];
  await a.assemble({ ...session, messages: [] });
  await b.assemble({ ...session, messages: [] });
  const [x, y] = daemon.named("assemble").map((s) => s.body.turn_id);
  assert.notEqual(x, y);
  assert.equal(daemon.named("handshake").length, 1, "one hello for the process");
});

test("logs hold no message text and no key, not even with logFindRequests", async () => {
  const host = load({ logFindRequests: true });
  const engine = await host.engine();
  await engine.assemble({ ...session, messages: [user("MESSAGE-TEXT")], prompt: "PROMPT-TEXT" });
  await engine.commitTurn({ ...session, advancementKey: "k", admission: anchor(1), terminal: anchor(1), messages: [user("MESSAGE-TEXT")] });
  daemon.answers.assemble = () => ({ status: 500, raw: "PROMPT-TEXT" });
  await (await host.engine()).assemble({ ...session, messages: [user("MESSAGE-TEXT")], prompt: "PROMPT-TEXT" });
  const log = host.lines.join("\n");
  assert.match(log, /skald: assemble session=370fa037/);
  for (const secret of ["MESSAGE-TEXT", "PROMPT-TEXT", "k-secret"]) assert.ok(!log.includes(secret));
});
