// A fake daemon over HTTP and a fake host.
import http from "node:http";
import type { AddressInfo } from "node:net";
import type * as host from "../src/host.js";

export interface Seen {
  name: string;
  headers: http.IncomingHttpHeaders;
  text: string;
  body: any;
  bytes: Buffer;
}

type Answer = { status?: number; body?: unknown; raw?: string; delayMs?: number };

/** FakeDaemon records every request and answers from a table. */
export class FakeDaemon {
  port = 0;
  seen: Seen[] = [];
  answers: Record<string, (body: any) => Answer> = {};
  private server = http.createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (c: Buffer) => chunks.push(c));
    req.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      const name = (req.url ?? "").replace("/engine/v1/", "");
      const json = req.headers["content-type"] === "application/json";
      const body = text && json ? JSON.parse(text) : undefined;
      this.seen.push({ name, headers: req.headers, text, body, bytes: Buffer.concat(chunks) });
      const { status = 200, body: result, raw, delayMs = 0 }: Answer = (this.answers[name] ?? defaults[name] ?? (() => ({ status: 404, raw: "no such route" })))(body);
      const timer = setTimeout(() => {
        res.writeHead(status, { "content-type": "application/json" });
        res.end(raw ?? JSON.stringify(result ?? {}));
      }, delayMs);
      res.on("close", () => clearTimeout(timer));
    });
  });

  async start(port = 0): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(port, "127.0.0.1", resolve));
    this.port = (this.server.address() as AddressInfo).port;
    return this;
  }
  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
  named(name: string): Seen[] {
    return this.seen.filter((s) => s.name === name);
  }
}

const handshake = { name: "skald", version: "1.2.3", protocol: 1, min_protocol: 1, instance: "i1", pid: 1 };
const defaults: FakeDaemon["answers"] = {
  handshake: () => ({ body: handshake }),
  bootstrap: () => ({ body: { session_id: "s", last_seq: 0, epoch: 1 } }),
  reconcile: (b) => ({ body: { imported: b.entries.length, known: 0, last_seq: b.entries.length } }),
  assemble: (b) => ({ body: { messages: b.tail, estimated_tokens: 100, turn_id: b.turn_id } }),
  commit_turn: (b) => ({ body: { status: "committed", session_id: "s", from: 1, to: b.messages.length, stored: b.messages.length } }),
  after_turn: () => ({ body: { status: "committed", stored: 1 } }),
  ingest: (b) => ({ body: { status: "committed", stored: b.messages.length } }),
  compact: () => ({ body: { ok: true, compacted: true, summary: "sum", first_kept_entry_id: "e7", tokens_before: 900, tokens_after: 300, checkpoint: { id: "c" } } }),
  event: () => ({ body: {} }),
  subagent_prepare: () => ({ body: {} }),
  subagent_rollback: () => ({ body: {} }),
  subagent_ended: () => ({ body: {} }),
  command: (b) => ({ body: { text: `answer to ${b.line}` } }),
  tool: (b) => ({ body: { text: `result of ${b.tool}`, details: { n: 1 } } }),
};
export const defaultHandshake = handshake;

/** FakeHost is an OpenClaw that records what a plugin registers. */
export class FakeHost implements host.PluginApi {
  id = "skald";
  registrationMode = "full";
  lines: string[] = [];
  tools = new Map<string, (ctx: host.ToolContext) => host.Tool>();
  hooks = new Map<string, host.HookHandler>();
  engines = new Map<string, host.EngineFactory>();
  commands = new Map<string, host.Command>();
  config: host.PluginApi["config"];
  runtime: host.PluginApi["runtime"];
  services: host.Service[] = [];
  methods = new Map<string, (call: host.GatewayCall) => void | Promise<void>>();
  logger: host.Logger = { debug: (m) => this.say("debug", m), info: (m) => this.say("info", m), warn: (m) => this.say("warn", m), error: (m) => this.say("error", m) };
  registerContextEngine?: (id: string, factory: host.EngineFactory) => void = (id, factory) => void this.engines.set(id, factory);

  constructor(
    public pluginConfig?: Record<string, unknown>,
    public rootDir?: string,
  ) {}

  registerTool(tool: (ctx: host.ToolContext) => host.Tool, opts?: { name?: string }): void {
    this.tools.set(opts?.name ?? "", tool);
  }
  on(hook: string, handler: host.HookHandler): void {
    this.hooks.set(hook, handler);
  }
  registerService(service: host.Service): void {
    this.services.push(service);
  }
  registerCommand(command: host.Command): void {
    this.commands.set(command.name, command);
  }
  registerGatewayMethod(name: string, handler: (call: host.GatewayCall) => void | Promise<void>): void {
    this.methods.set(name, handler);
  }
  get warnings(): string[] {
    return this.lines.filter((l) => l.startsWith("warn"));
  }
  async engine(): Promise<host.ContextEngine> {
    const [factory] = this.engines.values();
    if (!factory) throw new Error("no engine registered");
    return factory({});
  }
  private say(level: string, message: string): void {
    this.lines.push(`${level} ${message}`);
  }
}

/** A process starts with nothing warned about and no daemon known. */
export function freshProcess(): void {
  delete (globalThis as Record<symbol, unknown>)[Symbol.for("skald.openclaw.process.1")];
}

export const session = { sessionId: "370fa037-2f18-4426-ac68-6cd12f2ded9c", sessionKey: "agent:main:g1" };
export const user = (content: string, timestamp = 1) => ({ role: "user", content, timestamp });
export const assistant = (text: string) => ({ role: "assistant", content: [{ type: "text", text }], timestamp: 2 });
export const anchor = (n: number) => ({ entryId: `e${n}`, rawSeq: n, activeMessagePosition: n, agentId: "main", storePath: "/x" });

/** until waits for something that happens in the background. */
export async function until(what: () => boolean, ms = 3000): Promise<void> {
  const end = Date.now() + ms;
  while (!what()) {
    if (Date.now() > end) throw new Error("it did not happen in time");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
