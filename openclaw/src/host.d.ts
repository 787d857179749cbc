// The part of OpenClaw's plugin contract that the adapter uses, in its own words (OpenClaw 2026.9.6). The host package is too large
// to be a dependency; `npm run check:host` compares this file with the host's published declarations when the host is in the cache.

/** A message of the host. It is opaque here: it travels to the daemon byte for byte. */
// eslint-disable-next-line -- `any` on purpose: both the host's union and parsed JSON fit
export type AgentMessage = any;

export interface Logger {
  debug?: (message: string) => void;
  info: (message: string) => void;
  warn: (message: string) => void;
  error: (message: string) => void;
}

/** Where the host keeps a session. The last two fields exist at run time only. */
export interface SessionTarget {
  agentId?: string;
  sessionId?: string;
  sessionKey?: string;
  storePath?: string;
  threadId?: string | number;
  expectedWriterRunId?: string;
  expectedLifecycleRevision?: string;
}

/** What every lifecycle call may carry. `runtimeContext` is asked for with peer_role "person" only. */
export interface SessionParams {
  sessionId: string;
  sessionKey?: string;
  sessionTarget?: SessionTarget;
  runtimeContext?: { [key: string]: unknown };
}

export interface EntryAnchor {
  readonly entryId: string;
  readonly rawSeq: number;
  readonly activeMessagePosition: number;
}

export interface BootstrapParams extends SessionParams {}

export interface AssembleParams extends SessionParams {
  messages: AgentMessage[];
  tokenBudget?: number;
  availableTools?: Set<string>;
  model?: string;
  runtimeSettings?: { model?: { provider?: string | null } };
  prompt?: string;
}

export interface AssembleResult {
  messages: AgentMessage[];
  estimatedTokens: number;
  systemPromptAddition?: string;
  contextProjection?: { mode: "per_turn" | "thread_bootstrap"; epoch?: string };
}

export interface CommitTurnParams extends SessionParams {
  advancementKey: string;
  admission: EntryAnchor;
  terminal: EntryAnchor;
  messages: AgentMessage[];
  isHeartbeat?: boolean;
}

export interface AfterTurnParams extends SessionParams {
  messages: AgentMessage[];
  prePromptMessageCount: number;
  autoCompactionSummary?: string;
  isHeartbeat?: boolean;
  tokenBudget?: number;
}

export interface IngestParams extends SessionParams {
  message: AgentMessage;
  isHeartbeat?: boolean;
}

export interface IngestBatchParams extends SessionParams {
  messages: AgentMessage[];
  isHeartbeat?: boolean;
}

export interface CompactParams extends SessionParams {
  tokenBudget?: number;
  force?: boolean;
  currentTokenCount?: number;
  compactionTarget?: "budget" | "threshold";
  customInstructions?: string;
  abortSignal?: AbortSignal;
}

export interface CompactResult {
  ok: boolean;
  compacted: boolean;
  reason?: string;
  result?: { summary?: string; firstKeptEntryId?: string; tokensBefore: number; tokensAfter?: number; details?: unknown };
}

export interface SpawnParams {
  parentSessionKey: string;
  childSessionKey: string;
  contextMode?: "isolated" | "fork";
  parentSessionId?: string;
  childSessionId?: string;
}

export interface SubagentEndParams {
  childSessionKey: string;
  reason: "deleted" | "completed" | "swept" | "released";
}

export interface EngineInfo {
  id: string;
  name: string;
  version?: string;
  acceptedHostParams?: string[];
  transcriptSemantics?: {
    currentTurnFence?: "before-current-turn-entry-v1";
    turnAdvancementIdempotency?: "atomic-idempotent-v1";
  };
  ownsCompaction?: boolean;
  turnMaintenanceMode?: "foreground" | "background";
}

/** The engine contract. A new instance serves one logical turn. */
export interface ContextEngine {
  readonly info: EngineInfo;
  bootstrap(params: BootstrapParams): Promise<{ bootstrapped: boolean; importedMessages?: number; reason?: string }>;
  maintain(params: SessionParams): Promise<{ changed: boolean; bytesFreed: number; rewrittenEntries: number; reason?: string }>;
  ingest(params: IngestParams): Promise<{ ingested: boolean }>;
  ingestBatch(params: IngestBatchParams): Promise<{ ingestedCount: number }>;
  afterTurn(params: AfterTurnParams): Promise<void>;
  commitTurn(params: CommitTurnParams): Promise<{ status: "committed" | "duplicate" }>;
  assemble(params: AssembleParams): Promise<AssembleResult>;
  compact(params: CompactParams): Promise<CompactResult>;
  prepareSubagentSpawn(params: SpawnParams): Promise<{ rollback: () => void | Promise<void> } | undefined>;
  onSubagentEnded(params: SubagentEndParams): Promise<void>;
  dispose(): Promise<void>;
}

