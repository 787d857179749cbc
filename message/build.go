package message

import "encoding/json"

// User makes a user message; ts is in milliseconds. With 0 it has no timestamp: the host puts the date of a timestamp before the text.
// The bytes are the same for the same arguments, always: providers' caches depend on it.
func User(text string, ts int64) json.RawMessage {
	o := object{{"role", encode(RoleUser)}, {"content", encode(text)}}
	if ts != 0 {
		o = append(o, member{"timestamp", encode(ts)})
	}
	return o.json()
}

// AssistantCall makes an assistant message that calls one tool. args is marshalled; nil becomes {}.
func AssistantCall(id, tool string, args any, ts int64) json.RawMessage {
	call := object{{"type", encode(KindToolCall)}, {"id", encode(id)}, {"name", encode(tool)}, {"arguments", callArguments(args)}}
	return object{
		{"role", encode(RoleAssistant)},
		{"content", array([]json.RawMessage{call.json()})},
		{"api", encode("skald")}, {"provider", encode("skald")}, {"model", encode("skald")},
		{"usage", json.RawMessage(`{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,` +
			`"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`)},
		{"stopReason", encode("toolUse")},
		{"timestamp", encode(ts)},
	}.json()
}

func callArguments(args any) json.RawMessage {
	if args == nil {
		return json.RawMessage("{}")
	}
	if raw := encode(args); !missing(raw) {
		return raw
	}
	return json.RawMessage("{}")
}

// ToolResult makes the result of a call.
func ToolResult(id, tool, text string, ts int64) json.RawMessage {
	return toolResult(id, tool, array([]json.RawMessage{textBlock(text)}), false, encode(ts))
}

func toolResult(id, tool string, content json.RawMessage, isError bool, ts json.RawMessage) json.RawMessage {
	if missing(ts) {
		ts = json.RawMessage("0")
	}
	return object{
		{"role", encode(RoleToolResult)}, {"toolCallId", encode(id)}, {"toolName", encode(tool)},
		{"content", content}, {"isError", encode(isError)}, {"timestamp", ts},
	}.json()
}

func textBlock(text string) json.RawMessage {
	return object{{"type", encode(KindText)}, {"text", encode(text)}}.json()
}
