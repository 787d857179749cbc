package codex

import (
	"bytes"
	"encoding/json"

	"github.com/skald-engine/skald/ingest/record"
)

// The kinds of lines that matter.
const (
	typeMeta      = "session_meta"
	typeItem      = "response_item"
	typeContext   = "turn_context"
	typeCompacted = "compacted"
)

// line is one line of a rollout: {timestamp, type, payload}.
type line struct {
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
}

// parse reads a line. Older rollouts wrote the items and the head without the frame: they get one.
func parse(text []byte) (line, bool) {
	var l line
	if json.Unmarshal(text, &l) != nil || !bytes.HasPrefix(text, []byte("{")) {
		return l, false
	}
	if l.Payload != nil {
		return l, true
	}
	var old struct {
		ID         string `json:"id"`
		RecordType string `json:"record_type"`
		Type       string `json:"type"`
		Timestamp  string `json:"timestamp"`
	}
	_ = json.Unmarshal(text, &old)
	l.Payload = bytes.Clone(text)
	switch {
	case old.Type != "":
		l.Type = typeItem
	case old.ID != "":
		l.Type = typeMeta
	default:
		l.Type = "record " + old.RecordType
	}
	return l, true
}

// item is a response item, as far as it matters here.
type item struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Summary   json.RawMessage `json:"summary"`
	Name      string          `json:"name"`
	CallID    string          `json:"call_id"`
	Arguments json.RawMessage `json:"arguments"`
	Input     json.RawMessage `json:"input"`
	Action    json.RawMessage `json:"action"`
	Output    json.RawMessage `json:"output"`
	Result    string          `json:"result"` // image_generation_call: base64
}

// arguments are a call's, under the name that its kind uses.
func (i item) arguments() json.RawMessage {
	for _, raw := range []json.RawMessage{i.Arguments, i.Input, i.Action} {
		if len(raw) > 0 {
			return raw
		}
	}
	return nil
}

// part is one part of a content.
type part struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL string `json:"image_url"`

	raw json.RawMessage
}

// parts reads a content: a string, or a list.
func parts(raw json.RawMessage) []part {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if text == "" {
			return nil
		}
		return []part{{Type: "text", Text: text}}
	}
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list)
	var out []part
	for _, r := range list {
		var p part
		if json.Unmarshal(r, &p) != nil {
			p.Type = "unreadable"
		}
		p.raw = r
		out = append(out, p)
	}
	return out
}

func (p part) isText() bool {
	switch p.Type {
	case "text", "input_text", "output_text", "summary_text", "reasoning_text":
		return true
	}
	return false
}

// block is the part in the host's form.
func (p part) block() record.Block {
	if p.isText() {
		return record.Text(p.Text)
	}
	if mime, data, ok := dataURL(p.ImageURL); ok {
		return record.Image(mime, data)
	}
	return record.Block{Type: p.Type, Raw: p.raw}
}

func dataURL(url string) (mime, data string, ok bool) {
	rest, ok := bytes.CutPrefix([]byte(url), []byte("data:"))
	if !ok {
		return "", "", false
	}
	m, d, ok := bytes.Cut(rest, []byte(";base64,"))
	return string(m), string(d), ok
}
