// The requests to the daemon: address, key, headers, deadlines, errors.
import { join } from "node:path";
import { pluginVersion, protocolVersion } from "./build.js";
import { readTrimmed, resolveSecret, type Config } from "./config.js";
import { asFault, Fault } from "./fault.js";
import type { Logger } from "./host.js";
import { exchange, type Streamed } from "./http.js";
import { link, settle } from "./process.js";

export interface Handshake {
  name: string;
  version: string;
  protocol: number;
  min_protocol: number;
  instance: string;
  pid: number;
}

export interface Deadline {
  /** Moment (Date.now) at which the call must be over. */
  at: number;
  signal?: AbortSignal;
}

/** within is a deadline that many milliseconds from now. */
export const within = (ms: number, signal?: AbortSignal): Deadline => ({ at: Date.now() + ms, signal });
export const left = (d: Deadline) => d.at - Date.now();

/** What a request needs beside its body: the agent for the routing header, and ids for the log. */
export interface Route {
  session?: string;
  agent: string;
  /** Who speaks, where peer_role is "person". */
  peer?: string;
}

export class Client {
  constructor(
    readonly config: Config,
    readonly log: Logger,
    /** Makes sure that a daemon answers at the address. */
    private readonly ready: (d: Deadline) => Promise<Handshake | void>,
  ) {}

  /** call posts one request of /engine/v1 and returns the result, or throws a Fault within the deadline. */
  async call<T>(name: string, body: unknown, route: Route, d: Deadline): Promise<T> {
    const begun = Date.now();
    try {
      const result = await this.post(name, JSON.stringify(body), route, d);
      settle(`daemon ${this.config.baseUrl}`);
      this.trace(name, route, begun, result);
      return result as T;
    } catch (error) {
      const fault = asFault(error);
      this.trace(name, route, begun, fault);
      throw fault;
    }
  }

  /** api makes one request of OpenViking's API, /api/v1, and returns the result of its envelope, or throws a Fault within the deadline. */
  async api<T>(method: "GET" | "POST", path: string, body: object | Streamed | undefined, route: Route, d: Deadline): Promise<T> {
    const begun = Date.now();
    const name = path.replace(/\?.*/, "");
    try {
      const sent = body === undefined || "parts" in body ? (body as Streamed | undefined) : JSON.stringify(body);
      const answer = (await this.reach(name, d, () => this.send(method, `/api/v1${path}`, sent, route, d))) as { result?: unknown };
      this.trace(name, route, begun, answer.result);
      return answer.result as T;
    } catch (error) {
      this.trace(name, route, begun, asFault(error));
      throw error;
    }
  }

  private post(name: string, body: string, route: Route, d: Deadline): Promise<unknown> {
    return this.reach(name, d, () => this.send("POST", `/engine/v1/${name}`, body, route, d));
  }

  /** reach sends a request once the daemon answers, and once more when it was refused. */
  private async reach(name: string, d: Deadline, send: () => Promise<unknown>): Promise<unknown> {
    for (let again = false; ; again = true) {
      const daemon = await this.ready(d);
      try {
        return await send();
      } catch (error) {
        const { code } = asFault(error);
        if (code === "HTTP404") throw outdated(name, daemon?.version);
        // After a broken connection another program may have the port: say hello again before the next request.
        if (code && code !== "ETIMEDOUT") link(this.config.baseUrl).hello = undefined;
        // Refused means not delivered: the daemon has gone since its hello. Look for it, or start it, once more.
        if (again || code !== "ECONNREFUSED") throw error;
      }
    }
  }

  /** get reads one of the daemon's resources. */
  async get<T>(path: string, route: Route, d: Deadline): Promise<T> {
    return (await this.send("GET", path, undefined, route, d)) as T;
  }

  private async send(method: "GET" | "POST", path: string, body: string | Streamed | undefined, route: Route, d: Deadline): Promise<unknown> {
    const headers = this.headers(route);
    if (path.startsWith("/api/")) Object.assign(headers, peerHeader(this.config, route));
    const timeoutMs = left(d);
    if (timeoutMs <= 0) throw new Fault("unavailable", "the time for this call is used up", "ETIMEDOUT");
    const { status, text } = await exchange({ method, url: this.config.baseUrl + path, headers, body, timeoutMs, signal: d.signal });
    const parsed = parse(text);
    if (status >= 200 && status < 300 && parsed !== undefined) return parsed;
    throw failure(status, parsed);
  }

