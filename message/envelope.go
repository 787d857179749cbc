package message

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"sort"
	"strconv"
	"time"

	"github.com/skald-engine/skald"
)

// Envelope derives document 000's envelope (000-100 to 000-109) from a stored turn. used are the URIs that were injected for it. What has
// no part type of its own becomes a meta part, so that nothing of the message is lost; of an image only type, size and hash are shown,
// since the bytes are in the turn itself.
func Envelope(t skald.Turn, sessionID string, used []string) skald.TurnEnvelope {
	e := skald.TurnEnvelope{
		TurnID: t.TurnID, SessionID: sessionID, Sequence: t.Seq, Timestamp: stamp(t.Time), Role: t.Role,
		Parts: []skald.Part{}, UsedContextURIs: append([]string{}, used...), UsedSkills: []skald.UsedSkill{},
		ToolCalls: []skald.ToolCall{}, ToolResults: []skald.ToolResult{},
		CompactionMarker: &skald.CompactionMarker{Source: "raw"},
	}
	if e.TurnID == "" {
		e.TurnID = sessionID + ":" + strconv.FormatInt(t.Seq, 10)
	}
	if t.Purged {
		e.Parts = append(e.Parts, meta("purged", encode(true)))
		return e
	}
	m, err := Parse(t.Raw)
	if err != nil {
		e.Parts = append(e.Parts, meta("raw", encode(base64.StdEncoding.EncodeToString(t.Raw))))
		return e
	}
	if t.Role == "" {
		e.Role = m.SkaldRole()
	}
	if t.Time.IsZero() {
		e.Timestamp = stamp(m.Timestamp)
	}
	if m.Role == RoleToolResult {
		envelopeResult(&e, Block{Kind: KindToolResult, Name: m.ToolName, ID: m.ToolCallID, IsError: m.IsError, Result: m.Blocks})
	} else {
		for _, b := range m.Blocks {
			envelopeBlock(&e, b)
		}
	}
	for _, uri := range used {
		e.Parts = append(e.Parts, skald.Part{Type: "context_ref", URI: uri})
	}
	e.Parts = append(e.Parts, m.metaParts()...)
	return e
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

func envelopeBlock(e *skald.TurnEnvelope, b Block) {
	switch b.Kind {
	case KindText:
		if b.Text != "" {
			e.Parts = append(e.Parts, skald.Part{Type: "text", Text: b.Text})
		}
	case KindThinking:
		e.Parts = append(e.Parts, meta("thinking", b.Raw))
	case KindImage:
		e.Parts = append(e.Parts, meta("image", b.imageMeta()))
	case KindToolCall:
		e.Parts = append(e.Parts, skald.Part{Type: "tool_call", ToolName: b.Name, Arguments: b.Arguments}, meta("tool_call_id", encode(b.ID)))
		e.ToolCalls = append(e.ToolCalls, skald.ToolCall{ToolName: b.Name, Arguments: b.Arguments})
	case KindToolResult:
		envelopeResult(e, b)
	default:
		e.Parts = append(e.Parts, meta("block", b.Raw))
	}
}

func envelopeResult(e *skald.TurnEnvelope, b Block) {
	status := "success"
	if b.IsError {
		status = "error"
	}
	result := b.resultJSON()
	e.Parts = append(e.Parts, skald.Part{Type: "tool_result", ToolName: b.Name, Result: result}, meta("tool_call_id", encode(b.ID)))
	for _, r := range b.Result {
		if r.Kind != KindText {
			envelopeBlock(e, r)
		}
	}
	e.ToolResults = append(e.ToolResults, skald.ToolResult{ToolName: b.Name, Result: result, Status: status})
}

// resultJSON is the result as one JSON value: its text, or the list of its blocks without image data.
func (b Block) resultJSON() json.RawMessage {
	if len(b.Result) == 1 && b.Result[0].Kind == KindText {
		return encode(b.Result[0].Text)
	}
	var out []json.RawMessage
	for _, r := range b.Result {
		switch r.Kind {
		case KindText:
			out = append(out, textBlock(r.Text))
		case KindImage:
			out = append(out, r.imageMeta())
		default:
			out = append(out, r.Raw)
		}
	}
	return array(out)
}

func (b Block) imageMeta() json.RawMessage {
	data, err := base64.StdEncoding.DecodeString(b.Data)
	if err != nil {
		data = []byte(b.Data)
	}
	sum := sha256.Sum256(data)
	return object{{"mime", encode(b.Mime)}, {"bytes", encode(len(data))}, {"sha256", encode(hex.EncodeToString(sum[:]))}}.json()
}

// metaParts are the message's fields beside role, content and time, by name; the host's role too when it is not the envelope's.
func (m *Message) metaParts() []skald.Part {
	var keys []string
	for k := range m.fields {
		switch k {
		case "role", "content", "timestamp", "tool_calls", "toolCallId", "toolName", "isError":
		default:
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	var out []skald.Part
	if role := str(m.fields["role"]); role != string(m.SkaldRole()) {
		out = append(out, meta("host_role", encode(role)))
	}
	for _, k := range keys {
		out = append(out, meta(k, m.fields[k]))
	}
	return out
}

func meta(key string, value json.RawMessage) skald.Part {
	if !json.Valid(value) {
		value = encode(string(value))
	}
	return skald.Part{Type: "meta", Key: key, Value: value}
}
