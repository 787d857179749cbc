package skald

import "encoding/json"

// AssembledContextPacket is what assemble chose, before it becomes host messages (000-110).
type AssembledContextPacket struct {
	ProfileBlocks    []string          `json:"profile_blocks"`
	RecalledMemories []RecalledMemory  `json:"recalled_memories"`
	CompactSummaries []CompactSummary  `json:"compact_summaries"`
	RecentRawTurns   []TurnEnvelope    `json:"recent_raw_turns"`
	InjectedMessages []json.RawMessage `json:"injected_messages"`
	EstimatedTokens  int               `json:"estimated_tokens"`
}

// RecalledMemory is one recalled item.
type RecalledMemory struct {
	Query    string  `json:"query"`
	URI      string  `json:"uri"`
	Abstract string  `json:"abstract,omitempty"`
	Score    float64 `json:"score,omitempty"`
}

// CompactSummary is one summary in the context.
type CompactSummary struct {
	SessionURI string `json:"session_uri"`
	Abstract   string `json:"abstract,omitempty"`
	Overview   string `json:"overview,omitempty"`
}
