// Configuration. Old and new files alike start the plugin: what is wrong is named in a problem, and its default used.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { pluginId } from "./build.js";
import { aliases, keys, type Key } from "./keys.js";
import { nearest } from "./nearest.js";
import type { Store } from "./store.js";

/** Source of a secret: text, or where to find it when it is needed. */
export type Secret = string | { source: "env" | "file"; id: string } | undefined;

export interface Config {
  mode: "local" | "remote";
  port: number;
  baseUrl: string;
  apiKey: Secret;
  dataDir: string;
  binary?: string;
  autoStart: boolean;
  /** Port of a local daemon in front of an OpenViking server, and that server once it is known. */
  storePort: number;
  store?: Store;
  timeoutMs: number;
  headers: Record<string, string>;
  agentId?: string;
  prefix: string;
  person: boolean;
  peerRole: "assistant" | "person" | "none";
  accountId?: string;
  userId?: string;
  bypass: string[];
  tools: "default" | "all";
  enabledTools: string[];
  disabledTools: string[];
  /** Import tools for the model: undefined leaves it to `tools` and the build. */
  importTools?: boolean;
  logFindRequests: boolean;
  autoRecall: boolean;
  recallTokenBudget: number;
  /** Settings for the daemon: only what is configured. */
  settings: Record<string, unknown>;
  /** What was wrong, one sentence each. */
  problems: string[];
}

type Env = Record<string, string | undefined>;

/** parseConfig reads the plugin's configuration. It never throws. */
export function parseConfig(input: unknown, env: Env = process.env): Config {
  const problems: string[] = [];
  const given = merged(input, env, problems);
  const read = (name: string) => value(name, given, problems);
  for (const name of Object.keys(given)) unknownKey(name, problems);

  const baseUrl = str(read("baseUrl")) ?? (pluginId === "openviking" ? (env.OPENVIKING_BASE_URL ?? env.OPENVIKING_URL) : undefined);
  const mode = (read("mode") as Config["mode"] | undefined) ?? (baseUrl ? "remote" : "local");
  const port = read("port") as number;
  if (mode === "remote" && !baseUrl) problems.push(`mode is "remote" but baseUrl is missing; using http://127.0.0.1:${port}`);
  const settings = daemonSettings(given, read);
  return {
    mode,
    port,
    baseUrl: mode === "remote" && baseUrl ? url(expand(baseUrl, env), port, problems) : `http://127.0.0.1:${port}`,
    apiKey: secret(read("apiKey"), env, problems),
    dataDir: home(str(read("dataDir")) ?? env.SKALD_DATA ?? join(homedir(), ".skald")),
    binary: optionalHome(str(read("binary"))),
    autoStart: read("autoStart") as boolean,
    storePort: given.port === undefined || given.port === null ? 1934 : port,
    timeoutMs: read("timeoutMs") as number,
    headers: (read("headers") as Record<string, string> | undefined) ?? {},
    agentId: str(read("agentId")),
    prefix: prefix(str(read("agent_prefix"))),
    person: read("peer_role") === "person",
    peerRole: read("peer_role") as Config["peerRole"],
    accountId: str(read("accountId")) ?? old(env, "OPENVIKING_ACCOUNT_ID"),
    userId: str(read("userId")) ?? old(env, "OPENVIKING_USER_ID"),
    bypass: (read("bypassSessionPatterns") as string[] | undefined) ?? [],
    tools: read("tools") as Config["tools"],
    enabledTools: (read("enabledTools") as string[] | undefined) ?? [],
    disabledTools: (read("disabledTools") as string[] | undefined) ?? [],
    importTools: read("enableAddResourceTool") as boolean | undefined,
    logFindRequests: read("logFindRequests") as boolean,
    autoRecall: settings.autoRecall !== false,
    recallTokenBudget: (settings.recallTokenBudget as number | undefined) ?? 2000,
    settings,
    problems: [...new Set(problems)],
  };
}

/** The given object over the file of configPath, aliases resolved. */
function merged(input: unknown, env: Env, problems: string[]): Record<string, unknown> {
  const own = isObject(input) ? input : {};
  if (input !== undefined && input !== null && !isObject(input)) problems.push("the configuration is not an object; using the defaults");
  const path = str(own.configPath);
  const all = path ? { ...fromFile(home(expand(path, env)), problems), ...own } : { ...own };
  for (const [name, canonical] of Object.entries(aliases)) {
    if (all[name] !== undefined && all[canonical] === undefined) all[canonical] = all[name];
  }
  return all;
}

