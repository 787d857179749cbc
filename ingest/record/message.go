package record

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/message"
)

// Message is one message in the host's form. Content is a string or a list of Blocks.
type Message struct {
	Role       string         `json:"role"`
	CustomType string         `json:"customType,omitempty"` // custom: what was injected
	ToolCallID string         `json:"toolCallId,omitempty"` // toolResult
	ToolName   string         `json:"toolName,omitempty"`   // toolResult
	Content    any            `json:"content,omitempty"`
	Summary    string         `json:"summary,omitempty"` // compactionSummary
	IsError    *bool          `json:"isError,omitempty"` // toolResult
	Provider   string         `json:"provider,omitempty"`
	Model      string         `json:"model,omitempty"`
	StopReason string         `json:"stopReason,omitempty"`
	Timestamp  int64          `json:"timestamp,omitempty"` // milliseconds; 0 unknown
	Meta       map[string]any `json:"meta,omitempty"`      // what the host's form has no place for, as the program wrote it
}

// Block is one content block in the host's form.
type Block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Thinking  string          `json:"thinking,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Data      string          `json:"data,omitempty"`
	MimeType  string          `json:"mimeType,omitempty"`
	Raw       json.RawMessage `json:"-"` // an unknown block, written as it is
}

// MarshalJSON writes an unknown block verbatim.
func (b Block) MarshalJSON() ([]byte, error) {
	if b.Raw != nil {
		return b.Raw, nil
	}
	type plain Block
	return encode(plain(b))
}

// Text is a text block.
func Text(s string) Block { return Block{Type: string(message.KindText), Text: s} }

// Thinking is a thinking block.
func Thinking(s string) Block { return Block{Type: string(message.KindThinking), Thinking: s} }

// Image is an image block; data is base64.
func Image(mime, data string) Block {
	return Block{Type: string(message.KindImage), MimeType: mime, Data: data}
}

// Call is a tool call; arguments that are no JSON object are put into one.
func Call(id, name string, arguments json.RawMessage) Block {
	return Block{Type: string(message.KindToolCall), ID: id, Name: name, Arguments: Arguments(arguments)}
}

// Arguments makes a JSON object of a call's arguments: of a string that holds one the object itself, of anything else {"input": …}.
func Arguments(raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if inner := strings.TrimSpace(text); strings.HasPrefix(inner, "{") && json.Valid([]byte(inner)) {
			return json.RawMessage(inner)
		}
	}
	switch {
	case len(raw) == 0 || string(raw) == "null" || string(raw) == `""`:
		return json.RawMessage("{}")
	case raw[0] == '{' && json.Valid(raw):
		return raw
	}
	b, err := encode(map[string]json.RawMessage{"input": raw})
	if err != nil {
		b, _ = encode(map[string]string{"input": string(raw)})
	}
	return b
}

// User is what the user said.
func User(content any, at time.Time) Message {
	return Message{Role: message.RoleUser, Content: content, Timestamp: Millis(at)}
}

// Assistant is what the agent said and called.
func Assistant(blocks []Block, at time.Time) Message {
	stop := "stop"
	for _, b := range blocks {
		if b.Type == string(message.KindToolCall) {
			stop = "toolUse"
		}
	}
	return Message{Role: message.RoleAssistant, Content: blocks, StopReason: stop, Timestamp: Millis(at)}
}

// Result is the result of a call. An empty result says so: providers demand content.
func Result(callID, tool string, blocks []Block, isError bool, at time.Time) Message {
	if tool == "" {
		tool = "unknown"
	}
	if len(blocks) == 0 {
		blocks = []Block{Text(message.NoOutput)}
	}
	return Message{Role: message.RoleToolResult, ToolCallID: callID, ToolName: tool, Content: blocks, IsError: &isError, Timestamp: Millis(at)}
}

// Injected is a text that a program put into the conversation: kept and found, but nobody said it (I10). kind names it.
func Injected(kind, text string, at time.Time) Message {
	return Message{Role: message.RoleCustom, CustomType: kind, Content: text, Timestamp: Millis(at)}
}

// Compaction is a summary by which a program replaced earlier messages.
func Compaction(summary string, at time.Time) Message {
	return Message{Role: message.RoleCompaction, Summary: summary, Timestamp: Millis(at)}
}

// JSON is the message's bytes: the same for the same message, always.
func (m Message) JSON() json.RawMessage {
	b, err := encode(m)
	if err != nil { // a raw block that is no JSON
		return nil
	}
	return b
}

// Item makes the message an item of a conversation. One that shows nothing is skipped.
func (m Message) Item(id, where string) ingest.Item {
	if m.empty() {
		return Skip(where, "an empty message")
	}
	raw := m.JSON()
	if raw == nil {
		return Skip(where, "a message that cannot be written as JSON")
	}
	return ingest.Item{Entry: skald.Entry{EntryID: id, Message: raw}, Where: where}
}

func (m Message) empty() bool {
	switch c := m.Content.(type) {
	case string:
		return strings.TrimSpace(c) == ""
	case []Block:
		return len(c) == 0
	}
	return strings.TrimSpace(m.Summary) == ""
}

// Skip is an item that is left out, with the place and the reason.
func Skip(where, reason string) ingest.Item { return ingest.Item{Skipped: reason, Where: where} }

// Millis is a time in milliseconds; 0 for the zero time.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// Time reads RFC 3339, with or without a zone (then UTC) and with a space for the T; zero when s is none of these.
func Time(s string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05Z07:00"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// Set puts a value under a key of the message's meta, unless it is empty.
func (m *Message) Set(key string, value any) {
	switch v := value.(type) {
	case nil:
		return
	case string:
		if v == "" {
			return
		}
	case bool:
		if !v {
			return
		}
	case json.RawMessage:
		if len(v) == 0 || string(v) == "null" || !json.Valid(v) {
			return
		}
	}
	if m.Meta == nil {
		m.Meta = map[string]any{}
	}
	m.Meta[key] = value
}

// encode writes JSON without the escapes for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
