// Which session and agent a call is about, in the daemon's words.
import type { Route } from "./client.js";
import type { Config } from "./config.js";
import type { SessionTarget } from "./host.js";

/** Skald's SessionAddress. */
export interface Address {
  session_id?: string;
  session_key?: string;
  agent_id?: string;
  lifecycle?: string;
  sender_id?: string;
}

/** What the host's calls, hooks and tools tell of a session. */
export interface Where {
  sessionId?: string;
  sessionKey?: string;
  agentId?: string;
  sessionTarget?: SessionTarget;
  senderId?: string;
}

/** address names the session for the daemon. */
export function address(config: Config, where: Where): Address {
  const target = where.sessionTarget;
  return {
    session_id: where.sessionId ?? target?.sessionId,
    session_key: where.sessionKey ?? target?.sessionKey,
    agent_id: agentOf(config, where),
    lifecycle: target?.expectedLifecycleRevision,
    sender_id: config.person ? where.senderId : undefined,
  };
}

/** request is what every request to the daemon carries. */
export function request(config: Config, session: Address): { session: Address; settings: Record<string, unknown> } {
  return { session, settings: config.settings };
}

/** route is the address for headers and log. */
export function route(session: Address): Route {
  return { session: session.session_id ?? session.session_key, agent: session.agent_id ?? "main" };
}

/** agentOf is the agent of the session key, else the host's, else the configured one, else main; with the prefix before it. */
export function agentOf(config: Config, where: Where): string {
  const key = where.sessionKey ?? where.sessionTarget?.sessionKey ?? "";
  const named = /^agent:([^:]+):/.exec(key)?.[1] ?? where.agentId ?? where.sessionTarget?.agentId ?? config.agentId ?? "main";
  return clean(config.prefix ? `${config.prefix}_${named}` : named);
}

/** defaultAgent stands where no session is known, as in the handshake. */
export const defaultAgent = (config: Config) => agentOf(config, {});

/** An agent's id ends up in headers and URIs. */
function clean(id: string): string {
  const safe = id.replace(/[^A-Za-z0-9_-]+/g, "_").replace(/_{2,}/g, "_").replace(/^_|_$/g, "");
  return safe.slice(0, 128) || "main";
}

/** bypassed tells whether the session is to be left alone: * is any run without a colon, ** anything. */
export function bypassed(config: Config, where: Where): boolean {
  const name = where.sessionKey || where.sessionTarget?.sessionKey || where.sessionId;
  return !!name && config.bypass.some((pattern) => glob(pattern).test(name));
}

function glob(pattern: string): RegExp {
  const source = pattern.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replace(/\*\*|\*/g, (star) => (star === "**" ? "[\\s\\S]*" : "[^:]*"));
  return new RegExp(`^${source}$`);
}
