// Whether the engine is in use on this host, and whether the host has what the engine needs.
import { pluginId } from "./build.js";
import type { PluginApi } from "./host.js";

/** The first OpenClaw that hands turns over durably (commitTurn), keeps the current one out of the transcript cursor, and has that cursor. */
export const oldestHost = "2026.8.1";

/** unused says why the engine is not in use (PLG-06); "" when the host has it selected. */
export function unused(api: PluginApi): string {
  if (!api.registerContextEngine) return "this host has no engine slot: recall through before_prompt_build";
  const selected = api.config?.plugins?.slots?.contextEngine ?? "legacy";
  return selected === pluginId ? "" : `not active: plugins.slots.contextEngine is "${selected}", not "${pluginId}"`;
}

/** lacking says what the host lacks for the engine to own the compaction; "" when nothing. A host that does not tell its version is believed. */
export function lacking(api: PluginApi): string {
  const version = api.runtime?.version ?? "";
  if (!older(version, oldestHost)) return "";
  return `OpenClaw ${version} is older than ${oldestHost} and does not hand turns over durably: compaction stays with the host; update OpenClaw`;
}

/** older compares versions of the form year.month.number; what is no such version is not older. */
export function older(version: string, than: string): boolean {
  const [a, b] = [version, than].map((v) => /^(\d+)\.(\d+)\.(\d+)/.exec(v)?.slice(1).map(Number));
  if (!a || !b) return false;
  const at = a.findIndex((n, i) => n !== b[i]);
  return at >= 0 && (a[at] as number) < (b[at] as number);
}

/** hostName is the host with its version, for people. */
export const hostName = (api: PluginApi): string => (api.runtime?.version ? `OpenClaw ${api.runtime.version}` : "OpenClaw");
