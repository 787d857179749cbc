package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// hostMessage is a message in the host's form (OpenClaw's), which the engine stores. What the host's form has no place for
// stands under "openviking", so that fromHost gives back the same Message.
type hostMessage struct {
	Role       string          `json:"role"`
	ToolCallID json.RawMessage `json:"toolCallId,omitempty"`
	ToolName   json.RawMessage `json:"toolName,omitempty"`
	Content    []Part          `json:"content"`
	IsError    *bool           `json:"isError,omitempty"`
	Timestamp  int64           `json:"timestamp"` // milliseconds
	Origin     *mark           `json:"openviking,omitempty"`
}

// mark is what the host's form has no place for. Host messages with the same id are one Message.
type mark struct {
	ID        string   `json:"id"`
	Role      string   `json:"role,omitempty"` // of the Message, on its first host message
	CreatedAt string   `json:"created_at,omitempty"`
	Peer      string   `json:"peer_id,omitempty"`
	Turn      string   `json:"turn_id,omitempty"`
	Kind      string   `json:"message_kind,omitempty"`
	Sources   []string `json:"source_message_ids,omitempty"`
	Index     *int     `json:"index,omitempty"` // on results: the place of their part
	Part      Part     `json:"part,omitempty"`  // on results without a call: the rest of their part
	View      Part     `json:"view,omitempty"`  // never stored: members of the part of a result that is shown as a stub
}

// ToHost turns a message into host messages. An assistant's tool part is a call and, once it has ended, its result; a user's
// tool part is a result. It is a pure function of m.
func ToHost(m Message, now time.Time) ([]skald.Entry, error) {
	ms := messageTime(m.CreatedAt, now)
	main := hostMessage{Role: m.Role, Content: []Part{}, Timestamp: ms, Origin: &mark{ID: m.ID}}
	var results []hostMessage
	for i, p := range m.Parts {
		if p.text("type") != "tool" {
			main.Content = append(main.Content, toBlock(p))
			continue
		}
		ended := p.text("tool_status") == "completed" || p.text("tool_status") == "error" || p["tool_output"] != nil
		switch {
		case m.Role != "user":
			main.Content = append(main.Content, toCall(p))
			if ended {
				results = append(results, toResult(p, m.ID, i, ms, nil))
			}
		default:
			results = append(results, toResult(p, m.ID, i, ms, rest(p, "type", "tool_id", "tool_name", "tool_output")))
		}
	}
	return entries(m, arrange(m, main, results))
}

// arrange orders the host messages of m: a user's results answer earlier calls, so they come before the user's words.
func arrange(m Message, main hostMessage, results []hostMessage) []hostMessage {
	if m.Role != "user" {
		return append([]hostMessage{main}, results...)
	}
	if len(main.Content) == 0 && len(results) > 0 {
		return results
	}
	return append(results, main)
}

func entries(m Message, list []hostMessage) ([]skald.Entry, error) {
	first := list[0].Origin
	first.Role, first.CreatedAt, first.Peer, first.Turn = m.Role, m.CreatedAt, m.Peer, m.Turn
	first.Kind, first.Sources = m.Kind, m.Sources
	out := make([]skald.Entry, len(list))
	for i, h := range list {
		raw, err := wire.Encode(h)
		if err != nil {
			return nil, skald.E("api.to_host", skald.KindInvalid, "%w", err)
		}
		out[i] = skald.Entry{EntryID: m.ID, Message: raw}
		if i > 0 {
			out[i].EntryID = fmt.Sprintf("%s/%d", m.ID, i)
		}
	}
	return out, nil
}

// messageTime is created_at in milliseconds; what is no time takes the time of arrival, and created_at stays as it is.
func messageTime(createdAt string, now time.Time) int64 {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, createdAt); err == nil {
			return t.UnixMilli()
		}
	}
	return now.UnixMilli()
}

func toCall(p Part) Part {
	call := Part{"type": literal("toolCall"), "id": p["tool_id"], "name": p["tool_name"], "arguments": p["tool_input"]}
	other := rest(p, "type", "tool_id", "tool_name", "tool_input", "tool_output")
	if call["arguments"] == nil {
		call["arguments"] = json.RawMessage("{}")
		other["no_input"] = json.RawMessage("true")
	}
	call["openviking"] = object(other)
	return call
}

func toResult(p Part, id string, index int, ms int64, part Part) hostMessage {
	failed := p.text("tool_status") == "error"
	h := hostMessage{
		Role: "toolResult", ToolCallID: p["tool_id"], ToolName: p["tool_name"], Content: []Part{}, IsError: &failed,
		Timestamp: ms, Origin: &mark{ID: id, Index: &index, Part: part},
	}
	if out := p["tool_output"]; out != nil {
		h.Content = append(h.Content, textPart(out))
	}
	return h
}

// toBlock turns a part into a content block: text as it is, an embedded picture into the host's image, anything else verbatim.
func toBlock(p Part) Part {
	if p.text("type") != "image_url" {
		return p
	}
	var image Part
	if json.Unmarshal(p["image_url"], &image) != nil {
		return p
	}
	kind, data, ok := strings.Cut(strings.TrimPrefix(image.text("url"), "data:"), ";base64,")
	if !ok || !strings.HasPrefix(image.text("url"), "data:") {
		return p
	}
	block := Part{"type": literal("image"), "mimeType": literal(kind), "data": literal(data)}
	if other := rest(image, "url"); len(other) > 0 {
		block["openviking"] = object(other)
	}
	return block
}

// rest is p without some keys.
func rest(p Part, without ...string) Part {
	out := Part{}
	for k, v := range p {
		out[k] = v
	}
	for _, k := range without {
		delete(out, k)
	}
	return out
}

func object(p Part) json.RawMessage {
	b, err := wire.Encode(p)
	if err != nil {
		panic(err) // values came out of valid JSON
	}
	return b
}
