package message

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/skald-engine/skald"
)

// The host's roles.
const (
	RoleUser       = "user"
	RoleAssistant  = "assistant"
	RoleToolResult = "toolResult"
	RoleBash       = "bashExecution"
	RoleCustom     = "custom"
	RoleBranch     = "branchSummary"
	RoleCompaction = "compactionSummary"
)

// Message is a host message, read once. Raw stays with the caller: a Message is never written back.
type Message struct {
	Role           string // the host's; other providers' names of the tool role are read as toolResult
	Blocks         []Block
	Timestamp      time.Time // zero when missing
	ToolCallID     string    // toolResult
	ToolName       string    // toolResult
	IsError        bool      // toolResult
	StopReason     string    // assistant: stop, length, toolUse, error, aborted
	API            string
	Provider       string
	Model          string
	Usage          Usage
	IdempotencyKey string
	SenderIsOwner  *bool  // nil when the host does not tell
	Sender         string // name of the person, where the host tells
	ResponseID     string
	RunID          string
	Summary        string // branchSummary and compactionSummary
	Command        string // bashExecution
	Output         string // bashExecution
	CustomType     string // custom

	fields map[string]json.RawMessage
	mended bool // raw had control characters that JSON forbids
}

// Usage is what the provider reported, in tokens.
type Usage struct {
	Input      int `json:"input"`
	Output     int `json:"output"`
	CacheRead  int `json:"cacheRead"`
	CacheWrite int `json:"cacheWrite"`
	Total      int `json:"totalTokens"`
}

// Parse reads a host message. It is tolerant: content may be a string, null or a list, and the shapes of other providers are read
// as the host's (TP-08). It fails with KindInvalid only when raw is not a JSON object; invalid UTF-8, NUL and broken
// surrogates do not matter.
func Parse(raw []byte) (*Message, error) {
	fields, mended := map[string]json.RawMessage{}, false
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		mended = true
		if err := json.Unmarshal(mend(raw), &fields); err != nil || fields == nil {
			return nil, skald.Invalid("message.parse", "message", "not a JSON object")
		}
	}
	m := &Message{fields: fields, mended: mended}
	m.Role = hostRole(str(fields["role"]))
	m.Timestamp = moment(fields["timestamp"])
	m.StopReason = str(fields["stopReason"])
	m.API, m.Provider, m.Model = str(fields["api"]), str(fields["provider"]), str(fields["model"])
	m.IdempotencyKey = str(fields["idempotencyKey"])
	m.ResponseID = str(fields["responseId"])
	m.Summary = str(fields["summary"])
	m.Command, m.Output = str(fields["command"]), str(fields["output"])
	m.CustomType = str(fields["customType"])
	m.Usage = usage(fields["usage"])
	m.hostMarks()
	m.Blocks = append(blocks(fields["content"]), openAICalls(fields["tool_calls"])...)
	m.toolResult()
	return m, nil
}

// hostMarks reads the run-time extras that the host keeps beside a message.
func (m *Message) hostMarks() {
	var marks map[string]json.RawMessage
	_ = json.Unmarshal(m.fields["__openclaw"], &marks)
	m.RunID = str(marks["runId"])
	m.Sender = first(marks, "senderName", "senderLabel", "sender", "senderId")
	if m.Sender == "" {
		m.Sender = first(m.fields, "senderName", "sender", "name")
	}
	owner := marks["senderIsOwner"]
	if owner == nil {
		owner = m.fields["senderIsOwner"]
	}
	var b bool
	if owner != nil && json.Unmarshal(owner, &b) == nil && !bytes.Equal(owner, []byte("null")) {
		m.SenderIsOwner = &b
	}
}

// toolResult reads a result's own fields; a result that other providers wrap into one block of a user message is left there.
func (m *Message) toolResult() {
	if m.Role != RoleToolResult {
		return
	}
	m.ToolCallID = first(m.fields, "toolCallId", "tool_call_id", "call_id", "tool_use_id", "toolUseId")
	m.ToolName = first(m.fields, "toolName", "tool_name", "name")
	m.IsError = flag(m.fields["isError"]) || flag(m.fields["is_error"])
	if len(m.Blocks) == 1 && m.Blocks[0].Kind == KindToolResult {
		b := m.Blocks[0]
		m.Blocks = b.Result
		m.IsError = m.IsError || b.IsError
		if m.ToolCallID == "" {
			m.ToolCallID = b.ID
		}
		if m.ToolName == "" {
			m.ToolName = b.Name
		}
	}
	if len(m.Blocks) == 0 {
		m.Blocks = blocks(m.fields["output"])
		m.Output = ""
	}
}

func hostRole(role string) string {
	switch role {
	case "tool", "tool_result", "function", "toolresult":
		return RoleToolResult
	case "model":
		return RoleAssistant
	case "human":
		return RoleUser
	}
	return role
}

func usage(raw json.RawMessage) Usage {
	var f map[string]json.RawMessage
	_ = json.Unmarshal(raw, &f)
	return Usage{Input: num(f["input"]), Output: num(f["output"]), CacheRead: num(f["cacheRead"]),
		CacheWrite: num(f["cacheWrite"]), Total: num(f["totalTokens"])}
}

// The times that a message can tell, in milliseconds: the years 1 to 9999. No JSON can be written with others.
const (
	firstMoment = -62_135_596_800_000
	lastMoment  = 253_402_300_799_999
)

// moment reads a timestamp: milliseconds, or RFC 3339 text.
func moment(raw json.RawMessage) time.Time {
	s := strings.Trim(string(raw), `"`)
	if ms, err := strconv.ParseFloat(s, 64); err == nil && ms >= firstMoment && ms <= lastMoment {
		return time.UnixMilli(int64(ms)).UTC()
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t.UTC().Truncate(time.Millisecond)
	}
	return time.Time{}
}

// str reads a JSON string, and "" from anything else.
func str(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] != '"' {
		return ""
	}
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

func flag(raw json.RawMessage) bool { return string(raw) == "true" }

func num(raw json.RawMessage) int {
	f, _ := strconv.ParseFloat(string(raw), 64)
	if f < 0 || f > 1e12 {
		return 0
	}
	return int(f)
}

// first is the first non-empty string among the keys.
func first(f map[string]json.RawMessage, keys ...string) string {
	for _, k := range keys {
		if s := str(f[k]); s != "" {
			return s
		}
	}
	return ""
}
