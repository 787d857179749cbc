// The official TypeScript client against the real program: the same conversation over standard input and output, and over HTTP.
// SKALD_BIN names the program (default bin/skald of this repository).
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const binary = resolve(process.env.SKALD_BIN ?? join(import.meta.dirname, "../../bin/skald"));
const tools = ["memory_expand", "memory_forget", "memory_ls", "memory_read", "memory_recall", "memory_search", "memory_store"];

let data, daemon, url, key;

before(async () => {
  data = await mkdtemp(join(tmpdir(), "skald-mcp-"));
  daemon = spawn(binary, ["serve", "--data", data, "--listen", "127.0.0.1:0", "--json"], { stdio: ["ignore", "pipe", "ignore"] });
  url = await new Promise((found, lost) => {
    let text = "";
    daemon.stdout.on("data", (part) => {
      text += part;
      if (text.includes("\n")) found(JSON.parse(text).url);
    });
    daemon.once("error", lost);
    daemon.once("exit", (code) => lost(new Error(`the daemon ended with code ${code}`)));
  });
  key = (await readFile(join(data, "key"), "utf8")).trim();
});

after(async () => {
  const gone = new Promise((done) => daemon.once("exit", done));
  daemon.kill("SIGTERM");
  await gone;
  await rm(data, { recursive: true });
});

const ways = {
  stdio: () => new StdioClientTransport({ command: binary, args: ["mcp", "--server", url], env: { ...process.env, SKALD_DATA: data }, stderr: "inherit" }),
  http: (headers = {}) => new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit: { headers: { Authorization: `Bearer ${key}`, ...headers } } }),
};

/** within connects a client, hands it over, and closes it. */
async function within(transport, use) {
  const client = new Client({ name: "skald-test", version: "1" });
  await client.connect(transport);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

const call = (client, name, args) => client.callTool({ name, arguments: args });
const text = (result) => result.content.map((c) => c.text).join("\n");

for (const [way, transport] of Object.entries(ways)) {
  const bird = way === "stdio" ? "heron" : "plover"; // one store, one fact for each way

  test(`${way}: greeting and list`, () =>
    within(transport(), async (client) => {
      assert.equal(client.getServerVersion().name, "skald");
      assert.match(client.getInstructions(), /memory_recall/);
      const list = (await client.listTools()).tools;
      assert.deepEqual(list.map((t) => t.name).sort(), tools);
      for (const t of list) {
        assert.equal(t.inputSchema.type, "object");
        assert.equal(t.outputSchema.type, "object");
        assert.equal(t.annotations.readOnlyHint, t.name !== "memory_store" && t.name !== "memory_forget", t.name);
        assert.equal(t.annotations.destructiveHint, t.name === "memory_forget", t.name);
      }
    }));

  // The client checks every structured answer against the tool's output schema.
  test(`${way}: each tool`, () =>
    within(transport(), async (client) => {
      await client.listTools(); // it knows the output schemas from here
      const stored = await call(client, "memory_store", { text: `I prefer the ${bird} tea of Lisbon.`, type: "preferences" });
      const uri = stored.structuredContent.uri;
      assert.match(uri, /^viking:\/\/user\/default\/memories\/preferences\//);
      const recalled = await call(client, "memory_recall", { query: `${bird} tea` });
      assert.match(JSON.stringify(recalled.structuredContent.memories), new RegExp(`${bird} tea of Lisbon`));
      assert.match(text(recalled), new RegExp(`${bird} tea of Lisbon`));
      const found = await call(client, "memory_search", { query: `${bird} tea`, kind: "memory" });
      assert.equal(found.structuredContent.hits[0].uri, uri);
      const listed = await call(client, "memory_ls", { uri: "viking://~/memories/preferences" });
      assert.ok(listed.structuredContent.entries.some((e) => e.uri === uri));
      const read = await call(client, "memory_read", { uri });
      assert.match(read.structuredContent.text, new RegExp(bird));
      const expanded = await call(client, "memory_expand", { uri });
      assert.ok(Array.isArray(expanded.structuredContent.turns));
      const resource = await client.readResource({ uri });
      assert.match(resource.contents[0].text, new RegExp(bird));
      assert.equal((await client.listResourceTemplates()).resourceTemplates[0].uriTemplate, "viking://{+path}");
      const gone = await call(client, "memory_forget", { uri });
      assert.equal(gone.structuredContent.uri, uri);
      assert.deepEqual((await call(client, "memory_search", { query: `${bird} tea` })).structuredContent.hits, []);
    }));

  test(`${way}: errors`, () =>
    within(transport(), async (client) => {
      const wrong = await call(client, "memory_recall", {});
      assert.equal(wrong.isError, true);
      assert.equal(wrong._meta["skald/error"].kind, "invalid");
      const missing = await call(client, "memory_expand", { uri: "viking://session/nowhere/turns/1" });
      assert.equal(missing.isError, true);
      assert.equal(missing._meta["skald/error"].code, "NOT_FOUND");
      const foreign = await call(client, "memory_read", { uri: "viking://user/eve/memories" });
      assert.equal(foreign._meta["skald/error"].code, "PERMISSION_DENIED");
      await assert.rejects(call(client, "memory_burn", {}), /memory_burn/);
      await assert.rejects(client.readResource({ uri: "viking://session/nowhere/turns/1" }), /not found/i);
    }));

  test(`${way}: two clients at once`, () =>
    within(transport(), (a) =>
      within(transport(), async (b) => {
        const facts = [...Array(8).keys()].map((n) => `The ${way} crane number ${n} nests in tower ${100 + n}.`);
        const stored = await Promise.all(facts.map((fact, n) => call(n % 2 ? a : b, "memory_store", { text: fact, type: "entities" })));
        assert.equal(new Set(stored.map((s) => s.structuredContent.uri)).size, facts.length);
        const [one, two] = await Promise.all([a, b].map((c) => call(c, "memory_search", { query: `${way} crane tower 103`, limit: 1 })));
        assert.match(text(one), /tower 103/);
        assert.equal(text(one), text(two));
      })));
}

test("http: no key, no answer", async () => {
  const transport = new StreamableHTTPClientTransport(new URL("/mcp", url));
  await assert.rejects(within(transport, () => {}), /401|key/i);
});

test("http: the agent of the header", () =>
  within(ways.http({ "X-OpenViking-Agent": "coder" }), async (client) => {
    const stored = await call(client, "memory_store", { text: "When the build of cranes fails, clean the cache.", type: "cases" });
    assert.match(stored.structuredContent.uri, /^viking:\/\/agent\/coder\//);
  }));
