package skald

import (
	"context"
	"encoding/json"
)

// ProtocolVersion is the version of /engine/v1. Plugin and daemon work one version apart.
const ProtocolVersion = 1

// Engine is the context-engine contract of a host (document 003; OpenClaw 2026.9.6 as it really calls). Every request names its
// session. A failing call returns an error and leaves the host on its own messages (I8); content is never refused.
type Engine interface {
	// Bootstrap tells what the store has of a session, so that the adapter can deliver what is missing through Reconcile.
	Bootstrap(ctx context.Context, r BootstrapRequest) (BootstrapResult, error)
	// Reconcile stores what the host's transcript has and the store lacks (ingest after a gap, import).
	Reconcile(ctx context.Context, r ReconcileRequest) (ReconcileResult, error)
	// CommitTurn stores one exchange. It returns after the turns are durable (I1); a repeated key stores nothing (I2).
	CommitTurn(ctx context.Context, r CommitTurnRequest) (CommitTurnResult, error)
	// AfterTurn stores the messages after PrePromptMessageCount, for hosts without commitTurn.
	AfterTurn(ctx context.Context, r AfterTurnRequest) (CommitTurnResult, error)
	// Ingest stores single messages, for hosts without either.
	Ingest(ctx context.Context, r IngestRequest) (CommitTurnResult, error)
	// Assemble returns what the model shall see before the prompt (I6, I7).
	Assemble(ctx context.Context, r AssembleRequest) (AssembleResult, error)
	// Compact commits, publishes, and answers with summary, tokens before and after, and the first kept entry.
	Compact(ctx context.Context, r CompactRequest) (CompactResult, error)
	// Event tells of a session's start, end or reset, or the gateway's stop: hints only.
	Event(ctx context.Context, r EventRequest) error
	// PrepareSubagent prepares a child's session; RollbackSubagent undoes it; SubagentEnded links it to the parent.
	PrepareSubagent(ctx context.Context, r SubagentRequest) error
	RollbackSubagent(ctx context.Context, r SubagentRequest) error
	SubagentEnded(ctx context.Context, r SubagentRequest) error
	// Tool runs one of the tools offered to the model.
	Tool(ctx context.Context, r ToolRequest) (ToolAnswer, error)
}

// SessionAddress is how a host names a session, and on whose behalf. Account and user come from the key, never from the body.
type SessionAddress struct {
	SessionID  string `json:"session_id,omitempty"`
	SessionKey string `json:"session_key,omitempty"`
	AgentID    string `json:"agent_id,omitempty"`  // "" is "main"
	Lifecycle  string `json:"lifecycle,omitempty"` // the host's lifecycle revision, when it shows one
	SenderID   string `json:"sender_id,omitempty"` // only with peer_role person
}

// Settings are the plugin's configuration keys that the engine obeys (000-125, 000-126, design "Recall"). A nil field takes the
// daemon's value.
type Settings struct {
	AutoRecall             *bool    `json:"autoRecall,omitempty"`             // default true
	AutoCapture            *bool    `json:"autoCapture,omitempty"`            // default true
	RecallLimit            *int     `json:"recallLimit,omitempty"`            // items; 0, the default: the budget decides
	RecallScoreThreshold   *float64 `json:"recallScoreThreshold,omitempty"`   // 0..1, default 0.15
	RecallMaxContentChars  *int     `json:"recallMaxContentChars,omitempty"`  // characters an item, default 1000
	RecallPreferAbstract   *bool    `json:"recallPreferAbstract,omitempty"`   // default false
	RecallTokenBudget      *int     `json:"recallTokenBudget,omitempty"`      // tokens, default 2000
	RecentRawTurnCount     *int     `json:"recentRawTurnCount,omitempty"`     // default 8
	AssembleRecallWindow   *int     `json:"assembleRecallWindow,omitempty"`   // user turns, default 5
	CompactCommitThreshold *float64 `json:"compactCommitThreshold,omitempty"` // share of the budget, default 0.75
	CommitTokenThreshold   *int     `json:"commitTokenThreshold,omitempty"`   // tokens, default 30000
	MemoryExpandMaxResults *int     `json:"memoryExpandMaxResults,omitempty"` // default 6
	RecallForm             string   `json:"recallForm,omitempty"`             // auto, tool, text
	IsolateUserByAgent     *bool    `json:"isolateUserScopeByAgent,omitempty"`
	IsolateAgentByUser     *bool    `json:"isolateAgentScopeByUser,omitempty"`
	Strategy               string   `json:"strategy,omitempty"`
	NoCommit               *bool    `json:"noCommit,omitempty"` // no triggers and no publications: a replay that must not compact
}

