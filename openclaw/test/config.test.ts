import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { parseConfig, resolveSecret } from "../src/config.js";
import { keys } from "../src/keys.js";
import { agentOf, bypassed } from "../src/session.js";

const parse = (input: unknown, env: Record<string, string> = {}) => parseConfig(input, env);

test("nothing configured: the local daemon, no setting sent", () => {
  const c = parse(undefined);
  assert.equal(c.mode, "local");
  assert.equal(c.baseUrl, "http://127.0.0.1:1933");
  assert.equal(c.autoStart, true);
  assert.equal(c.timeoutMs, 15000);
  assert.match(c.dataDir, /\.skald$/);
  assert.deepEqual(c.settings, {});
  assert.deepEqual(c.problems, []);
  assert.equal(parse({}, { SKALD_DATA: "/d" }).dataDir, "/d");
});

test("baseUrl means remote; slashes at its end go; ${NAME} comes from the environment", () => {
  const c = parse({ baseUrl: "https://${HOST}/skald//", apiKey: "${KEY}" }, { HOST: "h.example", KEY: "k1" });
  assert.equal(c.mode, "remote");
  assert.equal(c.baseUrl, "https://h.example/skald");
  assert.equal(resolveSecret(c.apiKey), "k1");
  assert.equal(parse({ mode: "local", baseUrl: "https://x", port: 1944 }).baseUrl, "http://127.0.0.1:1944");
  assert.match(parse({ mode: "remote" }).problems.join(), /baseUrl is missing/);
  assert.match(parse({ baseUrl: "ftp://x" }).problems.join(), /not an http/);
});

test("every setting of 000-125 and 000-126 reaches the daemon under its own name", () => {
  const settings = {
    autoRecall: false, autoCapture: true, recallLimit: 0, recallScoreThreshold: 0.3, recallMaxContentChars: 500, recallPreferAbstract: true,
    recallTokenBudget: 1500, recentRawTurnCount: 9, assembleRecallWindow: 4, compactCommitThreshold: 0.6, commitTokenThreshold: 20000,
    memoryExpandMaxResults: 7, recallForm: "text", isolateUserScopeByAgent: true, isolateAgentScopeByUser: false, strategy: "viking",
  };
  const c = parse(settings);
  assert.deepEqual(c.settings, settings);
  assert.deepEqual(c.problems, []);
});

test("an old OpenViking configuration starts the plugin without a complaint", () => {
  const c = parse({
    mode: "remote", baseUrl: "http://127.0.0.1:1933", apiKey: "ov", headers: { "X-A": "b" }, accountId: " acc ", userId: "u", peer_role: "assistant",
    peer_prefix: "team", targetUri: "viking://~/memories", timeoutMs: 20000, autoCapture: true, autoRecall: true, captureMode: "semantic",
    captureMaxLength: 24000, autoRecallTimeoutMs: 5000, recallResources: false, recallTargetTypes: ["user", "agent"], recallLimit: 6,
    recallScoreThreshold: 0.15, recallMaxInjectedChars: 4000, recallMaxContentChars: 5000, recallPreferAbstract: false, commitTokenThreshold: 9000,
    commitTokenThresholdRatio: 0.5, commitKeepRecentCount: 10, bypassSessionPatterns: ["agent:*:cron:**"], ingestReplyAssist: true,
    ingestReplyAssistAnything: 3, serverAuthMode: "api_key", emitStandardDiagnostics: false, logFindRequests: false, traceRecall: false,
    traceRecallPersist: false, traceRecallDir: "~/x", traceRecallRetentionDays: 14, traceRecallMaxEntries: 1000, enableAddResourceTool: false,
    enabledTools: "default", disabledTools: [], runtimeQueryConfigPath: "", agentExperience: { enabled: false },
  });
  assert.deepEqual(c.problems, []);
  assert.equal(c.accountId, "acc");
  assert.equal(c.prefix, "team");
  assert.equal(c.settings.recallTokenBudget, 1000, "characters become tokens");
  assert.equal(c.settings.compactCommitThreshold, 0.5);
  assert.deepEqual(c.bypass, ["agent:*:cron:**"]);
  assert.equal(parse({ recallMaxInjectedChars: 4000, recallTokenBudget: 700 }).settings.recallTokenBudget, 700);
});

test("unknown keys are named, with a suggestion when one is close", () => {
  const { problems } = parse({ recalLimit: 3, zzz: 1 });
  assert.deepEqual(problems, ['unknown key "recalLimit" (did you mean "recallLimit"?); ignored', 'unknown key "zzz"; ignored']);
});

