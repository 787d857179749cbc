package archive

import (
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

// read makes a Turn of a stored one; ok is false when it shows nothing that was said or done.
func read(s skald.Turn) (t Turn, ok bool) {
	m, err := message.Parse(s.Raw)
	if err != nil || message.Injected(s.Raw) {
		return t, false
	}
	t = Turn{Seq: s.Seq, Time: s.Time, Role: s.Role, Origin: s.Origin, Audience: s.Audience, Purpose: s.Purpose,
		Speaker: s.Speaker, ToolName: m.ToolName, IsError: m.IsError, Tokens: s.Tokens}
	if t.Role == "" {
		t.Role = m.SkaldRole()
	}
	for _, c := range m.ToolCalls() {
		t.ToolCalls = append(t.ToolCalls, ToolCall{ID: c.ID, Name: c.Name, Arguments: string(c.Arguments)})
	}
	t.Text = clean(visible(m))
	if t.Role != skald.RoleTool {
		t.Text = said(t.Text)
	}
	if t.Purpose == skald.PurposeTalk && t.Role == skald.RoleUser && message.Heartbeat(t.Text) {
		t.Purpose = skald.PurposeHeartbeat
	}
	if t.Role == skald.RoleTool && Recalled(t.ToolName) {
		return t, false
	}
	return t, t.Text != "" || len(t.ToolCalls) > 0
}

// visible joins the text blocks, and those of results, without calls, reasoning and images.
func visible(m *message.Message) string {
	var b strings.Builder
	lead := m.Role == message.RoleUser
	var add func(blocks []message.Block)
	add = func(blocks []message.Block) {
		for _, c := range blocks {
			text := c.Text
			switch c.Kind {
			case message.KindText:
			case message.KindToolResult:
				add(c.Result)
				continue
			default:
				continue
			}
			if lead {
				text = message.StripInjected(text)
				lead = strings.TrimSpace(text) == ""
			}
			b.WriteString(text)
			b.WriteByte('\n')
		}
	}
	add(m.Blocks)
	return b.String()
}
