// What one process shares. The host loads this module several times, so nothing may live in module variables: the copies meet here,
// for two things only: the daemon's start, and what was warned about already.
import type { ChildProcess } from "node:child_process";
import type { Logger } from "./host.js";

/** The state of one daemon address. */
export interface Link {
  /** The running or finished hello; gone after a failure. */
  hello?: Promise<unknown>;
  /** When the last hello failed, and with what. */
  failedAt?: number;
  failure?: Error;
  /** When this process last tried to start the daemon. */
  startedAt?: number;
  /** The daemon that this process started. */
  child?: ChildProcess;
}

interface Warning {
  text: string;
  count: number;
  last: number;
}

interface Shared {
  links: Map<string, Link>;
  warnings: Map<string, Warning>;
}

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
