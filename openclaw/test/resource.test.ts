// Imports and the other tools and commands for resources and skills: what is sent, what is never sent, and who may.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { inflateRawSync } from "node:zlib";
import { parseArgs } from "../src/args.js";
import plugin from "../src/index.js";
import { storedSession } from "../src/toolresult.js";
import { zipFolder } from "../src/zip.js";
import { FakeDaemon, FakeHost, freshProcess, session } from "./fakes.js";

let daemon: FakeDaemon;
let dir: string;
const ok = (result: unknown) => ({ body: { status: "ok", result } });
beforeEach(async () => {
  freshProcess();
  dir = realpathSync(mkdtempSync(join(tmpdir(), "skald-resource-")));
  daemon = await new FakeDaemon().start();
  daemon.answers["/api/v1/resources/temp_upload"] = () => ok({ temp_file_id: "upload_1" });
  daemon.answers["/api/v1/resources"] = () => ok({ status: "success", root_uri: "viking://resources/guide", task_id: "7" });
  daemon.answers["/api/v1/skills"] = () => ok({ status: "success", root_uri: "viking://user/default/skills/mooring", name: "mooring", auxiliary_files: 1 });
});
afterEach(async () => {
  await daemon.stop();
  rmSync(dir, { recursive: true, force: true });
});

function load(config: Record<string, unknown> = {}): FakeHost {
  const host = new FakeHost({ port: daemon.port, autoStart: false, dataDir: "/nonexistent/skald", tools: "all", ...config });
  plugin.register(host);
  return host;
}

const tool = (host: FakeHost, name: string, ctx: object = {}) => host.tools.get(name)!({ ...session, workspaceDir: dir, ...ctx });
const say = async (host: FakeHost, name: string, params: object, ctx: object = {}) => (await tool(host, name, ctx).execute("c", params)).content[0]!.text;
const command = async (host: FakeHost, name: string, args: string, ctx: object = {}) => (await host.commands.get(name)!.handler({ ...session, args, senderIsOwner: true, ...ctx })).text;
const sent = (path: string) => daemon.named(`/api/v1${path}`);

function folder(): string {
  const at = join(dir, "guide");
  mkdirSync(join(at, "inner", "deep"), { recursive: true });
  mkdirSync(join(at, ".git"));
  writeFileSync(join(at, "readme.md"), "# Guide\n".repeat(50));
  writeFileSync(join(at, "inner", "deep", "ümläut .txt"), "x");
  writeFileSync(join(at, "empty.txt"), "");
  writeFileSync(join(at, ".git", "config"), "secret");
  writeFileSync(join(dir, "outside.txt"), "outside");
  symlinkSync(join(dir, "outside.txt"), join(at, "link.txt"));
  symlinkSync(dir, join(at, "up"));
  return at;
}

/** The files of a zip archive, read by its central directory. */
function unzip(b: Buffer): Record<string, string> {
  const files: Record<string, string> = {};
  const end = b.lastIndexOf(Buffer.from("PK\x05\x06"));
  let at = b.readUInt32LE(end + 16);
  for (let n = b.readUInt16LE(end + 10); n > 0; n--) {
    const [method, packed, name, local] = [b.readUInt16LE(at + 10), b.readUInt32LE(at + 20), b.readUInt16LE(at + 28), b.readUInt32LE(at + 42)];
    const begin = local + 30 + b.readUInt16LE(local + 26);
    const body = b.subarray(begin, begin + packed);
    files[b.subarray(at + 46, at + 46 + name).toString()] = (method === 8 ? inflateRawSync(body) : body).toString();
    at += 46 + name;
  }
  return files;
}

test("a folder is zipped here: regular files only, no links, no .git, the same bytes every time", async () => {
  const at = folder();
  assert.equal(await zipFolder(at, join(dir, "a.zip")), 3);
  await zipFolder(at, join(dir, "b.zip"));
  const { readFileSync } = await import("node:fs");
  const bytes = readFileSync(join(dir, "a.zip"));
  assert.deepEqual(bytes, readFileSync(join(dir, "b.zip")));
  assert.deepEqual(unzip(bytes), { "empty.txt": "", "inner/deep/ümläut .txt": "x", "readme.md": "# Guide\n".repeat(50) });
  mkdirSync(join(dir, "nothing"));
  await assert.rejects(zipFolder(join(dir, "nothing"), join(dir, "c.zip")), /holds no files/);
});

