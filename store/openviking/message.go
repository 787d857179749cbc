package openviking

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client/openviking"
	"github.com/skald-engine/skald/message"
)

// mostText is the most of one part that OpenViking is shown, in bytes; the carrier holds it whole.
const mostText = 1 << 20

// toMessage is a turn in OpenViking's words, so that its own tools, summaries and extraction see it. What must never become a memory (I10) has
// no words there: turns of the machinery (heartbeats, system texts) and what was forgotten. The turn itself is carried within.
func toMessage(s sessionHeader, t skald.Turn) (m openviking.Message, err error) {
	m = openviking.Message{Role: "user", CreatedAt: t.Time.UTC().Format("2006-01-02T15:04:05.000Z"), Parts: []openviking.Part{openviking.Text("")}}
	if m.Sources, err = carry(s, t); err != nil {
		return m, err
	}
	if t.Role == skald.RoleAssistant || t.Role == skald.RoleSystem {
		m.Role = string(t.Role)
	}
	if t.Origin == skald.OriginPerson {
		m.Peer = peer(t.Speaker)
	}
	if t.Purpose != skald.PurposeTalk || t.Forgotten || t.Purged || t.Role == skald.RoleSystem {
		return m, nil
	}
	read, err := message.Parse(t.Raw)
	if err != nil {
		return m, nil // no JSON object: stored verbatim all the same
	}
	if parts := partsOf(read); len(parts) > 0 {
		m.Parts = parts
	}
	if t.Role == skald.RoleTool {
		m.Kind = "tool_transport"
	}
	return m, nil
}

func partsOf(m *message.Message) (parts []openviking.Part) {
	if m.SkaldRole() == skald.RoleTool {
		return []openviking.Part{result(m)}
	}
	for _, b := range m.Blocks {
		switch b.Kind {
		case message.KindText:
			if text := message.StripInjected(b.Text); strings.TrimSpace(text) != "" {
				parts = append(parts, openviking.Text(short(text)))
			}
		case message.KindToolCall:
			parts = append(parts, tool(b.ID, b.Name, "pending", "tool_input", arguments(b.Arguments)))
		}
	}
	return parts
}

func result(m *message.Message) openviking.Part {
	status := "completed"
	if m.IsError {
		status = "error"
	}
	return tool(m.ToolCallID, m.ToolName, status, "tool_output", short(m.Text()))
}

func tool(id, name, status, key string, value any) openviking.Part {
	return openviking.Part{"type": "tool", "tool_id": clean(id), "tool_name": clean(name), "tool_uri": "", "skill_uri": "",
		"tool_status": status, key: value}
}

// arguments are a call's arguments without broken surrogates, which the server refuses.
func arguments(raw json.RawMessage) any {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return map[string]any{}
	}
	return v
}

func clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func short(s string) string {
	if len(s) <= mostText {
		return clean(s)
	}
	return strings.ToValidUTF8(s[:mostText], "") + "…"
}

var unsafePeer = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// peer is a speaker's name as OpenViking takes it. Somebody without a name is not credited to the owner either.
func peer(speaker string) string {
	if p := strings.Trim(unsafePeer.ReplaceAllString(speaker, "_"), "._"); p != "" {
		return p[:min(len(p), 64)]
	}
	return "someone"
}

// timeOf reads a time of the server; zero when it is none.
func timeOf(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