function fromFile(path: string, problems: string[]): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (isObject(parsed)) return parsed;
    problems.push(`configPath ${path} does not hold a JSON object; ignored`);
  } catch (error) {
    problems.push(`configPath ${path} cannot be read (${(error as Error).message.split("\n")[0]}); ignored`);
  }
  return {};
}

/** The checked value of a key, or its default. */
function value(name: string, given: Record<string, unknown>, problems: string[]): unknown {
  const key = keys[name] as Key;
  const raw = given[name];
  if (raw === undefined || raw === null) return key.default;
  const wrong = mismatch(key, raw);
  if (!wrong) return key.type === "strings" ? list(raw) : raw;
  problems.push(`${name} ${wrong}; ${key.default === undefined ? "ignored" : `using ${JSON.stringify(key.default)}`}`);
  return key.default;
}

function mismatch(key: Key, raw: unknown): string {
  switch (key.type) {
    case "boolean":
      return typeof raw === "boolean" ? "" : "must be true or false";
    case "number":
      if (typeof raw !== "number" || !Number.isFinite(raw)) return "must be a number";
      return raw < (key.min ?? raw) || raw > (key.max ?? raw) ? `must be from ${key.min} to ${key.max}` : "";
    case "string":
      if (typeof raw !== "string") return "must be text";
      return key.values && !key.values.includes(raw) ? `must be one of ${key.values.join(", ")}` : "";
    case "strings":
      return typeof raw === "string" || (Array.isArray(raw) && raw.every((v) => typeof v === "string")) ? "" : "must be a list of texts";
    case "object":
      return isObject(raw) && Object.values(raw).every((v) => typeof v === "string") ? "" : "must be an object of texts";
    default:
      return "";
  }
}

function unknownKey(name: string, problems: string[]): void {
  if (keys[name] || name.startsWith("ingestReplyAssist")) return;
  const close = nearest(name, Object.keys(keys));
  problems.push(`unknown key "${name}"${close ? ` (did you mean "${close}"?)` : ""}; ignored`);
}

function daemonSettings(given: Record<string, unknown>, read: (name: string) => unknown): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  for (const [name, key] of Object.entries(keys)) {
    if (!key.setting || given[name] === undefined) continue;
    const v = read(name);
    if (v !== undefined) settings[name] = key.type === "number" && key.max !== 1 ? Math.floor(v as number) : v;
  }
  const chars = read("recallMaxInjectedChars");
  if (typeof chars === "number" && settings.recallTokenBudget === undefined) settings.recallTokenBudget = Math.ceil(chars / 4);
  return settings;
}

function secret(raw: unknown, env: Env, problems: string[]): Secret {
  if (raw === undefined) return env.SKALD_API_KEY || old(env, "OPENVIKING_API_KEY");
  if (typeof raw === "string") return expand(raw, env).trim() || env.SKALD_API_KEY || undefined;
  if (isObject(raw) && (raw.source === "env" || raw.source === "file") && typeof raw.id === "string") return { source: raw.source, id: raw.id };
  problems.push("apiKey must be text or {source: env|file, id}; ignored");
  return undefined;
}

/** resolveSecret reads the secret at the time of use. */
export function resolveSecret(s: Secret, env: Env = process.env): string | undefined {
  if (s === undefined || typeof s === "string") return s;
  if (s.source === "env") return env[s.id]?.trim() || undefined;
  return readTrimmed(home(s.id));
}

/** readTrimmed is a file's text without white space around it, or undefined. */
export function readTrimmed(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}

function url(text: string, port: number, problems: string[]): string {
  try {
    const parsed = new URL(text);
    if (parsed.protocol === "http:" || parsed.protocol === "https:") return text.replace(/\/+$/, "");
  } catch {
    // named below
  }
  problems.push(`baseUrl is not an http or https URL; using http://127.0.0.1:${port}`);
  return `http://127.0.0.1:${port}`;
}

const isObject = (v: unknown): v is Record<string, unknown> => typeof v === "object" && v !== null && !Array.isArray(v);
const str = (v: unknown): string | undefined => (typeof v === "string" && v.trim() ? v.trim() : undefined);
const old = (env: Env, name: string) => (pluginId === "openviking" ? str(env[name]) : undefined);
const list = (v: unknown) => (Array.isArray(v) ? (v as string[]) : String(v).split(/[,\n]/)).map((s) => s.trim()).filter(Boolean);
const prefix = (v: string | undefined) => (v === undefined || v === "default" ? "" : v);
const expand = (v: string, env: Env) => v.replace(/\$\{(\w+)\}/g, (_, name: string) => env[name] ?? "");
const home = (path: string) => (path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path);
const optionalHome = (path: string | undefined) => (path === undefined ? undefined : home(path));
