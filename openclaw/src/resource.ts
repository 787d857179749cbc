// Imports of resources and skills: the source is sorted out here, all else is the daemon's (/api/v1).
import { type Client, type Route } from "./client.js";
import { Fault } from "./fault.js";
import { importDeadline, isRemote, localPath, upload, type Reach } from "./upload.js";
import { basename } from "node:path";

/** What is to be imported, and how. */
export interface ImportRequest {
  source?: string;
  /** A skill's SKILL.md as text, instead of a source. */
  data?: unknown;
  kind?: string;
  to?: string;
  parent?: string;
  reason?: string;
  instruction?: string;
  wait?: boolean;
  /** Seconds. */
  timeout?: number;
  /** Minutes; 0 or nothing: once. */
  watch_interval?: number;
}

interface Imported {
  root_uri?: string;
  name?: string;
  task_id?: string;
  auxiliary_files?: number;
  errors?: unknown[];
  warnings?: unknown[];
  installed?: Imported[];
}

export interface Report {
  text: string;
  details: Record<string, unknown>;
}

/** importSource imports one source and says what became of it. */
export async function importSource(client: Client, r: ImportRequest, route: Route, reach: Reach, signal?: AbortSignal): Promise<Report> {
  const source = r.source?.trim().replace(/^(["'])(.*)\1$/, "$2") ?? "";
  const skill = r.kind === "skill";
  if (r.kind !== undefined && r.kind !== "" && r.kind !== "skill" && r.kind !== "resource") throw new Fault("invalid", `kind is resource or skill, not "${r.kind}"`);
  if (r.to && r.parent) throw new Fault("invalid", "give `to` (the URI itself) or `parent` (the folder it goes into), not both");
  if (skill && r.data !== undefined && source) throw new Fault("invalid", "give a source or data, not both");
  if (!source && !(skill && r.data !== undefined)) throw new Fault("invalid", "say what to import: a file, a folder, a URL, or a Git address");
  const wait = r.wait === true;
  const d = importDeadline(client, wait, r.timeout, signal);
  const from = source && !isRemote(source) ? await localPath(source, reach) : undefined;
  const id = from && (await upload(client, from, route, d));
  const body = skill ? skillBody(r, source, id, wait) : resourceBody(r, source, id, wait, from && basename(from.path));
  const result = await client.api<Imported>("POST", skill ? "/skills" : "/resources", body, route, d);
  return report(source || "the skill", skill, wait, result ?? {});
}

const skillBody = (r: ImportRequest, source: string, id: string | undefined, wait: boolean) => ({
  ...(id ? { temp_file_id: id } : { data: r.data ?? source }),
  wait,
  ...given({ target_uri: r.to ?? r.parent }),
});

const resourceBody = (r: ImportRequest, source: string, id: string | undefined, wait: boolean, name?: string) => ({
  ...(id ? { temp_file_id: id, source_name: name } : { path: source }),
  wait,
  ...given({ to: r.to, parent: r.parent, reason: r.reason, instruction: r.instruction, watch_interval: r.watch_interval, timeout: wait ? r.timeout : undefined }),
});

const given = (all: Record<string, unknown>) => Object.fromEntries(Object.entries(all).filter(([, v]) => v !== undefined && v !== ""));

function report(source: string, skill: boolean, wait: boolean, result: Imported): Report {
  const list = result.installed ?? [result];
  const lines = list.map((one) => {
    if (skill) return `Stored the skill ${one.name ?? ""} as ${one.root_uri ?? "?"} (${one.auxiliary_files ?? 0} more file${one.auxiliary_files === 1 ? "" : "s"}).`;
    if (wait) return `Imported ${source} to ${one.root_uri ?? "?"}.`;
    return `The import of ${source} to ${one.root_uri ?? "?"} is under way${one.task_id ? ` (task ${one.task_id})` : ""}; it can be searched when it is done.`;
  });
  for (const one of list) {
    for (const w of [...(one.errors ?? []), ...(one.warnings ?? [])].slice(0, 10)) lines.push(`Note: ${typeof w === "string" ? w : JSON.stringify(w)}`);
  }
  return { text: lines.join("\n"), details: { action: wait || skill ? "imported" : "started", ...result } };
}