test("ov_import uploads a folder; no path of this machine goes over, and nothing is left in the temporary folder (001-074)", async () => {
  const before = readdirSync(tmpdir()).filter((n) => n.startsWith("skald-import-"));
  const text = await say(load({ accountId: "acc" }), "ov_import", { source: folder(), to: "viking://resources/guide", reason: "why" });
  assert.match(text, /to viking:\/\/resources\/guide is under way \(task 7\)/);
  const [up] = sent("/resources/temp_upload");
  assert.match(String(up!.headers["content-type"]), /^multipart\/form-data; boundary=/);
  assert.equal(Number(up!.headers["content-length"]), up!.bytes.length);
  const archive = up!.bytes.subarray(up!.bytes.indexOf("\r\n\r\n") + 4, up!.bytes.lastIndexOf("\r\n--"));
  assert.equal(unzip(archive)["inner/deep/ümläut .txt"], "x");
  assert.match(up!.text, /filename="guide\.zip"/);
  assert.deepEqual(sent("/resources")[0]!.body, { temp_file_id: "upload_1", source_name: "guide", wait: false, to: "viking://resources/guide", reason: "why" });
  assert.ok(daemon.seen.every((s) => !s.text.includes(dir)), "a local path was sent");
  assert.deepEqual(readdirSync(tmpdir()).filter((n) => n.startsWith("skald-import-")), before);
  assert.equal(up!.headers["x-openviking-account"], "acc");
  assert.equal(up!.headers["x-openviking-agent"], "main");
});