test("wrong types and values give the default and a message, never a throw", () => {
  const c = parse({ port: "1933", autoStart: "yes", timeoutMs: 1, mode: "cloud", headers: [], bypassSessionPatterns: [1], apiKey: 5, recallLimit: Number.NaN, strategy: 3, autoRecall: "no" });
  assert.equal(c.port, 1933);
  assert.equal(c.autoStart, true);
  assert.equal(c.timeoutMs, 15000);
  assert.equal(c.mode, "local");
  assert.deepEqual(c.settings, {});
  for (const name of ["port", "autoStart", "timeoutMs", "mode", "headers", "bypassSessionPatterns", "apiKey", "recallLimit", "strategy", "autoRecall"]) {
    assert.ok(c.problems.some((p) => p.startsWith(name)), name);
  }
  for (const bad of [null, [], "x", 3]) parse(bad);
});

test("configPath: a file below the given keys", () => {
  const dir = mkdtempSync(join(tmpdir(), "skald-"));
  const path = join(dir, "c.json");
  writeFileSync(path, JSON.stringify({ port: 2000, recallLimit: 4, nonsense: true }));
  const c = parse({ configPath: path, port: 3000 });
  assert.equal(c.port, 3000);
  assert.equal(c.settings.recallLimit, 4);
  assert.match(c.problems.join(), /nonsense/);
  assert.match(parse({ configPath: join(dir, "none.json") }).problems.join(), /cannot be read/);
});

test("secrets: text, environment, file; the environment's key when none is given", () => {
  const dir = mkdtempSync(join(tmpdir(), "skald-"));
  writeFileSync(join(dir, "k"), " file-key\n");
  assert.equal(resolveSecret(parse({ apiKey: { source: "file", id: join(dir, "k") } }).apiKey), "file-key");
  assert.equal(resolveSecret(parse({ apiKey: { source: "env", id: "K" } }).apiKey, { K: "env-key" }), "env-key");
  assert.equal(resolveSecret(parse({}, { SKALD_API_KEY: "s" }).apiKey), "s");
  assert.match(parse({ apiKey: { source: "exec", id: "rm" } }).problems.join(), /apiKey must be/);
});

test("agents: of the key, else configured, else main; with the prefix before it", () => {
  const at = (input: object, where: object) => agentOf(parse(input), where);
  assert.equal(at({}, { sessionKey: "agent:coder:g1" }), "coder");
  assert.equal(at({}, { sessionKey: "main" }), "main");
  assert.equal(at({ agentId: "cfg" }, {}), "cfg");
  assert.equal(at({ agentId: "cfg" }, { sessionKey: "agent:coder:g1" }), "coder");
  assert.equal(at({ agent_prefix: "team" }, { sessionKey: "agent:coder:g1" }), "team_coder");
  assert.equal(at({ peer_prefix: "p" }, {}), "p_main");
  assert.equal(at({ agent_prefix: "a", peer_prefix: "p" }, {}), "a_main");
  assert.equal(at({ peer_prefix: "default" }, {}), "main");
  assert.equal(at({}, { sessionKey: "agent:bad name/ü:x" }), "bad_name");
});

test("bypass globs: * is any run without a colon, ** anything, the whole key", () => {
  const hit = (pattern: string, sessionKey?: string, sessionId?: string) => bypassed(parse({ bypassSessionPatterns: [pattern] }), { sessionKey, sessionId });
  assert.ok(hit("agent:*", "agent:a"));
  assert.ok(!hit("agent:*", "agent:a:b"));
  assert.ok(hit("agent:**", "agent:a:b"));
  assert.ok(hit("agent:*:cron:**", "agent:main:cron:x:y"));
  assert.ok(!hit("cron", "agent:cron"));
  assert.ok(hit("a.b+c", "a.b+c"));
  assert.ok(!hit("a.b", "axb"));
  assert.ok(hit("s-*", undefined, "s-1"), "the id when there is no key");
  assert.ok(!hit("s-*", "agent:x", "s-1"));
  assert.ok(!bypassed(parse({}), { sessionKey: "agent:x" }));
});

test("the table is complete: 000-125, 000-126, 001-018, 001-019, 001-051", () => {
  const asked =
    "mode configPath port baseUrl apiKey agentId timeoutMs autoRecall autoCapture recallLimit recallScoreThreshold recallMaxContentChars recallPreferAbstract recallTokenBudget recentRawTurnCount assembleRecallWindow compactCommitThreshold memoryExpandMaxResults agent_prefix accountId userId isolateUserScopeByAgent isolateAgentScopeByUser agentScopeMode commitTokenThreshold logFindRequests dataDir binary autoStart tools recallForm strategy peer_role peer_prefix bypassSessionPatterns";
  for (const name of asked.split(" ")) assert.ok(keys[name]?.text, name);
});
