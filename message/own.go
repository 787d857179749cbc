package message

import (
	"encoding/json"
	"strings"
)

// Mark begins every user text that the engine puts into a context.
const Mark = "[skald] "

// ownModel is the api, provider and model of assistant messages that the engine makes.
const ownModel = "skald"

// Assistant makes an assistant message with one text.
func Assistant(text string, ts int64) json.RawMessage {
	return object{
		{"role", encode(RoleAssistant)},
		{"content", array([]json.RawMessage{textBlock(text)})},
		{"api", encode(ownModel)}, {"provider", encode(ownModel)}, {"model", encode(ownModel)},
		{"usage", json.RawMessage(`{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,` +
			`"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`)},
		{"stopReason", encode("stop")},
		{"timestamp", encode(ts)},
	}.json()
}

// Injected reports whether a message is one that the engine made (User with Mark, Assistant, AssistantCall, and the result of such
// a call): it is never captured as if someone had said it (I10).
func Injected(raw []byte) bool {
	m, err := Parse(raw)
	if err != nil {
		return false
	}
	switch m.Role {
	case RoleUser:
		return len(m.Blocks) == 1 && strings.HasPrefix(m.Blocks[0].Text, Mark)
	case RoleAssistant:
		return m.Provider == ownModel && m.Model == ownModel
	case RoleToolResult:
		return (m.ToolName == "memory_recall_auto" || m.ToolName == "tool_call") && strings.HasPrefix(m.ToolCallID, "sk") && len(m.ToolCallID) == 9
	}
	return false
}

// Excluded reports whether the host marks the message as not for the model (its records of nested tool calls).
func (m *Message) Excluded() bool { return string(m.fields["excludeFromContext"]) == "true" }
