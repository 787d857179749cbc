// Bootstrap's import: a few pages before the turn, the rest while the model works.
import { left, type Client, type Deadline } from "./client.js";
import { within } from "./client.js";
import { asFault, Fault } from "./fault.js";
import type { ReadTranscript, SessionTarget } from "./host.js";
import { warnOnce } from "./process.js";
import { request, route, type Address } from "./session.js";
import { pages, type Page } from "./transcript.js";
import type { ReconcileAnswer } from "./wire.js";

const pagesBefore = 3;
const pageMs = 10_000;

/** Import delivers one session's transcript. */
export class Import {
  imported = 0;
  private stopped = false;
  private resets?: Promise<Set<string>>;
  private rest: Promise<void> = Promise.resolve();

  constructor(
    private readonly client: Client,
    private readonly session: Address,
    /** Where resets stand, when the daemon has not seen the newest one. */
    private readonly loadResets?: () => Promise<Set<string>>,
  ) {}

  /** begin delivers the first pages within the deadline and leaves the others to the background. */
  async begin(read: ReadTranscript, target: SessionTarget, cursor: string | undefined, d: Deadline): Promise<void> {
    const source = pages(read, target, cursor);
    const first = this.deliver(source, pagesBefore);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(true), Math.max(0, left(d)))));
    this.rest = first.then((more) => (more ? this.deliver(source, Number.POSITIVE_INFINITY) : false)).then(
      () => {},
      (error: unknown) => warnOnce(this.client.log, "import", `skald: reading the host's transcript failed: ${asFault(error).message}; it is tried again at the next turn`),
    );
    await Promise.race([first.catch(() => false), late]);
    clearTimeout(timer);
  }

  /** settled waits for the import, at most so long: what is committed next comes after it. */
  async settled(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([this.rest, new Promise((resolve) => (timer = setTimeout(resolve, ms)))]);
    clearTimeout(timer);
  }

  /** stop ends the import after its current page; the next bootstrap goes on from the stored cursor. */
  stop(): void {
    this.stopped = true;
  }

  private async deliver(source: AsyncGenerator<Page>, most: number): Promise<boolean> {
    for (let n = 0; n < most; n++) {
      if (this.stopped) return false;
      const next = await source.next();
      if (next.done) return false;
      const { entries, cursor, reset } = next.value;
      if (entries.length > 0) this.resets ??= this.loadResets?.();
      const resets = await this.resets;
      for (const entry of entries) if (resets?.has(entry.entry_id)) entry.reset = true;
      const body = { ...request(this.client.config, this.session), entries, cursor, reset };
      const answer = await this.client.call<ReconcileAnswer>("reconcile", body, route(this.session), within(pageMs));
      if (typeof answer.imported !== "number") throw new Fault("internal", "reconcile gave no count");
      this.imported += answer.imported;
    }
    return true;
  }
}
