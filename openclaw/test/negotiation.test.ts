// PLG-09: plugin and daemon of different versions.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { pluginVersion, protocolVersion } from "../src/build.js";
import { Client } from "../src/client.js";
import { parseConfig } from "../src/config.js";
import { Daemon } from "../src/daemon.js";
import { SkaldEngine } from "../src/engine.js";
import plugin from "../src/index.js";
import { anchor, assistant, FakeDaemon, FakeHost, freshProcess, session, until, user } from "./fakes.js";

let daemon: FakeDaemon;
beforeEach(async () => {
  freshProcess();
  daemon = await new FakeDaemon().start();
});
afterEach(() => daemon.stop());

/** The daemon speaks this protocol, and the one before it. */
function speaks(protocol: number): void {
  daemon.answers.handshake = () => ({ body: { name: "skald", version: `v${protocol}`, protocol, min_protocol: protocol - 1, instance: "i", pid: 1 } });
}

function load(): FakeHost {
  const host = new FakeHost({ port: daemon.port, autoStart: false, dataDir: "/nonexistent/skald" });
  plugin.register(host);
  return host;
}

const committing = { ...session, advancementKey: "k", admission: anchor(1), terminal: anchor(2), messages: [user("q"), assistant("a")] };

/** One whole turn as the host drives it, on a host with the transcript cursor. */
async function turn(host: FakeHost) {
  const config = parseConfig({ port: daemon.port, autoStart: false }, {});
  const found = new Daemon(config, host.logger);
  const engine = new SkaldEngine(new Client(config, host.logger, (d) => found.ensure(d)), async () => async () => ({ kind: "missing" }));
  const boot = await engine.bootstrap(session);
  const view = await engine.assemble({ ...session, messages: [user("own")], prompt: "q" });
  const done = await engine.commitTurn(committing);
  await engine.dispose();
  return { boot, view, done };
}

for (const apart of [-1, 1]) {
  test(`PLG-09 a daemon of protocol N${apart > 0 ? "+" : ""}${apart} works, without a word`, async () => {
    speaks(protocolVersion + apart);
    const host = load();
    const { boot, done } = await turn(host);
    assert.equal(boot.bootstrapped, true);
    assert.deepEqual(done, { status: "committed" });
    assert.equal(daemon.named("commit_turn").length, 1);
    assert.deepEqual(host.warnings, []);
    assert.ok(daemon.seen.every((s) => s.headers["x-skald-protocol"] === String(protocolVersion)));
  });
}

for (const [apart, fix] of [[-2, /skald is too old\. Install skald .* and (restart|end)/], [2, /the plugin is too old\. Update it with `skald openclaw install`/]] as const) {
  test(`PLG-09 a daemon of protocol N${apart > 0 ? "+" : ""}${apart}: one message with both versions and the fix, and turns go on`, async () => {
    speaks(protocolVersion + apart);
    const host = load();
    for (let n = 0; n < 3; n++) {
      const { boot, view, done } = await turn(host);
      assert.equal(boot.bootstrapped, false);
      assert.deepEqual(view.messages, [user("own")]);
      assert.deepEqual(done, { status: "committed" }, "the host's outbox does not fill: its transcript keeps the turn for a later bootstrap");
    }
    assert.equal(host.warnings.length, 1, host.warnings.join("\n"));
    const text = host.warnings.join();
    assert.match(text, fix);
    assert.ok(text.includes(`skald v${protocolVersion + apart}`) && text.includes(`plugin ${pluginVersion}`), text);
    assert.deepEqual(daemon.seen.map((s) => s.name), ["handshake"], "asked once, not at every turn");
    const answer = await host.commands.get("skald")!.handler({ ...session, args: "status" });
    assert.match(answer.text, /too old.*OpenClaw's own history/);
    assert.equal(host.warnings.length, 1);
  });
}

test("PLG-09 a host without the transcript cursor keeps the turn in its outbox while the versions do not fit", async () => {
  speaks(protocolVersion + 2);
  await assert.rejects((await load().engine()).commitTurn(committing), /not stored yet/);
});

test("PLG-09 a daemon that lacks a route lacks that feature only", async () => {
  const missing = [{ status: 404, body: { error: { kind: "not_found", message: "Not Found" } } }, { status: 404, raw: "404 page not found" }];
  for (const answer of missing) {
    freshProcess();
    daemon.answers.command = daemon.answers.event = () => answer;
    const host = load();
    const { text } = await host.commands.get("skald")!.handler({ ...session, args: "why" });
    assert.match(text, new RegExp(`skald 1\\.2\\.3 is too old for "command": install skald ${pluginVersion.replaceAll(".", "\\.")} or later`));
    assert.equal((await turn(host)).boot.bootstrapped, true);
    host.hooks.get("session_start")!({ ...session }, {});
    await until(() => daemon.named("event").length > 0);
    assert.deepEqual(host.warnings, []);
  }
});

test("PLG-09 a daemon that lacks a route of the lifecycle is named once, not at every turn", async () => {
  daemon.answers.bootstrap = () => ({ status: 404, raw: "404 page not found" });
  const host = load();
  for (let n = 0; n < 3; n++) {
    const { view, done } = await turn(host);
    assert.deepEqual(view.messages, [user("own")]);
    assert.equal(daemon.named("assemble").length, n + 1, "assemble goes on");
    assert.deepEqual(done, { status: "committed" });
  }
  assert.equal(host.warnings.length, 1, host.warnings.join("\n"));
  assert.match(host.warnings.join(), /skald 1\.2\.3 is too old for "bootstrap"/);
});

test("PLG-09 a renamed field in an answer degrades that call and is said once", async () => {
  daemon.answers.assemble = () => ({ body: { view: [user("x")], estimated_tokens: 3 } });
  const host = load();
  for (let n = 0; n < 2; n++) assert.deepEqual((await turn(host)).view.messages, [user("own")]);
  assert.equal(host.warnings.length, 1);
  assert.match(host.warnings.join(), /gave no messages/);
});

test("PLG-09 versions that fit again are used again", async () => {
  speaks(protocolVersion + 2);
  const host = load();
  await turn(host);
  freshProcess(); // the minute has passed
  speaks(protocolVersion);
  assert.equal((await turn(host)).boot.bootstrapped, true);
});
