// Modules that only the host can resolve.
declare module "openclaw/plugin-sdk/session-transcript-runtime" {
  export const readSessionTranscriptVisibleMessageDelta: import("./host.js").ReadTranscript;
  export const readSessionTranscriptEvents: (target: import("./host.js").SessionTarget) => Promise<{ type: string; id?: string }[]>;
}

declare module "openclaw/plugin-sdk/core" {
  export function delegateCompactionToRuntime(params: import("./host.js").CompactParams): Promise<import("./host.js").CompactResult>;
}
