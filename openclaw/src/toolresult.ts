// Long results of tools of the current session, by the reference that stands in the conversation.
import { createHash } from "node:crypto";
import type { Client, Deadline, Route } from "./client.js";
import { Fault } from "./fault.js";
import type { Address } from "./session.js";

type Params = Record<string, unknown>;

interface Page {
  content?: string;
  offset?: number;
  total_chars?: number;
  has_more?: boolean;
}

interface Match {
  offset?: number;
  snippet?: string;
}

interface Listed {
  tool_result_id?: string;
  tool_name?: string;
  original_chars?: number;
  output_uri?: string;
}

/** toolResult runs one of the three tools. Another session's results are refused. */
export async function toolResult(name: string, client: Client, session: Address, route: Route, params: Params, d: Deadline): Promise<{ text: string; details: unknown }> {
  const own = storedSession(session);
  const base = `/sessions/${encodeURIComponent(own)}/tool-results`;
  if (name.endsWith("_list")) return list(await client.api<{ tool_results?: Listed[] }>("GET", `${base}${query({ tool_name: params.tool_name, limit: params.limit })}`, undefined, route, d));
  const { id, of } = parseRef(String(params.tool_output_ref ?? ""));
  if (of !== own) throw new Fault("session_mismatch", "the reference belongs to another session");
  const path = `${base}/${encodeURIComponent(id)}`;
  if (name.endsWith("_read")) return page(await client.api<Page>("GET", `${path}${query({ offset: params.offset, limit: params.limit })}`, undefined, route, d));
  const wanted = { q: params.query, limit: params.limit, context_chars: params.context_chars };
  return matches(await client.api<{ matches?: Match[] }>("GET", `${path}/search${query(wanted)}`, undefined, route, d));
}

/** storedSession is the id under which a session is stored (001-010 to 001-012). */
export function storedSession(session: Address): string {
  const id = session.session_id?.trim() ?? "";
  const key = session.session_key?.trim() ?? "";
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return id.toLowerCase();
  if (key) return hash(key);
  if (!id) throw new Fault("invalid", "no session is known here");
  return /^[A-Za-z0-9_@.-]{1,128}$/.test(id) && /[^.]/.test(id) ? id : hash(`openclaw-session:${id}`);
}

const hash = (text: string) => createHash("sha256").update(text).digest("hex");

/** A reference in any of its spellings: of the session alone, of the user's own space, of the user by name. */
function parseRef(ref: string): { id: string; of: string } {
  const m = /^viking:\/\/(?:session|(?:~|user\/[^/]+)(?:\/agent\/[^/]+)?\/sessions)\/([^/]+)\/tool-results\/([^/]+)\/?$/.exec(ref.trim());
  if (!m) throw new Fault("invalid", `tool_output_ref has to be a reference such as viking://session/<id>/tool-results/<id>, not "${ref}"`);
  return { of: m[1]!, id: m[2]! };
}

function query(params: Params): string {
  const given = Object.entries(params).filter(([, v]) => v !== undefined && v !== null && v !== "");
  return given.length > 0 ? `?${new URLSearchParams(Object.fromEntries(given.map(([k, v]) => [k, String(v)])))}` : "";
}

function page(p: Page): { text: string; details: unknown } {
  const next = (p.offset ?? 0) + [...(p.content ?? "")].length;
  const more = p.has_more ? `\n\n(${next} of ${p.total_chars ?? "?"} characters; read on with offset ${next})` : "";
  return { text: (p.content ?? "") + more, details: { ...p, content: undefined, next_offset: p.has_more ? next : undefined } };
}

function matches(found: { matches?: Match[] }): { text: string; details: unknown } {
  const list = found.matches ?? [];
  return { text: list.length === 0 ? "Nothing found." : list.map((m) => `[at ${m.offset}] ${m.snippet}`).join("\n\n"), details: found };
}

function list(found: { tool_results?: Listed[] }): { text: string; details: unknown } {
  const all = found.tool_results ?? [];
  const lines = all.map((r) => `${r.output_uri ?? r.tool_result_id} (${r.tool_name}, ${r.original_chars} characters)`);
  return { text: lines.length === 0 ? "No long tool results in this session." : lines.join("\n"), details: found };
}
