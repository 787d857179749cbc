/** Fault is a failed request to the daemon: the daemon's own error, or why it could not be asked. */
export class Fault extends Error {
  constructor(
    readonly kind: string,
    message: string,
    /** The network's code, as ECONNREFUSED. */
    readonly code = "",
  ) {
    super(message);
    this.name = "Fault";
  }
}

/** asFault makes any thrown thing a Fault. */
export function asFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const e = error as { message?: unknown; code?: unknown } | null;
  return new Fault("internal", String(e?.message ?? error), typeof e?.code === "string" ? e.code : "");
}
