// Turns that went past the engine: another agent runtime ran them, the host fell back to its own engine, or the daemon could not be asked.
// They are told to the daemon for its status, once per gap to the log, and on channels to the people there (docs/runtimes.md).
import type { Client } from "./client.js";
import { hint } from "./hooks.js";
import type { PluginApi, ReplyEvent, ReplyResult } from "./host.js";
import { settle, track, warnOnce } from "./process.js";
import { bypassed, type Where } from "./session.js";
import { unused } from "./slot.js";

const nameOf = (where: Where) => where.sessionKey ?? where.sessionId ?? "";
const notCalled = "the host ran it without the engine: another agent runtime, or its own fallback";

/** served notes that the daemon made the context of a turn that now begins. */
export function served(where: Where): void {
  const t = track(nameOf(where));
  if (t.missed > 0) settle(`bypass ${nameOf(where)}`);
  Object.assign(t, { fresh: true, fault: undefined, missed: 0, said: false });
}

/** stored notes that a turn was handed over whose context was not asked for: a CLI backend's. It is kept, so it did not go past the engine. */
export function stored(where: Where): void {
  Object.assign(track(nameOf(where)), { fresh: true, fault: undefined, missed: 0 });
}

/** failed notes why the daemon could not make it. */
export function failed(where: Where, reason: string): void {
  Object.assign(track(nameOf(where)), { fresh: false, fault: reason });
}

/** missed is how many of a session's newest turns went past the engine, and why. */
export function missed(where: Where): { missed: number; reason: string } {
  const { missed, reason } = track(nameOf(where));
  return { missed, reason };
}

/** registerBypassNotice watches the host's runs through two hooks that need no permission and show no text of the conversation to us. */
export function registerBypassNotice(api: PluginApi, client: Client): void {
  const ran = (where: Where, run: string | undefined): boolean => {
    const name = nameOf(where);
    if (!name || !run || unused(api) || bypassed(client.config, where) || name.includes("internal-session-effects:")) return false;
    const t = track(name);
    if (t.run === run) return t.missed > 0;
    t.run = run;
    const past = !t.fresh;
    t.fresh = false;
    if (!past) return false;
    t.missed++;
    t.reason = t.fault ?? notCalled;
    t.fault = undefined;
    warnOnce(client.log, `bypass ${name}`, `skald: a turn of session ${name} went past Skald: ${t.reason}`);
    void hint(client, "bypassed", where, t.reason);
    return true;
  };
  api.on("model_call_started", (event) => void ran(event, event.runId));
  api.on("reply_payload_sending", (event) => notice(event as ReplyEvent, ran));
}

/** Only an agent's last words carry usageState: answers of commands and passing notes do not. The text goes to the chat, not to the transcript. */
function notice(event: ReplyEvent, ran: (where: Where, run?: string) => boolean): ReplyResult | undefined {
  const text = event.payload?.text;
  if (event.kind !== "final" || !event.usageState || !text || !ran({ ...event.usageState, ...event }, event.runId)) return undefined;
  const t = track(nameOf(event));
  if (t.said) return undefined;
  t.said = true;
  return { payload: { ...event.payload, text: `${text}\n\n(Skald was not used for this answer: ${t.reason}. /skald status tells more.)` } };
}
