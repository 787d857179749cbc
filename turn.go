package skald

import (
	"encoding/json"
	"time"
)

// Role is the role of a turn in its envelope. Roles that the host adds (bashExecution, custom, …) are kept as RoleSystem with
// the host's role in a meta part.
type Role string

// The roles of an envelope (000-100).
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system"
	RoleTool      Role = "tool"
)

// Origin is who a text comes from. It decides what may become a memory: profile and preferences come from the owner only (I10).
type Origin string

// The origins.
const (
	OriginOwner  Origin = "owner"
	OriginPerson Origin = "person" // someone else
	OriginAgent  Origin = "agent"
	OriginTool   Origin = "tool"
	OriginSystem Origin = "system"
)

// Audience is where something was said. A group session recalls its own audience only (I9).
type Audience string

// The audiences. A group's audience is AudienceGroup followed by the group's name, for example "group:telegram:42".
const (
	AudienceDirect   Audience = "direct"
	AudienceGroup    Audience = "group"
	AudienceCron     Audience = "cron"
	AudienceSubagent Audience = "subagent"
)

// Purpose says why a turn exists. Only PurposeTalk counts for triggers, is extracted and gets recall.
type Purpose string

// The purposes.
const (
	PurposeTalk      Purpose = ""
	PurposeHeartbeat Purpose = "heartbeat"
	PurposeCron      Purpose = "cron"
	PurposeInternal  Purpose = "internal" // memory flush and internal-session-effects sessions
)

// Source says how a turn reached the store.
type Source string

// The sources. A SourceView turn was only seen in assemble's view and is replaced when the original arrives.
const (
	SourceHost   Source = ""
	SourceView   Source = "view"
	SourceImport Source = "import"
)

// Turn is one stored message of a session: the host's own message verbatim, and what is known about it.
type Turn struct {
	Seq      int64     // 1 and up, without gaps within a session (I3)
	Epoch    int       // the part of the session between two resets, from 1
	Time     time.Time // the message's own time, milliseconds
	Role     Role
	Raw      []byte // the host's message, byte for byte; nil after a purge
	Tokens   int    // serialised message, counted as the host counts
	Origin   Origin
	Audience Audience
	Purpose  Purpose
	Source   Source

	EntryID        string // the host's transcript entry id, or ""
	Position       int64  // the host's active message position, or -1
	AdvancementKey string // of the commitTurn that delivered it
	MatchKey       string // hex; equal for two views of one message (tool ids and host marks apart)
	TurnID         string // the exchange it belongs to; links to packets
	Speaker        string // name of the person who spoke, where the host tells

	Forgotten bool // taken out of recall, search and summaries; still expandable by URI
	Purged    bool // the payload is destroyed; a tombstone keeps the chain whole

	Salt []byte // 16 random bytes; destroyed by a purge
	Leaf []byte // SHA-256(salt, raw)
	Link []byte // SHA-256(previous link, seq, leaf): the chain
}

// TurnEnvelope is document 000's envelope of a turn (000-100 to 000-109), derived from the stored message.
type TurnEnvelope struct {
	TurnID           string            `json:"turn_id"`
	SessionID        string            `json:"session_id"`
	Sequence         int64             `json:"sequence"`
	Timestamp        string            `json:"timestamp"` // RFC 3339 with milliseconds, UTC
	Role             Role              `json:"role"`
	Parts            []Part            `json:"parts"`
	UsedContextURIs  []string          `json:"used_context_uris"` // external context injected for this turn (000-107)
	UsedSkills       []UsedSkill       `json:"used_skills"`
	ToolCalls        []ToolCall        `json:"tool_calls"`
	ToolResults      []ToolResult      `json:"tool_results"`
	CompactionMarker *CompactionMarker `json:"compaction_marker,omitempty"`
}

// Part is one part of an envelope; Type says which fields are set (000-101).
type Part struct {
	Type      string          `json:"type"`                // text, tool_call, tool_result, context_ref, meta
	Text      string          `json:"text,omitempty"`      // text
	ToolName  string          `json:"tool_name,omitempty"` // tool_call, tool_result
	Arguments json.RawMessage `json:"arguments,omitempty"` // tool_call
	Result    json.RawMessage `json:"result,omitempty"`    // tool_result
	URI       string          `json:"uri,omitempty"`       // context_ref
	Abstract  string          `json:"abstract,omitempty"`  // context_ref
	Key       string          `json:"key,omitempty"`       // meta
	Value     json.RawMessage `json:"value,omitempty"`     // meta
}

// UsedSkill is a skill that a turn used (000-102).
type UsedSkill struct {
	URI     string `json:"uri"`
	Input   string `json:"input,omitempty"`
	Output  string `json:"output,omitempty"`
	Success *bool  `json:"success,omitempty"`
}

// ToolCall is a call that a turn made (000-103). Status is "success", "error" or "".
type ToolCall struct {
	ToolName  string          `json:"tool_name"`
	Arguments json.RawMessage `json:"arguments"`
	Status    string          `json:"status,omitempty"`
}

// ToolResult is the result of a call (000-104). Status is "success", "error" or "".
type ToolResult struct {
	ToolName string          `json:"tool_name"`
	Result   json.RawMessage `json:"result"`
	Status   string          `json:"status,omitempty"`
}

// CompactionMarker says whether the turn was seen raw or after a compaction (000-105).
type CompactionMarker struct {
	Source            string `json:"source"` // raw, post_compact
	CompactCheckpoint string `json:"compact_checkpoint_id,omitempty"`
}
