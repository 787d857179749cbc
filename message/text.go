package message

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/skald-engine/skald"
)

// SkaldRole is the envelope's role: roles that only the host knows are kept as system (000-100).
func (m *Message) SkaldRole() skald.Role {
	switch m.Role {
	case RoleUser:
		return skald.RoleUser
	case RoleAssistant:
		return skald.RoleAssistant
	case RoleToolResult:
		return skald.RoleTool
	}
	return skald.RoleSystem
}

// Text is what people read of the message and what is indexed: visible texts, tool calls with their arguments, results, summaries.
// Thinking is left out. Blocks that were injected at the start of a user's text are taken off, so that what was recalled is never
// captured as said (I10, CAP-03).
func (m *Message) Text() string {
	var parts []string
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			parts = append(parts, s)
		}
	}
	add(m.Summary)
	if m.Role == RoleBash {
		add(m.Command)
		add(m.Output)
	}
	lead := m.Role == RoleUser
	for _, b := range m.Blocks {
		s := b.visible()
		if lead && b.Kind == KindText {
			s = StripInjected(s)
			lead = strings.TrimSpace(s) == ""
		}
		add(s)
	}
	return strings.Join(parts, "\n")
}

// visible is the text of one block.
func (b Block) visible() string {
	switch b.Kind {
	case KindText:
		return b.Text
	case KindImage:
		return "[image " + b.Mime + "]"
	case KindToolCall:
		return b.Name + " " + compact(b.Arguments)
	case KindToolResult:
		var parts []string
		for _, r := range b.Result {
			parts = append(parts, r.visible())
		}
		return strings.Join(parts, "\n")
	case KindUnknown:
		return compact(b.Raw)
	}
	return ""
}

// compact drops insignificant white space from JSON.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// Blank reports whether the message shows nothing at all: no text, call, image or summary; an errored turn without content, or one
// that only thought, is blank (CAP-10, ASM-02).
func (m *Message) Blank() bool {
	if strings.TrimSpace(m.Summary) != "" || m.Role == RoleBash {
		return false
	}
	for _, b := range m.Blocks {
		if b.Kind != KindThinking && !b.blank() {
			return false
		}
	}
	return true
}

// ToolCalls lists the calls of the message.
func (m *Message) ToolCalls() []Block {
	var out []Block
	for _, b := range m.Blocks {
		if b.Kind == KindToolCall {
			out = append(out, b)
		}
	}
	return out
}

// HasImage reports whether an image is part of the message.
func (m *Message) HasImage() bool { return hasImage(m.Blocks) }

func hasImage(list []Block) bool {
	for _, b := range list {
		if b.Kind == KindImage || hasImage(b.Result) {
			return true
		}
	}
	return false
}

// ToolID strips everything but letters and digits from a tool call's id, and an item id behind "|", as the host does between its views
// (docs/openclaw.md, 2).
func ToolID(s string) string {
	s, _, _ = strings.Cut(s, "|")
	for i := 0; i < len(s); i++ {
		if !alnum(s[i]) {
			b := []byte(s[:i])
			for ; i < len(s); i++ {
				if alnum(s[i]) {
					b = append(b, s[i])
				}
			}
			return string(b)
		}
	}
	return s
}

func alnum(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }
