// A bypassed session is none of ours, but the slot is: its compaction goes to the host's own.
import type { CompactParams, CompactResult } from "./host.js";
import { asFault } from "./fault.js";

/** delegate lets the host compact the session as if no engine were there. It needs its own configuration back, and its model. */
export async function delegate(params: CompactParams, hostConfig: unknown): Promise<CompactResult> {
  try {
    const { delegateCompactionToRuntime } = await import("openclaw/plugin-sdk/core");
    const runtimeContext = { config: hostConfig, ...primaryModel(hostConfig), ...params.runtimeContext };
    return await delegateCompactionToRuntime({ ...params, runtimeContext });
  } catch (error) {
    return { ok: false, compacted: false, reason: `skald: this session is bypassed, and the host did not compact it: ${asFault(error).message}` };
  }
}

/** The default model, as "provider/model". The session's own is in runtimeContext, which is not asked for. */
function primaryModel(hostConfig: unknown): { provider?: string; model?: string } {
  const model = (hostConfig as { agents?: { defaults?: { model?: string | { primary?: string } } } } | undefined)?.agents?.defaults?.model;
  const name = typeof model === "string" ? model : (model?.primary ?? "");
  const slash = name.indexOf("/");
  return slash > 0 ? { provider: name.slice(0, slash), model: name.slice(slash + 1) } : {};
}
