// Delivering what the host's transcript has and the daemon lacks: page by page, each with the cursor after it.
import { withoutCommands } from "./command.js";
import type { ReadTranscript, SessionTarget, TranscriptEntry } from "./host.js";

export interface Page {
  entries: { entry_id: string; position?: number; reset?: boolean; message: unknown }[];
  cursor: string;
  reset: boolean;
}

const maxBytes = 64 * 1024 * 1024; // the host's cap for one page

/** loadReader finds the host's transcript cursor; an older host has none. */
export async function loadReader(): Promise<ReadTranscript | undefined> {
  try {
    return (await import("openclaw/plugin-sdk/session-transcript-runtime")).readSessionTranscriptVisibleMessageDelta;
  } catch {
    return undefined;
  }
}

/** resetEntries are the entries that the host was reset just before. Its cursor does not show resets, its list of events does. */
export async function resetEntries(target: SessionTarget): Promise<Set<string>> {
  const found = new Set<string>();
  const { agentId, sessionKey, sessionId, storePath } = target;
  try {
    const { readSessionTranscriptEvents } = await import("openclaw/plugin-sdk/session-transcript-runtime");
    let reset = false;
    for (const event of await readSessionTranscriptEvents({ agentId, sessionKey, sessionId, storePath })) {
      if (event.type === "reset") reset = true;
      if (event.type !== "message" || !reset) continue;
      if (event.id) found.add(event.id);
      reset = false;
    }
  } catch {
    // an older host; assemble shows most resets as well
  }
  return found;
}

/** pages reads the transcript from the cursor on. It ends quietly when the host cannot read it now. */
export async function* pages(read: ReadTranscript, target: SessionTarget, cursor?: string): AsyncGenerator<Page> {
  const { agentId, sessionKey, sessionId, storePath } = target;
  if (!agentId || !sessionKey || !sessionId) return;
  let reset = cursor === undefined;
  let bytes: number | undefined;
  for (let resets = 0; resets < 3; ) {
    const page = await read({ agentId, sessionKey, sessionId, storePath, cursor, maxBytes: bytes });
    if (page.kind === "reset") {
      [cursor, reset] = [page.cursor, true];
      resets++;
      continue;
    }
    if (page.kind !== "page") return;
    if (page.entries.length === 0 && page.requiredBytes && !bytes) {
      bytes = Math.min(maxBytes, page.requiredBytes); // one entry is larger than a page
      continue;
    }
    if (page.entries.length > 0 || page.cursor !== cursor) {
      yield { entries: withoutCommands(page.entries, (e) => e.message).map(entry), cursor: page.cursor, reset };
      reset = false;
    }
    if (!page.hasMore || page.cursor === cursor) return;
    [cursor, bytes] = [page.cursor, undefined];
  }
}

/** The cursor counts messages from 1; the position that commitTurn's anchors give counts from 0. */
const entry = (e: TranscriptEntry): Page["entries"][number] => ({
  entry_id: e.entryId,
  position: typeof e.seq === "number" && e.seq > 0 ? e.seq - 1 : undefined,
  message: e.message as unknown,
});
