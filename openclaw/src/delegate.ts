// A bypassed session is none of ours, but the slot is: its compaction goes to the host's own.
import type { CompactParams, CompactResult } from "./host.js";
import { asFault } from "./fault.js";

/** delegate lets the host compact the session as if no engine were there. */
export async function delegate(params: CompactParams): Promise<CompactResult> {
  try {
    const { delegateCompactionToRuntime } = await import("openclaw/plugin-sdk/core");
    return await delegateCompactionToRuntime(params);
  } catch (error) {
    return { ok: false, compacted: false, reason: `skald: this session is bypassed, and the host did not compact it: ${asFault(error).message}` };
  }
}