// Request is what every lifecycle request carries.
type Request struct {
	Identity Identity       `json:"-"` // set by the transport
	Session  SessionAddress `json:"session"`
	Settings Settings       `json:"settings"`
	Now      int64          `json:"now,omitempty"` // milliseconds; 0: the daemon's clock
}

// BootstrapRequest opens a session.
type BootstrapRequest struct {
	Request
}

// BootstrapResult says where the store stands.
type BootstrapResult struct {
	SessionID string          `json:"session_id"` // the stored session's id
	LastSeq   int64           `json:"last_seq"`
	Epoch     int             `json:"epoch"`
	Lifecycle string          `json:"lifecycle,omitempty"` // the host's revision that the epoch is of
	Cursor    json.RawMessage `json:"cursor,omitempty"`    // as last given to Reconcile
}

// Entry is one entry of the host's transcript.
type Entry struct {
	EntryID  string          `json:"entry_id"`
	Position *int64          `json:"position,omitempty"`
	Reset    bool            `json:"reset,omitempty"` // the host was reset just before it
	Message  json.RawMessage `json:"message"`         // verbatim
}

// ReconcileRequest delivers transcript entries in order. Those already stored are recognised and only complete what is known
// about them.
type ReconcileRequest struct {
	Request
	Entries []Entry         `json:"entries"`
	Cursor  json.RawMessage `json:"cursor,omitempty"` // stored with the entries, in the same transaction
	Reset   bool            `json:"reset,omitempty"`  // the cursor began anew: the entries start at the transcript's beginning
}

// ReconcileResult counts.
type ReconcileResult struct {
	Imported int   `json:"imported"`
	Known    int   `json:"known"`
	LastSeq  int64 `json:"last_seq"`
}

// Anchor is the host's position of one entry.
type Anchor struct {
	EntryID  string `json:"entryId"`
	RawSeq   int64  `json:"rawSeq"`
	Position int64  `json:"activeMessagePosition"`
}

// CommitTurnRequest delivers one exchange.
type CommitTurnRequest struct {
	Request
	AdvancementKey string            `json:"advancement_key"`
	Admission      *Anchor           `json:"admission,omitempty"` // of the first message
	Terminal       *Anchor           `json:"terminal,omitempty"`  // of the last message
	Messages       []json.RawMessage `json:"messages"`            // verbatim
	Heartbeat      bool              `json:"is_heartbeat,omitempty"`
	TurnID         string            `json:"turn_id,omitempty"` // of the assemble that served it, when the adapter knows it
	TokenBudget    int               `json:"token_budget,omitempty"`
}

// CommitTurnResult tells what was stored. Status is "committed" or "duplicate".
type CommitTurnResult struct {
	Status    string `json:"status"`
	SessionID string `json:"session_id"`
	From      int64  `json:"from"` // sequences; 0 when nothing was stored
	To        int64  `json:"to"`
	Stored    int    `json:"stored"`
	Reason    string `json:"reason,omitempty"` // why nothing was stored: auto_capture_off, bypassed, dead_letter
}

// AfterTurnRequest delivers the whole list; messages from PrePromptMessageCount on are new.
type AfterTurnRequest struct {
	Request
	Messages              []json.RawMessage `json:"messages"`
	PrePromptMessageCount int               `json:"pre_prompt_message_count"`
	AutoCompactionSummary string            `json:"auto_compaction_summary,omitempty"`
	Heartbeat             bool              `json:"is_heartbeat,omitempty"`
	TokenBudget           int               `json:"token_budget,omitempty"`
}

// IngestRequest delivers single messages.
type IngestRequest struct {
	Request
	Messages  []json.RawMessage `json:"messages"`
	Heartbeat bool              `json:"is_heartbeat,omitempty"`
}

