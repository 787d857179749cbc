// Every configuration key, once: the parser and the manifest's schema are both made from this table.

export type KeyType = "string" | "boolean" | "number" | "strings" | "secret" | "object" | "any";

export interface Key {
  type: KeyType;
  text: string;
  default?: unknown;
  min?: number;
  max?: number;
  values?: readonly string[];
  /** Passed on to the daemon as a setting under the same name. */
  setting?: true;
  /** Understood by OpenViking's plugin, without effect here. */
  old?: true;
}

const old = (text: string): Key => ({ type: "any", text: `${text} Accepted for existing OpenViking configurations; without effect.`, old: true });

export const keys: Record<string, Key> = {
  mode: { type: "string", values: ["local", "remote"], text: "local: the daemon on this machine, started when needed. remote: the one at baseUrl; where an OpenViking server answers there, a daemon of this machine in front of it. Default: remote when baseUrl is set, else local." },
  configPath: { type: "string", text: "A JSON file with more of these keys; a key given here wins over the file's." },
  port: { type: "number", min: 1, max: 65535, default: 1933, text: "Port of the local daemon; without it, 1934 for one in front of an OpenViking server." },
  baseUrl: { type: "string", text: "URL of the daemon, or of an OpenViking server, in remote mode; ${NAME} is replaced from the environment." },
  apiKey: { type: "secret", text: "Key of the daemon: text, ${NAME}, or {source: env|file, id}. Default: SKALD_API_KEY, in local mode else the key file in dataDir." },
  dataDir: { type: "string", text: "Data folder of the local daemon. Default: SKALD_DATA, else ~/.skald." },
  binary: { type: "string", text: "The skald binary. Default: SKALD_BIN, bin/skald beside the plugin, PATH." },
  autoStart: { type: "boolean", default: true, text: "Start the local daemon when none answers." },
  timeoutMs: { type: "number", min: 1000, max: 600000, default: 15000, text: "Limit of a tool call, in milliseconds." },
  headers: { type: "object", text: "More HTTP headers for every request." },
  agentId: { type: "string", text: "Agent for sessions whose key names none." },
  agent_prefix: { type: "string", text: "Put before the agent's id with an underscore." },
  peer_prefix: { type: "string", text: "Newer name of agent_prefix." },
  peer_role: { type: "string", values: ["assistant", "person", "none"], default: "assistant", text: "person: tell the daemon who sent a message, so that every statement is credited to its speaker. All stay in one user's space." },
  accountId: { type: "string", text: "Account, sent as X-OpenViking-Account. A daemon with keys takes the account from the key; only one in dev mode obeys." },
  userId: { type: "string", text: "User, sent as X-OpenViking-User. A daemon with keys takes the user from the key; only one in dev mode obeys." },
  isolateUserScopeByAgent: { type: "boolean", setting: true, text: "Keep the user's memories apart by agent." },
  isolateAgentScopeByUser: { type: "boolean", setting: true, text: "Keep agent memories apart by user." },
  autoRecall: { type: "boolean", setting: true, text: "Recall for every prompt. Default true." },
  autoCapture: { type: "boolean", setting: true, text: "Store the conversation. Default true." },
  recallLimit: { type: "number", min: 0, max: 1000, setting: true, text: "Most items of one recall; 0 lets the budget decide (default)." },
  recallScoreThreshold: { type: "number", min: 0, max: 1, setting: true, text: "Lowest score of a recalled item. Default 0.15." },
  recallMaxContentChars: { type: "number", min: 50, max: 100000, setting: true, text: "Most characters of one recalled item. Default 1000." },
  recallPreferAbstract: { type: "boolean", setting: true, text: "Recall a memory's abstract instead of its text. Default false." },
  recallTokenBudget: { type: "number", min: 0, max: 1000000, setting: true, text: "Most tokens of one recall. Default 2000." },
  recallForm: { type: "string", values: ["auto", "tool", "text"], setting: true, text: "How a recall is shown to the model. Default auto." },
  recentRawTurnCount: { type: "number", min: 1, max: 10000, setting: true, text: "Newest turns that always stay as they are. Default 8." },
  assembleRecallWindow: { type: "number", min: 1, max: 100, setting: true, text: "User turns that a recall looks at for its query. Default 5." },
  compactCommitThreshold: { type: "number", min: 0.05, max: 1, setting: true, text: "Share of the token budget at which turns are archived. Default 0.75." },
  commitTokenThreshold: { type: "number", min: 0, max: 100000000, setting: true, text: "New tokens at which turns are archived. Default 30000." },
  memoryExpandMaxResults: { type: "number", min: 1, max: 100, setting: true, text: "Most source turns that memory_expand shows. Default 6." },
  strategy: { type: "string", values: ["viking", "legacy", "rag", "tiered", "task", "dag"], setting: true, text: "How context is chosen and shrunk. Default viking." },
  bypassSessionPatterns: { type: "strings", text: "Sessions to leave alone: * is any run without a colon, ** anything; matched against the session key." },
  tools: { type: "string", values: ["default", "all"], default: "default", text: "all: offer today's OpenViking tool names too." },
  enabledTools: { type: "strings", text: "Only these tools, by name or group (memory, archive, resource_query, import, recall_trace, tool_result, all, default)." },
  disabledTools: { type: "strings", text: "Not these tools, by name or group." },
  enableAddResourceTool: { type: "boolean", text: "Let the model import: offer ov_import, add_resource and add_skill (true), or never (false). Default: with tools all, or in the openviking build. The commands are not concerned." },
  logFindRequests: { type: "boolean", default: false, text: "Log every request's session, agent, ids and time; never its text." },

  recallMaxInjectedChars: { type: "number", min: 0, max: 10000000, text: "OpenViking's limit of a recall in characters; a quarter of it is the token budget unless recallTokenBudget is set." },
  commitTokenThresholdRatio: { type: "number", min: 0, max: 1, text: "OpenViking's name of compactCommitThreshold." },
  ingestReplyAssistIgnoreSessionPatterns: { type: "strings", text: "OpenViking's older name of bypassSessionPatterns." },
  localBinaryPath: { type: "string", text: "OpenViking's older name of binary." },
  localDataDir: { type: "string", text: "OpenViking's older name of dataDir." },
  localPort: { type: "number", min: 1, max: 65535, text: "OpenViking's older name of port." },

  agentScopeMode: old("Old hash routing."),
  serverAuthMode: old("Authentication mode of the server."),
  targetUri: old("Default target of memory_forget."),
  captureMode: old("Capture heuristic."),
  captureMaxLength: old("Capture limit."),
  autoRecallTimeoutMs: old("Limit of a recall; the daemon has its own, stricter one."),
  recallResources: old("Recall resources too."),
  recallTargetTypes: old("Kinds of things to recall."),
  commitKeepRecentCount: old("Messages kept after a commit; see recentRawTurnCount."),
  ingestReplyAssist: old("Reply assist."),
  ingestReplyAssistMinSpeakerTurns: old("Reply assist."),
  ingestReplyAssistMinChars: old("Reply assist."),
  emitStandardDiagnostics: old("Diagnostic lines."),
  traceRecall: old("Recall traces; see `skald explain`."),
  traceRecallPersist: old("Recall traces."),
  traceRecallDir: old("Recall traces."),
  traceRecallRetentionDays: old("Recall traces."),
  traceRecallLoadRecentDays: old("Recall traces."),
  traceRecallMaxEntries: old("Recall traces."),
  traceRecallMaxResultsPerSearch: old("Recall traces."),
  traceRecallPreviewChars: old("Recall traces."),
  traceRecallQueryMaxChars: old("Recall traces."),
  traceRecallQueryMaxDays: old("Recall traces."),
  traceRecallIncludeContentByDefault: old("Recall traces."),
  traceRecallIncludeRawUserPreview: old("Recall traces."),
  runtimeQueryConfigPath: old("Run-time query configuration."),
  agentExperience: old("Agent experience recall."),
};

/** Other spellings, used when the canonical key is absent. */
export const aliases: Record<string, string> = {
  ingestReplyAssistIgnoreSessionPatterns: "bypassSessionPatterns",
  localBinaryPath: "binary",
  localDataDir: "dataDir",
  localPort: "port",
  commitTokenThresholdRatio: "compactCommitThreshold",
  peer_prefix: "agent_prefix",
};
