package message

import (
	"encoding/json"
	"strings"
)

// Texts that stand where a provider demands one.
const (
	NoResult = "[no result: the call was interrupted]"
	NoOutput = "(no output)"
)

// normal is a message in the host's own shape.
type normal struct {
	raw  json.RawMessage
	role string
	id   string // toolResult: the call's id
	tool string // toolResult
	rank int    // toolResult: how much it is worth against another one for the same call
	call []Block
}

// The worth of a result: a synthetic one loses against a real one, an error against a success (TP-03).
const (
	rankSynthetic = iota
	rankError
	rankReal
)

// normalise brings one message into the host's shape: other providers' blocks are rewritten (TP-08), blank blocks and blank messages
// dropped, results inside user messages become messages of their own. What needs no change keeps its bytes.
//
// m is what Parse made of raw; its list of blocks is changed.
func normalise(raw json.RawMessage, m *Message) []normal {
	if m.Role == "" {
		return nil // no host can show it
	}
	if m.mended {
		raw = mend(raw)
	}
	switch m.Role {
	case RoleToolResult:
		return []normal{normalResult(raw, m)}
	case RoleAssistant, RoleUser:
		return normalTalk(raw, m)
	case RoleCustom, RoleBranch, RoleCompaction:
		if m.Blank() {
			return nil
		}
	}
	return []normal{{raw: raw, role: m.Role}}
}

// normalTalk handles user and assistant messages.
func normalTalk(raw json.RawMessage, m *Message) []normal {
	var keep []Block
	var out []normal
	changed := m.fields["tool_calls"] != nil || str(m.fields["role"]) != m.Role
	seen := map[string]bool{}
	for i, b := range m.Blocks {
		switch {
		case b.Kind == KindToolResult:
			out = append(out, resultOf(b, m))
			changed = true
			continue
		case b.blank(), b.Kind == KindToolCall && m.Role == RoleUser:
			changed = true
			continue
		case b.Kind == KindToolCall:
			if ToolID(b.ID) == "" {
				b.ID = "skald" + MatchKey(raw)[:10] + string(rune('a'+i%26))
				b.Foreign = true
			}
			if b.Name == "" {
				b.Name, b.Foreign = "unknown", true
			}
			if seen[ToolID(b.ID)] { // TP-05
				changed = true
				continue
			}
			seen[ToolID(b.ID)] = true
		}
		changed = changed || b.Foreign
		keep = append(keep, b)
	}
	m.Blocks = keep
	if m.Blank() {
		return out
	}
	n := normal{raw: raw, role: m.Role, call: m.ToolCalls()}
	if changed {
		n.raw = rewrite(raw, m)
	}
	return append(out, n)
}

// rewrite writes the message's blocks in the host's shape and leaves all else as it stands.
func rewrite(raw json.RawMessage, m *Message) json.RawMessage {
	o, ok := parseObject(raw)
	if !ok {
		return raw
	}
	o = o.without("tool_calls").set("role", encode(m.Role))
	if len(m.Blocks) == 1 && m.Blocks[0].Raw == nil {
		return o.json() // content is a plain string
	}
	return o.set("content", blocksJSON(m.Blocks)).json()
}

func blocksJSON(list []Block) json.RawMessage {
	out := make([]json.RawMessage, 0, len(list))
	for _, b := range list {
		out = append(out, b.json())
	}
	return array(out)
}

// json writes the block as the host would; a block of the host's own shape keeps its bytes.
func (b Block) json() json.RawMessage {
	if b.Raw != nil && !b.Foreign {
		return b.Raw
	}
	switch b.Kind {
	case KindText:
		return textBlock(b.Text)
	case KindImage:
		if strings.Contains(b.Data, "://") {
			return textBlock("[image " + b.Data + "]")
		}
		return object{{"type", encode(KindImage)}, {"data", encode(b.Data)}, {"mimeType", encode(b.Mime)}}.json()
	case KindToolCall:
		return b.callJSON()
	}
	return b.Raw
}

func (b Block) callJSON() json.RawMessage {
	o := object{{"type", encode(KindToolCall)}}
	if own, ok := parseObject(b.Raw); ok && str(own.get("type")) == string(KindToolCall) {
		o = own // keep signatures and other marks
	}
	args := b.Arguments
	if missing(args) {
		args = json.RawMessage("{}")
	}
	return o.set("id", encode(b.ID)).set("name", encode(b.Name)).set("arguments", args).json()
}

// resultOf makes a message of a result that another provider put into a user message.
func resultOf(b Block, m *Message) normal {
	return normal{raw: toolResult(b.ID, b.Name, resultContent(b.Result), b.IsError, m.fields["timestamp"]), role: RoleToolResult,
		id: b.ID, tool: b.Name, rank: rankOf(b.Result, b.IsError, false)}
}

func normalResult(raw json.RawMessage, m *Message) normal {
	n := normal{raw: raw, role: RoleToolResult, id: m.ToolCallID, tool: m.ToolName,
		rank: rankOf(m.Blocks, m.IsError, isSynthetic(m.fields["details"]))}
	renaming := str(m.fields["role"]) != RoleToolResult || str(m.fields["toolCallId"]) != m.ToolCallID || str(m.fields["toolName"]) != m.ToolName
	refilling := needsContent(m.fields["content"], m.Blocks)
	if !renaming && !refilling {
		return n
	}
	o, _ := parseObject(raw)
	if renaming {
		o = o.without("tool_call_id", "call_id", "tool_use_id", "toolUseId", "tool_name", "name").
			set("role", encode(RoleToolResult)).set("toolCallId", encode(m.ToolCallID)).set("toolName", encode(m.ToolName))
		n.raw = o.json()
	}
	if refilling {
		n.raw = o.set("content", resultContent(m.Blocks)).json()
	}
	return n
}

// needsContent reports whether a result's content must be written anew: missing, blank, or of another provider's shape.
func needsContent(content json.RawMessage, list []Block) bool {
	if len(content) == 0 || content[0] != '[' || len(list) == 0 {
		return len(content) == 0 || content[0] != '"' || strings.TrimSpace(str(content)) == ""
	}
	for _, b := range list {
		if b.Foreign || b.blank() || b.Kind == KindToolResult || b.Kind == KindToolCall || b.Kind == KindUnknown {
			return true
		}
	}
	return false
}

// resultContent writes a result's content, never empty (ASM-02).
func resultContent(list []Block) json.RawMessage {
	var out []json.RawMessage
	for _, b := range list {
		switch {
		case b.blank() || b.Kind == KindThinking:
		case b.Kind == KindText || b.Kind == KindImage:
			out = append(out, b.json())
		default:
			if s := b.visible(); strings.TrimSpace(s) != "" {
				out = append(out, textBlock(s))
			}
		}
	}
	if len(out) == 0 {
		out = append(out, textBlock(NoOutput))
	}
	return array(out)
}

func rankOf(list []Block, isError, synthetic bool) int {
	if synthetic {
		return rankSynthetic
	}
	if !isError {
		return rankReal
	}
	for _, b := range list {
		text := strings.ToLower(strings.TrimSpace(b.Text))
		if strings.HasPrefix(text, "[no result:") || strings.HasPrefix(text, "[") && strings.Contains(text, "missing tool result") {
			return rankSynthetic
		}
	}
	return rankError
}

// isSynthetic reads the mark that some hosts leave on results they invented.
func isSynthetic(details json.RawMessage) bool {
	var d struct {
		Synthetic bool `json:"synthetic"`
	}
	return json.Unmarshal(details, &d) == nil && d.Synthetic
}