// AssembleRequest asks for the context of one prompt.
type AssembleRequest struct {
	Request
	Prompt       string            `json:"prompt"`
	TokenBudget  int               `json:"token_budget,omitempty"` // tokens for all messages before the prompt; 0: unknown
	Model        string            `json:"model,omitempty"`
	Provider     string            `json:"provider,omitempty"`
	Tools        []string          `json:"available_tools,omitempty"` // names; nil: unknown
	NoTools      bool              `json:"no_tools,omitempty"`        // the request offers no tools at all
	MessageCount int               `json:"message_count"`             // length of the host's list
	Tail         []json.RawMessage `json:"tail"`                      // its newest messages, verbatim; may be shorter than the list
	Pending      int               `json:"pending_tokens,omitempty"`  // tokens of the exchange's messages that are not in the list
	TurnID       string            `json:"turn_id,omitempty"`
	ToolSearch   bool              `json:"tool_search,omitempty"` // tools are reached through tool_call
	DryRun       bool              `json:"dry_run,omitempty"`     // place no recall, keep no trace, start no epoch
}

// AssembleResult is what the host shows the model.
type AssembleResult struct {
	Messages             []json.RawMessage       `json:"messages"`
	EstimatedTokens      int                     `json:"estimated_tokens"`
	SystemPromptAddition string                  `json:"system_prompt_addition,omitempty"`
	ProjectionEpoch      string                  `json:"projection_epoch,omitempty"` // changes on publication only
	TurnID               string                  `json:"turn_id"`
	NeedTail             int                     `json:"need_tail,omitempty"` // the tail did not meet the store: send this many messages
	Cut                  []string                `json:"cut,omitempty"`       // what was left out or shortened, in words
	Packet               *AssembledContextPacket `json:"packet,omitempty"`    // only for DryRun
}

// CompactRequest asks for a smaller context.
type CompactRequest struct {
	Request
	TokenBudget  int    `json:"token_budget,omitempty"`
	Current      int    `json:"current_token_count,omitempty"`
	Force        bool   `json:"force,omitempty"`
	Target       string `json:"compaction_target,omitempty"` // budget, threshold
	Trigger      string `json:"trigger,omitempty"`           // manual, overflow, budget
	Instructions string `json:"custom_instructions,omitempty"`
	// Tail is the host's newest messages, when it hands some over: what the store lacks is taken from it (CMP-05).
	Tail []json.RawMessage `json:"tail,omitempty"`
}

// CompactResult is the host's CompactResult.
type CompactResult struct {
	OK           bool               `json:"ok"`
	Compacted    bool               `json:"compacted"`
	Reason       string             `json:"reason,omitempty"`
	Summary      string             `json:"summary,omitempty"`
	FirstKept    string             `json:"first_kept_entry_id,omitempty"`
	TokensBefore int                `json:"tokens_before"`
	TokensAfter  int                `json:"tokens_after"`
	Checkpoint   *CompactCheckpoint `json:"checkpoint,omitempty"`
}

// EventRequest tells of something that happened to a session, or to all (empty session): session_start, session_end,
// before_reset, gateway_stop; or bypassed: the host ran a turn of it without the engine, and Reason says why.
type EventRequest struct {
	Request
	Event  string `json:"event"`
	Reason string `json:"reason,omitempty"`
}

// SubagentRequest is about a child's session.
type SubagentRequest struct {
	Request         // Session is the parent's
	ChildKey string `json:"child_session_key"`
	ChildID  string `json:"child_session_id,omitempty"`
	Mode     string `json:"context_mode,omitempty"` // isolated, fork
	Reason   string `json:"reason,omitempty"`
}

// ToolRequest calls a tool for the model.
type ToolRequest struct {
	Request
	Tool string          `json:"tool"` // memory_recall, memory_expand, …
	Args json.RawMessage `json:"args"`
	Call string          `json:"tool_call_id,omitempty"`
}

// ToolAnswer is the tool's result.
type ToolAnswer struct {
	Text    string          `json:"text"`
	Details json.RawMessage `json:"details,omitempty"`
	IsError bool            `json:"is_error,omitempty"`
}