test("a file goes as it is; URLs and Git addresses are the daemon's to fetch", async () => {
  const host = load();
  writeFileSync(join(dir, "one.md"), "# One");
  await say(host, "add_resource", { source: "one.md", wait: true, timeout: 9 }); // relative to the workspace
  assert.deepEqual(sent("/resources")[0]!.body, { temp_file_id: "upload_1", source_name: "one.md", wait: true, timeout: 9 });
  assert.match(sent("/resources/temp_upload")[0]!.text, /# One\r\n--/);
  for (const source of ["https://example.org/a.html", "git@github.com:a/b.git", "ssh://git@example.org/a", "git://example.org/a"]) await say(host, "ov_import", { source });
  assert.deepEqual(sent("/resources").slice(1).map((s) => s.body.path), ["https://example.org/a.html", "git@github.com:a/b.git", "ssh://git@example.org/a", "git://example.org/a"]);
  assert.equal(sent("/resources/temp_upload").length, 1);
});

test("skills: a folder, a SKILL.md, or its text", async () => {
  const host = load();
  const at = join(dir, "mooring");
  mkdirSync(at);
  writeFileSync(join(at, "SKILL.md"), "---\nname: mooring\ndescription: d\n---\n");
  assert.equal(await say(host, "ov_import", { source: "mooring", kind: "skill" }), "Stored the skill mooring as viking://user/default/skills/mooring (1 more file).");
  await say(host, "add_skill", { source: "mooring/SKILL.md", to: "viking://agent/skills" });
  await say(host, "add_skill", { data: "---\nname: x\n---\n" });
  assert.deepEqual(sent("/skills").map((s) => s.body), [
    { temp_file_id: "upload_1", wait: false },
    { temp_file_id: "upload_1", wait: false, target_uri: "viking://agent/skills" },
    { data: "---\nname: x\n---\n", wait: false },
  ]);
  daemon.answers["/api/v1/skills"] = () => ({ status: 400, body: { status: "error", error: { code: "INVALID_ARGUMENT", message: "a skill needs a name" } } });
  assert.equal(await say(host, "add_skill", { data: "x" }), "add_skill did not work: a skill needs a name");
});

test("what makes no sense is refused before anything is sent", async () => {
  const host = load();
  for (const [params, why] of [
    [{}, /say what to import/],
    [{ source: "gone.md" }, /does not exist/],
    [{ source: "file:///etc/passwd" }, /without a scheme/],
    [{ source: "https://x", kind: "song" }, /kind is resource or skill/],
    [{ source: "https://x", to: "viking://resources/a", parent: "viking://resources" }, /not both/],
    [{ source: "x", kind: "skill", data: "y" }, /not both/],
    [{ source: "/dev/null" }, /neither a file nor a folder/],
  ] as const) {
    assert.match(await say(host, "ov_import", params), why);
  }
  assert.deepEqual(daemon.seen, []);
});

test("a sandboxed agent, one kept to its workspace, and a stranger import from the workspace only", async () => {
  const host = load();
  const at = folder();
  for (const ctx of [{ sandboxed: true }, { fsPolicy: { workspaceOnly: true } }, { senderIsOwner: false }]) {
    const inner = { ...ctx, workspaceDir: at };
    for (const source of ["../outside.txt", join(dir, "outside.txt"), "link.txt", "up", "/"]) {
      assert.match(await say(host, "ov_import", { source }, inner), /lies outside of the agent's workspace/, source);
    }
    assert.match(await say(host, "ov_import", { source: "readme.md" }, { ...ctx, workspaceDir: undefined }), /workspace|does not exist/);
    assert.match(await say(host, "ov_import", { source: "readme.md" }, inner), /under way/);
  }
  assert.equal(sent("/resources/temp_upload").length, 3);
});

test("which tools the model is offered", () => {
  const names = (config: object) => [...load({ tools: "default", ...config }).tools.keys()];
  const usual = ["memory_recall", "memory_recall_auto", "memory_expand", "memory_store", "memory_forget"];
  assert.deepEqual(names({}), usual);
  assert.deepEqual(names({ enableAddResourceTool: true }), [...usual, "ov_import", "add_resource", "add_skill"]);
  assert.ok(!names({ tools: "all", enableAddResourceTool: false }).some((n) => ["ov_import", "add_resource", "add_skill"].includes(n)));
  assert.deepEqual(names({ enabledTools: ["resource_query"] }), ["ov_search", "ov_read", "ov_multi_read", "ov_list"]);
  assert.deepEqual(names({ enabledTools: ["default", "ov_search"] }), [...usual, "ov_search"]);
  assert.deepEqual(names({ enabledTools: ["all"], disabledTools: ["memory", "import", "archive", "tool_result", "recall_trace"] }), ["ov_search", "ov_read", "ov_multi_read", "ov_list"]);
});

test("searching and reading are the daemon's tools", async () => {
  const host = load();
  await say(host, "ov_search", { query: "tides", uri: "viking://resources" });
  await say(host, "ov_multi_read", { uris: ["viking://resources/a"] });
  await say(host, "ov_recall_trace", { turn: "all" });
  assert.deepEqual(daemon.named("tool").map((s) => [s.body.tool, s.body.args]), [
    ["ov_search", { query: "tides", uri: "viking://resources" }], ["ov_multi_read", { uris: ["viking://resources/a"] }], ["ov_recall_trace", { turn: "all" }],
  ]);
});

test("whose view it is: the agent's, the sender's, nobody's, or what is configured", async () => {
  for (const [config, ctx, want] of [
    [{ agent_prefix: "t" }, {}, "t_main"],
    [{ peer_role: "person" }, { requesterSenderId: "wx/user-01@abc" }, "wx_user-01_abc"],
    [{ peer_role: "person" }, {}, undefined],
    [{ peer_role: "none" }, {}, undefined],
    [{ headers: { "X-OpenViking-Actor-Peer": "own" } }, {}, "own"],
  ] as const) {
    daemon.seen = [];
    const host = load(config);
    await say(host, "ov_import", { source: "https://x" }, ctx);
    await say(host, "memory_recall", { query: "q" }, ctx);
    assert.equal(sent("/resources")[0]!.headers["x-openviking-actor-peer"], want);
    const engine = daemon.named("tool")[0]!.headers;
    assert.equal(engine["x-openviking-actor-peer"], want === "own" ? "own" : undefined, "sessions have no peer view");
    assert.equal(engine["x-openviking-account"], undefined);
    assert.equal(engine["x-openviking-user"], undefined);
  }
});

test("tool results: this session's only, in every spelling of a reference", async () => {
  const host = load();
  const id = session.sessionId;
  daemon.answers[`/api/v1/sessions/${id}/tool-results/tr_1?offset=5`] = () => ok({ content: "äbc", offset: 5, total_chars: 20, has_more: true });
  daemon.answers[`/api/v1/sessions/${id}/tool-results/tr_1/search?q=x`] = () => ok({ matches: [{ offset: 3, snippet: "a x b" }] });
  daemon.answers[`/api/v1/sessions/${id}/tool-results`] = () => ok({ tool_results: [{ tool_result_id: "tr_1", tool_name: "exec", original_chars: 9, output_uri: `viking://session/${id}/tool-results/tr_1` }] });
  for (const ref of [`viking://session/${id}/tool-results/tr_1`, `viking://~/sessions/${id}/tool-results/tr_1`, `viking://user/ann/sessions/${id}/tool-results/tr_1`]) {
    assert.equal(await say(host, "openviking_tool_result_read", { tool_output_ref: ref, offset: 5 }), "äbc\n\n(8 of 20 characters; read on with offset 8)");
  }
  const ref = `viking://session/${id}/tool-results/tr_1`;
  assert.equal(await say(host, "openviking_tool_result_search", { tool_output_ref: ref, query: "x" }), "[at 3] a x b");
  assert.equal(await say(host, "openviking_tool_result_list", {}), `${ref} (exec, 9 characters)`);
  const before = daemon.seen.length;
  assert.match(await say(host, "openviking_tool_result_read", { tool_output_ref: "viking://session/other/tool-results/tr_1" }), /another session/);
  assert.match(await say(host, "openviking_tool_result_read", { tool_output_ref: "viking://resources/x" }), /has to be a reference/);
  assert.equal(daemon.seen.length, before);
});

test("a session is stored under its UUID, its key, or its id (001-010 to 001-012)", () => {
  const sha = (text: string) => createHash("sha256").update(text).digest("hex");
  const uuid = "370FA037-2F18-4426-AC68-6CD12F2DED9C";
  assert.equal(storedSession({ session_id: uuid, session_key: "agent:main:x" }), uuid.toLowerCase());
  assert.equal(storedSession({ session_id: "plain", session_key: "agent:main:x" }), sha("agent:main:x"));
  assert.equal(storedSession({ session_id: "a:b" }), sha("openclaw-session:a:b"));
  assert.equal(storedSession({ session_id: "plain_1" }), "plain_1");
  assert.throws(() => storedSession({}), /no session/);
});

test("what is typed behind a command", () => {
  assert.deepEqual(parseArgs('"two words" --to=viking://resources/x --wait --kind skill', ["wait"]), { text: "two words", flags: { to: "viking://resources/x", wait: true, kind: "skill" } });
  assert.deepEqual(parseArgs("C:\\Users\\ann\\my docs --wait", ["wait"]), { text: "C:\\Users\\ann\\my docs", flags: { wait: true } });
  assert.deepEqual(parseArgs("--wait /a/b", ["wait"]), { text: "/a/b", flags: { wait: true } });
  assert.deepEqual(parseArgs(`'it is "so"' --reason="two words" --instruction 'x y'`), { text: 'it is "so"', flags: { reason: "two words", instruction: "x y" } });
  assert.deepEqual(parseArgs('"--no-flag" --include-content', ["include_content"]), { text: "--no-flag", flags: { include_content: true } });
  assert.deepEqual(parseArgs("  "), { text: "", flags: {} });
});

test("the commands: import, search, trace", async () => {
  const host = load({ tools: "default" });
  assert.deepEqual([...host.commands.keys()].sort(), ["add-resource", "add-skill", "ov-import", "ov-recall-trace", "ov-search", "skald"]);
  const at = folder();
  assert.match(await command(host, "ov-import", `${at} --to viking://resources/guide --wait`), /^Imported .*guide to viking:\/\/resources\/guide\.$/);
  assert.equal(sent("/resources")[0]!.body.wait, true);
  await command(host, "ov-import", `${at} --kind skill`);
  await command(host, "add-skill", at);
  assert.equal(sent("/skills").length, 2);
  assert.match(await command(host, "add-resource", "https://example.org"), /under way/);
  assert.equal(await command(host, "ov-search", '"how high" --uri viking://resources --limit 3'), "result of ov_search");
  assert.deepEqual(daemon.named("tool")[0]!.body.args, { query: "how high", uri: "viking://resources", limit: 3 });
  assert.equal(await command(host, "ov-recall-trace", ""), "result of ov_recall_trace");
  for (const [name, usage] of [["ov-import", /^Usage: \/ov-import </], ["add-skill", /^Usage: \/add-skill/], ["ov-search", /^Usage: \/ov-search "query"/]] as const) {
    assert.match(await command(host, name, " --wait"), usage);
  }
  assert.match(await command(host, "ov-search", "x --limit many"), /--limit is a whole number/);
});

test("an import by command is the owner's alone; a bypassed session is left alone; a daemon that is down is said so", async () => {
  const at = folder();
  for (const ctx of [{ senderIsOwner: false }, { senderIsOwner: undefined }, { senderIsOwner: false, gatewayClientScopes: ["operator.read"] }]) {
    assert.match(await command(load(), "ov-import", at, ctx), /only the owner may import/);
  }
  assert.match(await command(load(), "ov-import", at, { senderIsOwner: undefined, gatewayClientScopes: ["operator.admin"] }), /under way/);
  daemon.seen = [];
  const bypassed = load({ bypassSessionPatterns: ["agent:*:g1"] });
  assert.match(await command(bypassed, "ov-import", at), /leaves this session alone/);
  assert.match(await say(bypassed, "ov_import", { source: at }), /switched off/);
  assert.deepEqual(daemon.seen, []);
  await daemon.stop();
  freshProcess();
  assert.match(await command(load(), "ov-search", "x"), /did not work: no skald daemon/);
  assert.match(await say(load(), "ov_import", { source: at }), /did not work: no skald daemon/);
  await daemon.start();
});

test("an older daemon says which request it does not know; a failure while uploading leaves nothing behind", async () => {
  const host = load();
  const at = folder();
  delete daemon.answers["/api/v1/resources/temp_upload"];
  const before = readdirSync(tmpdir()).filter((n) => n.startsWith("skald-import-"));
  assert.match(await say(host, "ov_import", { source: at }), /is too old for "\/resources\/temp_upload"/);
  assert.deepEqual(readdirSync(tmpdir()).filter((n) => n.startsWith("skald-import-")), before);
  assert.ok(existsSync(at) && basename(at) === "guide");
});
