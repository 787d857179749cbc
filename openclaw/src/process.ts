// What one process shares. The host loads this module several times, so nothing may live in module variables: the copies meet here,
// for two things only: the daemon's start, and what was warned about already.
import type { ChildProcess } from "node:child_process";
import type { Logger } from "./host.js";

/** The state of one daemon address. */
export interface Link {
  /** The running or finished hello; gone after a failure. */
  hello?: Promise<unknown>;
  /** What the last hello failed with, and until when it is not tried again. */
  failure?: Error;
  quietUntil?: number;
  /** When this process last tried to start the daemon. */
  startedAt?: number;
  /** The daemon that this process started. */
  child?: ChildProcess;
  /** How many of the host's services want the daemon; absent where the host starts none (`agent --local`). */
  services?: number;
}

interface Warning {
  text: string;
  count: number;
  last: number;
}

/** What is known of a session's turns, since hooks and engine run in different copies. */
export interface Track {
  /** The daemon made the context of a turn that no run has claimed yet. */
  fresh: boolean;
  /** The newest run that was seen. */
  run?: string;
  /** Why the daemon could not make the context of the turn. */
  fault?: string;
  /** Newest turns that went past the engine, and why the last of them did. */
  missed: number;
  reason: string;
  /** It was said in the chat. */
  said: boolean;
}

interface Shared {
  links: Map<string, Link>;
  warnings: Map<string, Warning>;
  tracks?: Map<string, Track>;
}

const keptTracks = 1000;

const slot = Symbol.for("skald.openclaw.process.1");

function shared(): Shared {
  const g = globalThis as { [slot]?: Shared };
  return (g[slot] ??= { links: new Map(), warnings: new Map() });
}

/** link is the process-wide state of a daemon address. */
export function link(baseUrl: string): Link {
  const { links } = shared();
  const found = links.get(baseUrl) ?? {};
  links.set(baseUrl, found);
  return found;
}

/** track is what is known of a session's turns; the longest known gives way to new ones. */
export function track(session: string): Track {
  const tracks = (shared().tracks ??= new Map());
  const known = tracks.get(session) ?? { fresh: false, missed: 0, reason: "", said: false };
  tracks.set(session, known);
  for (const oldest of tracks.keys()) {
    if (tracks.size <= keptTracks) break;
    tracks.delete(oldest);
  }
  return known;
}

/** warnOnce logs a warning the first time only; later ones are counted for the status. */
export function warnOnce(log: Logger, key: string, text: string): void {
  const { warnings } = shared();
  const known = warnings.get(key);
  warnings.set(key, { text, count: (known?.count ?? 0) + 1, last: Date.now() });
  if (!known) log.warn(text);
}

/** settle forgets a warning when its cause is gone, so that a new occurrence is logged again. It tells whether there was one. */
export function settle(key: string): boolean {
  return shared().warnings.delete(key);
}

/** warnings lists what is wrong at present. */
export function warnings(): Warning[] {
  return [...shared().warnings.values()];
}