export type EngineFactory = (ctx: { config?: object; agentDir?: string; workspaceDir?: string }) => Promise<ContextEngine>;

/** What a tool's factory is told about the call. */
export interface ToolContext {
  agentId?: string;
  sessionKey?: string;
  sessionId?: string;
  requesterSenderId?: string;
  senderIsOwner?: boolean;
  /** Where the agent works; what it may touch outside. */
  workspaceDir?: string;
  sandboxed?: boolean;
  fsPolicy?: { workspaceOnly: boolean };
}

export interface ToolResult {
  content: { type: "text"; text: string }[];
  details: unknown;
}

export interface Tool {
  name: string;
  label: string;
  description: string;
  // eslint-disable-next-line -- a JSON schema; the host's type is TypeBox's
  parameters: any;
  execute(toolCallId: string, params: unknown, signal?: AbortSignal): Promise<ToolResult>;
}

export interface HookSession {
  sessionId?: string;
  sessionKey?: string;
  agentId?: string;
}

export interface HookEvent extends HookSession {
  runId?: string;
  reason?: string;
  prompt?: string;
  messages?: unknown[];
}

/** reply_payload_sending: a reply on its way to the chat. An agent's own carries usageState. */
export interface ReplyEvent {
  kind?: string;
  runId?: string;
  sessionKey?: string;
  usageState?: { sessionId?: string; agentId?: string };
  payload?: { text?: string };
}

export interface ReplyResult {
  payload: { text?: string };
}

/** Who typed a command, and where. senderIsOwner is shown to commands with required scopes only. */
export interface CommandContext {
  args?: string;
  sessionKey?: string;
  sessionId?: string;
  agentId?: string;
  senderId?: string;
  senderIsOwner?: boolean;
  gatewayClientScopes?: string[];
}

export interface Command {
  name: string;
  description: string;
  acceptsArgs?: boolean;
  requireAuth?: boolean;
  requiredScopes?: "operator.read"[];
  handler(ctx: CommandContext): Promise<{ text: string }>;
}

export type HookHandler = (event: HookEvent, ctx: HookSession) => unknown;

export interface ServiceContext {
  stateDir: string;
  logger: Logger;
}

export interface Service {
  id: string;
  start(ctx: ServiceContext): void | Promise<void>;
  stop(ctx: ServiceContext): void | Promise<void>;
}

export interface GatewayCall {
  params: Record<string, unknown>;
  respond: (ok: boolean, payload?: unknown) => void;
}

/** The host's plugin API. The optional ones are missing on older hosts. */
export interface PluginApi {
  id: string;
  rootDir?: string;
  registrationMode?: string;
  pluginConfig?: Record<string, unknown>;
  /** Of the host's configuration, only who has the slot. */
  config?: { plugins?: { slots?: { contextEngine?: string } } };
  logger: Logger;
  runtime?: { version?: string };
  registerTool(tool: (ctx: ToolContext) => Tool, opts?: { name?: string }): void;
  on(hook: string, handler: HookHandler): void;
  registerContextEngine?(id: string, factory: EngineFactory): void;
  registerService?(service: Service): void;
  registerCommand?(command: Command): void;
  registerGatewayMethod?(name: string, handler: (call: GatewayCall) => void | Promise<void>, opts?: { scope?: "operator.read" }): void;
}

/** One entry of the host's transcript. */
export interface TranscriptEntry {
  entryId: string;
  seq?: number;
  message: AgentMessage;
}

/** A page of the host's transcript cursor. */
export type TranscriptPage =
  | { kind: "page"; cursor: string; hasMore: boolean; entries: TranscriptEntry[]; requiredBytes?: number }
  | { kind: "reset"; cursor: string; reason?: string }
  | { kind: "unavailable"; reason?: string }
  | { kind: "missing" };

export type ReadTranscript = (params: {
  agentId: string;
  sessionKey: string;
  sessionId: string;
  storePath?: string;
  cursor?: string;
  maxBytes?: number;
  maxMessages?: number;
}) => Promise<TranscriptPage>;
