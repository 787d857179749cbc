package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/skald-engine/skald/server/wire"
)

// FromHost turns stored host messages back into Messages: those that ToHost made become what they were, those of another host
// (OpenClaw's own turns) their nearest form.
func FromHost(session string, list []HostMessage) []Message {
	out := []Message{}
	for i := 0; i < len(list); {
		first := parseHost(list[i])
		if first.Origin == nil || first.Origin.ID == "" {
			out = append(out, foreign(session, list[i], first))
			i++
			continue
		}
		group := []hostMessage{first}
		for i++; i < len(list); i++ {
			next := parseHost(list[i])
			if next.Origin == nil || next.Origin.ID != first.Origin.ID {
				break
			}
			group = append(group, next)
		}
		out = append(out, join(group, list[i-1]))
	}
	return out
}

// parseHost reads a host message as far as it is one; content may be a plain string.
func parseHost(m HostMessage) hostMessage {
	var h hostMessage
	if json.Unmarshal(m.Raw, &h) == nil {
		return h
	}
	var plain struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	switch json.Unmarshal(m.Raw, &plain) {
	case nil:
		h = hostMessage{Role: plain.Role, Content: []Part{textPart(stringForm(plain.Content))}}
	default:
		h = hostMessage{Role: "system", Content: []Part{textPart(literal(string(m.Raw)))}}
	}
	return h
}

// join puts the host messages of one Message together again.
func join(group []hostMessage, last HostMessage) Message {
	o := group[0].Origin
	m := Message{ID: o.ID, Role: o.Role, CreatedAt: o.CreatedAt, Peer: o.Peer, Turn: o.Turn, Kind: o.Kind, Sources: o.Sources}
	if m.Role == "" { // the list began in mid-message
		m.Role = roleOf(group[0].Role)
	}
	if m.CreatedAt == "" {
		m.CreatedAt = timestamp(last.Time)
	}
	alone, results, blocks := map[int]Part{}, map[int]hostMessage{}, []Part{}
	for _, h := range group {
		switch {
		case h.Origin.Index == nil:
			blocks = append(blocks, h.Content...)
		case h.Origin.Part != nil:
			alone[*h.Origin.Index] = fromResult(h)
		default:
			results[*h.Origin.Index] = h
		}
	}
	m.Parts = merge(blocks, results, alone)
	return m
}

// merge restores the order of parts: blocks fill the places that results without a call leave free.
func merge(blocks []Part, results map[int]hostMessage, alone map[int]Part) []Part {
	parts := []Part{}
	for place := 0; len(blocks) > 0; place++ {
		if p, ok := alone[place]; ok {
			parts = append(parts, p)
			delete(alone, place)
			continue
		}
		p := fromBlock(blocks[0])
		blocks = blocks[1:]
		if h, ok := results[place]; ok && len(h.Content) > 0 {
			p["tool_output"] = h.Content[0]["text"]
			h.Origin.show(p)
		}
		parts = append(parts, p)
	}
	for _, place := range slices.Sorted(maps.Keys(alone)) {
		parts = append(parts, alone[place])
	}
	return parts
}

// fromResult is a result without its call: a user's tool part.
func fromResult(h hostMessage) Part {
	p := rest(h.Origin.Part)
	p["type"], p["tool_id"], p["tool_name"] = literal("tool"), h.ToolCallID, h.ToolName
	if len(h.Content) > 0 {
		p["tool_output"] = h.Content[0]["text"]
	}
	h.Origin.show(p)
	return p
}

// show adds what is said of a result that stands as a stub.
func (m *mark) show(p Part) {
	if m == nil {
		return
	}
	for k, v := range m.View {
		p[k] = v
	}
}

// fromBlock turns a content block back into a part.
func fromBlock(b Part) Part {
	switch b.text("type") {
	case "toolCall":
		return fromCall(b)
	case "image":
		return fromImage(b)
	case "text", "context", "image_url":
		return b
	}
	return textPart(literal(string(object(b))))
}

func fromCall(b Part) Part {
	p := Part{"tool_uri": literal(""), "skill_uri": literal(""), "tool_status": literal("pending")}
	var other Part
	if json.Unmarshal(b["openviking"], &other) == nil {
		for k, v := range other {
			p[k] = v
		}
	}
	p["type"], p["tool_id"], p["tool_name"] = literal("tool"), stringForm(b["id"]), stringForm(b["name"])
	if string(p["no_input"]) != "true" && b["arguments"] != nil {
		p["tool_input"] = b["arguments"]
	}
	delete(p, "no_input")
	return p
}

func fromImage(b Part) Part {
	image := Part{}
	// A picture of the host itself has no marks.
	_ = json.Unmarshal(b["openviking"], &image)
	image["url"] = literal("data:" + b.text("mimeType") + ";base64," + b.text("data"))
	return Part{"type": literal("image_url"), "image_url": object(image)}
}

// foreign is a host's own turn in OpenViking's form. Its id is derived, so that it is the same at every read.
func foreign(session string, m HostMessage, h hostMessage) Message {
	out := Message{
		ID: foreignID(session, m.Seq), Role: roleOf(h.Role), CreatedAt: timestamp(m.Time), Parts: []Part{},
	}
	if h.Role == "toolResult" {
		out.Kind, out.Parts = kindToolTransport, []Part{foreignResult(h)}
		return out
	}
	for _, b := range h.Content {
		if t := b.text("type"); t != "thinking" && t != "redacted_thinking" {
			out.Parts = append(out.Parts, fromBlock(b))
		}
	}
	return out
}

func foreignID(session string, seq int64) string {
	sum := sha256.Sum256([]byte(session + "|" + strconv.FormatInt(seq, 10)))
	return "msg_" + hex.EncodeToString(sum[:16])
}

func foreignResult(h hostMessage) Part {
	status := "completed"
	if h.IsError != nil && *h.IsError {
		status = "error"
	}
	p := Part{
		"type": literal("tool"), "tool_id": stringForm(h.ToolCallID), "tool_name": stringForm(h.ToolName),
		"tool_uri": literal(""), "skill_uri": literal(""), "tool_status": literal(status),
		"tool_output": literal(resultText(h)),
	}
	h.Origin.show(p)
	return p
}

// roleOf is a host role in OpenViking's words, where results come from the user.
func roleOf(role string) string {
	if role == "toolResult" {
		return "user"
	}
	return role
}

// render is a list of messages for an answer.
func render(session string, list []HostMessage) []Message { return wire.List(FromHost(session, list)) }
