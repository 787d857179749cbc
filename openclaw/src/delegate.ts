// A bypassed session is none of ours, but the slot is: its compaction goes to the host's own.
import type { CompactParams, CompactResult } from "./host.js";
import { asFault } from "./fault.js";

/** delegate lets the host compact the session as if no engine were there. It needs its own configuration back, to find its model. */
export async function delegate(params: CompactParams, hostConfig: unknown): Promise<CompactResult> {
  try {
    const { delegateCompactionToRuntime } = await import("openclaw/plugin-sdk/core");
    return await delegateCompactionToRuntime({ ...params, runtimeContext: { config: hostConfig, ...params.runtimeContext } });
  } catch (error) {
    return { ok: false, compacted: false, reason: `skald: this session is bypassed, and the host did not compact it: ${asFault(error).message}` };
  }
}
