package message

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Kind is the kind of a content block.
type Kind string

// The kinds. KindToolResult occurs only in messages of other providers, which put results into user messages.
const (
	KindText       Kind = "text"
	KindThinking   Kind = "thinking"
	KindImage      Kind = "image"
	KindToolCall   Kind = "toolCall"
	KindToolResult Kind = "toolResult"
	KindUnknown    Kind = "unknown"
)

// Block is one content block in canonical form.
type Block struct {
	Kind      Kind
	Text      string          // text, thinking
	ID        string          // toolCall, toolResult: the call's id
	Name      string          // toolCall, toolResult: the tool
	Arguments json.RawMessage // toolCall: always a JSON object or other value, "{}" when missing
	Result    []Block         // toolResult
	IsError   bool            // toolResult
	Mime      string          // image
	Data      string          // image: base64, or a URL
	Raw       json.RawMessage // as the host sent it; nil for content that was a plain string
	Foreign   bool            // another provider's shape, which this host would not understand
}

// blocks reads a content value of any accepted shape.
func blocks(raw json.RawMessage) []Block {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return nil
	}
	switch raw[0] {
	case '"':
		return []Block{{Kind: KindText, Text: str(raw)}}
	case '{':
		return []Block{block(raw)}
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return nil
		}
		out := make([]Block, 0, len(list))
		for _, b := range list {
			out = append(out, block(b))
		}
		return out
	}
	return nil
}

// block reads one block. What it does not know is kept as KindUnknown.
func block(raw json.RawMessage) Block {
	if len(raw) > 0 && raw[0] == '"' {
		return Block{Kind: KindText, Text: str(raw), Raw: raw, Foreign: true}
	}
	var f map[string]json.RawMessage
	if json.Unmarshal(raw, &f) != nil || f == nil {
		return Block{Kind: KindUnknown, Raw: raw}
	}
	b := Block{Raw: raw}
	switch kind := str(f["type"]); kind {
	case "text", "input_text", "output_text":
		b.Kind, b.Text, b.Foreign = KindText, str(f["text"]), kind != "text"
	case "thinking", "redacted_thinking", "reasoning":
		b.Kind, b.Text = KindThinking, first(f, "thinking", "text")
	case "image", "image_url", "input_image":
		b.image(kind, f)
	case "toolCall":
		b.call(f)
		b.Foreign = missing(f["arguments"]) || f["arguments"][0] != '{'
	case "tool_use", "toolUse", "tool_call", "function_call", "functionCall":
		b.call(f)
		b.Foreign = true
	case "tool_result", "toolResult", "function_call_output", "functionResponse", "tool_call_output":
		b.result(f)
		b.Foreign = true
	case "":
		b.untyped(f)
	default:
		b.Kind = KindUnknown
	}
	return b
}

// untyped reads Gemini's parts, which name their kind by a key.
func (b *Block) untyped(f map[string]json.RawMessage) {
	var inner map[string]json.RawMessage
	b.Kind = KindUnknown
	switch {
	case f["functionCall"] != nil && json.Unmarshal(f["functionCall"], &inner) == nil:
		b.call(inner)
		b.Foreign = true
	case f["functionResponse"] != nil && json.Unmarshal(f["functionResponse"], &inner) == nil:
		b.result(inner)
		b.Foreign = true
	case len(f["text"]) > 0 && f["text"][0] == '"':
		b.Kind, b.Text, b.Foreign = KindText, str(f["text"]), true
	}
}

func (b *Block) call(f map[string]json.RawMessage) {
	var fn map[string]json.RawMessage
	_ = json.Unmarshal(f["function"], &fn)
	b.Kind = KindToolCall
	b.ID = first(f, "id", "call_id", "tool_use_id", "toolCallId")
	if id := str(f["call_id"]); id != "" { // a response item has an id of its own beside the call's
		b.ID = id
	}
	if b.Name = first(f, "name", "toolName", "tool_name"); b.Name == "" {
		b.Name = str(fn["name"])
	}
	for _, v := range []json.RawMessage{f["arguments"], f["input"], f["args"], fn["arguments"]} {
		if !missing(v) {
			b.Arguments = arguments(v)
			return
		}
	}
	b.Arguments = json.RawMessage("{}")
}

// arguments undoes the string that some providers wrap arguments in.
func arguments(raw json.RawMessage) json.RawMessage {
	if len(raw) > 0 && raw[0] == '"' {
		inner := strings.TrimSpace(str(raw))
		if inner == "" {
			return json.RawMessage("{}")
		}
		if inner[0] == '{' && json.Valid([]byte(inner)) {
			return json.RawMessage(inner)
		}
	}
	if raw[0] != '{' {
		return object{{"value", raw}}.json()
	}
	return raw
}

func (b *Block) result(f map[string]json.RawMessage) {
	b.Kind = KindToolResult
	b.ID = first(f, "tool_use_id", "toolUseId", "call_id", "toolCallId", "tool_call_id", "id")
	b.Name = first(f, "toolName", "tool_name", "name")
	b.IsError = flag(f["is_error"]) || flag(f["isError"]) || str(f["status"]) == "error"
	for _, key := range []string{"content", "output", "result", "response"} {
		if v := f[key]; !missing(v) {
			if b.Result = blocks(v); v[0] == '{' && b.Result[0].Kind == KindUnknown || b.Result == nil {
				b.Result = []Block{{Kind: KindText, Text: string(v)}}
			}
			return
		}
	}
}

func (b *Block) image(kind string, f map[string]json.RawMessage) {
	b.Kind, b.Mime, b.Data = KindImage, first(f, "mimeType", "mime_type", "media_type"), first(f, "data", "image_url", "url")
	b.Foreign = kind != "image"
	for _, key := range []string{"source", "image_url"} {
		var src map[string]json.RawMessage
		if b.Data == "" && json.Unmarshal(f[key], &src) == nil && src != nil {
			b.Data, b.Foreign = first(src, "data", "url"), true
			if mime := first(src, "media_type", "mimeType"); mime != "" {
				b.Mime = mime
			}
		}
	}
	if rest, ok := strings.CutPrefix(b.Data, "data:"); ok {
		if mime, data, ok := strings.Cut(rest, ";base64,"); ok {
			b.Mime, b.Data = mime, data
		}
	}
}

// openAICalls reads the tool_calls that stand beside the content.
func openAICalls(raw json.RawMessage) []Block {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out []Block
	for _, r := range list {
		var f map[string]json.RawMessage
		if json.Unmarshal(r, &f) == nil && f != nil {
			b := Block{Raw: r, Foreign: true}
			b.call(f)
			out = append(out, b)
		}
	}
	return out
}

func missing(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// blank reports whether the block shows nothing.
func (b Block) blank() bool { return b.Kind == KindText && strings.TrimSpace(b.Text) == "" }
