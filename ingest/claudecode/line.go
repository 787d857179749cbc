package claudecode

import (
	"encoding/json"
	"hash/fnv"
	"strings"
	"time"

	"github.com/skald-engine/skald/ingest/record"
)

// line is one line of a transcript, as far as it matters here.
type line struct {
	Type        string `json:"type"`
	Subtype     string `json:"subtype"`
	UUID        string `json:"uuid"`
	ParentUUID  string `json:"parentUuid"`
	SessionID   string `json:"sessionId"`
	AgentID     string `json:"agentId"`
	Timestamp   string `json:"timestamp"`
	IsSidechain bool   `json:"isSidechain"`
	IsMeta      bool   `json:"isMeta"`
	IsCompact   bool   `json:"isCompactSummary"`
	IsAPIError  bool   `json:"isApiErrorMessage"`
	CWD         string `json:"cwd"`
	GitBranch   string `json:"gitBranch"`
	Origin      struct {
		Kind string `json:"kind"`
	} `json:"origin"`
	ForkedFrom struct {
		MessageUUID string `json:"messageUuid"`
	} `json:"forkedFrom"`
	Message     said            `json:"message"`
	Content     json.RawMessage `json:"content"` // system
	Attachment  attachment      `json:"attachment"`
	Summary     string          `json:"summary"`
	AITitle     string          `json:"aiTitle"`
	CustomTitle string          `json:"customTitle"`
}

// said is a message in the form of the model's provider.
type said struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Content json.RawMessage `json:"content"` // a string, or a list of blocks
	Usage   json.RawMessage `json:"usage"`
}

// attachment is what the program put beside a message.
type attachment struct {
	Type        string          `json:"type"`
	Prompt      json.RawMessage `json:"prompt"`      // queued_command: what was typed while the agent worked
	CommandMode string          `json:"commandMode"` // "prompt" when the user typed it
}

// block is one block of a message's content.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	Source    struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source"`

	raw json.RawMessage
}

func (l line) at() time.Time { return record.Time(l.Timestamp) }

func (l line) title() string {
	for _, t := range []string{l.CustomTitle, l.AITitle, l.Summary} {
		if t = strings.TrimSpace(t); t != "" {
			return t
		}
	}
	return ""
}

// identity is the line's uuid; of one that a fork copied, the original's.
func (l line) identity() string {
	if l.ForkedFrom.MessageUUID != "" {
		return l.ForkedFrom.MessageUUID
	}
	return l.UUID
}

// blocks reads content: a string is one text.
func blocks(raw json.RawMessage) []block {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list)
	out := make([]block, 0, len(list))
	for _, r := range list {
		b := block{}
		if json.Unmarshal(r, &b) != nil {
			b = block{Type: "unreadable"}
		}
		b.raw = r
		out = append(out, b)
	}
	return out
}

// seen holds the hashes of the lines that were yielded; 8 bytes each, since a user may have millions.
type seen map[uint64]struct{}

// add reports whether the id is new. Lines without an id always are.
func (s seen) add(id string) bool {
	if id == "" {
		return true
	}
	h := fnv.New64a()
	h.Write([]byte(id))
	key := h.Sum64()
	if _, ok := s[key]; ok {
		return false
	}
	s[key] = struct{}{}
	return true
}