  private headers(route: Route): Record<string, string> {
    const { config } = this;
    const headers: Record<string, string> = { "x-skald-protocol": String(protocolVersion), "x-openviking-agent": route.agent };
    const key = resolveSecret(config.apiKey) ?? (config.mode === "local" ? readTrimmed(join(config.dataDir, "key")) : undefined);
    if (key) headers.authorization = `Bearer ${key}`;
    if (config.accountId) headers["x-openviking-account"] = config.accountId;
    if (config.userId) headers["x-openviking-user"] = config.userId;
    for (const [name, value] of Object.entries(config.headers)) headers[name.toLowerCase()] = value;
    return headers;
  }

  /** Routing, ids and time for logFindRequests; never any text of the conversation. */
  private trace(name: string, route: Route, begun: number, result: unknown): void {
    if (!this.config.logFindRequests) return;
    const r = result as Record<string, unknown>;
    const ids = ["kind", "status", "turn_id", "session_id", "stored", "imported"]
      .filter((k) => r?.[k] !== undefined && r[k] !== "")
      .map((k) => `${k}=${String(r[k])}`);
    const session = route.session ? `session=${route.session}` : "session=-";
    this.log.info(["skald:", name, session, `agent=${route.agent}`, `${Date.now() - begun}ms`, ...ids].join(" "));
  }
}

/** The view of one peer (spec of peer_role): the agent's, or the sender's. Sessions have none, and a header that is configured wins. */
function peerHeader(config: Config, route: Route): Record<string, string> {
  const name = "x-openviking-actor-peer";
  if (config.peerRole === "none" || Object.keys(config.headers).some((h) => h.toLowerCase() === name)) return {};
  const id = (config.peerRole === "person" ? (route.peer ?? "") : route.agent).replace(/[^A-Za-z0-9_-]+/g, "_").replace(/^_+|_+$/g, "");
  return id ? { [name]: id.slice(0, 128) } : {};
}

/** hello recognises a daemon by its handshake. It is sent without the key: another program may have the port. */
export async function hello(config: Config, agent: string, timeoutMs: number): Promise<Handshake> {
  const headers = { "x-skald-protocol": String(protocolVersion), "x-openviking-agent": agent };
  const { status, text } = await exchange({ method: "GET", url: `${config.baseUrl}/engine/v1/handshake`, headers, timeoutMs });
  const h = parse(text) as Partial<Handshake> | undefined;
  if (status !== 200 || h?.name !== "skald") {
    throw new Fault("not_skald", `another program answers at ${config.baseUrl} (HTTP ${status}), not a skald daemon`);
  }
  const problem = mismatch(h as Handshake, config);
  if (problem) throw new Fault("protocol", problem);
  return h as Handshake;
}

/** mismatch says what to do when daemon and plugin are more than one protocol apart (PLG-09); "" when they fit. */
function mismatch(h: Handshake, config: Config): string {
  const [low, high] = [h.min_protocol ?? 0, h.protocol ?? 0];
  const both = `skald ${h.version} at ${config.baseUrl} speaks protocol ${high}, the plugin ${pluginVersion} speaks ${protocolVersion}`;
  if (low > protocolVersion) return `${both}: the plugin is too old. Update it with \`skald openclaw install\` and restart the gateway`;
  if (high >= protocolVersion - 1) return "";
  const restart = config.mode === "local" ? "end the old daemon and restart the gateway" : "restart it with `skald serve`";
  return `${both}: skald is too old. Install skald ${pluginVersion} or later and ${restart}`;
}

/** outdated is a request that an older daemon does not know: that feature is missing, the others work. */
const outdated = (name: string, version = "(unknown version)") =>
  new Fault("unavailable", `skald ${version} is too old for "${name}": install skald ${pluginVersion} or later and restart it`, "HTTP404");

function failure(status: number, parsed: unknown): Fault {
  const error = (parsed as { error?: { kind?: unknown; code?: unknown; message?: unknown; field?: unknown } } | undefined)?.error;
  const noRoute = status === 404 && (!error || error.message === "Not Found");
  if (noRoute) return new Fault("unavailable", "the daemon does not know this request; is it too old?", "HTTP404");
  if (error && typeof error.kind === "string") {
    const field = typeof error.field === "string" && error.field ? ` (${error.field})` : "";
    return new Fault(error.kind, `${String(error.message ?? error.kind)}${field}`);
  }
  if (error && typeof error.code === "string" && status !== 401) return new Fault(error.code.toLowerCase(), String(error.message ?? error.code));
  if (status === 401 || status === 403) return new Fault("unauthorized", `the daemon refused the key (HTTP ${status}); check apiKey`);
  return new Fault("unavailable", `the daemon answered HTTP ${status} without a usable body`, `HTTP${status}`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
