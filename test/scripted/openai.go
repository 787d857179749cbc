package scripted

import (
	"encoding/json"
)

type openAIMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCalls  json.RawMessage `json:"tool_calls"`
	ToolCallID string          `json:"tool_call_id"`
	Reasoning  *string         `json:"reasoning_content"`
}

type openAICall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
	Extra struct {
		Google struct {
			Signature string `json:"thought_signature"`
		} `json:"google"`
	} `json:"extra_content"`
}

func (c *call) parseOpenAI(fields map[string]json.RawMessage, messages []json.RawMessage) *refusal {
	var options struct {
		IncludeUsage bool `json:"include_usage"`
	}
	if jsonKind(fields["stream_options"]) != 0 {
		if !c.req.Stream {
			return refuse("The 'stream_options' parameter is only allowed when 'stream' is enabled.")
		}
		_ = json.Unmarshal(fields["stream_options"], &options)
	}
	c.includeUsage = options.IncludeUsage
	var bad *refusal
	for i, raw := range messages {
		m := Message{Raw: raw, source: i}
		var w openAIMessage
		var generic map[string]any
		if json.Unmarshal(raw, &w) != nil || decode(raw, &generic) != nil || generic == nil {
			bad = first(bad, refuse("Invalid value for 'messages[%d]': a message object is expected", i))
			continue
		}
		c.units = append(c.units, unit{canonicalMessage(raw), weighJSON(generic), false})
		m.Role = w.Role
		m.ToolResultFor = w.ToolCallID
		m.Thinking = w.Reasoning != nil && *w.Reasoning != ""
		text, empty, marked, r := openAIContent(i, w.Role, w.Content)
		m.CacheControl = marked
		bad = first(bad, r)
		calls, r := openAICalls(i, w.ToolCalls)
		bad = first(bad, r)
		m.ToolCalls = calls
		m.Text = text
		switch w.Role {
		case "system", "developer":
			if c.req.System != "" {
				c.req.System += "\n"
			}
			c.req.System += text
			if empty {
				bad = first(bad, refuse("Invalid 'messages[%d].content': must not be empty", i))
			}
		case "user":
			if empty {
				bad = first(bad, refuse("Invalid 'messages[%d].content': must not be empty", i))
			}
			m.Internal = isInternal(text)
			if !m.Internal {
				m.Text = stripInternal(text)
			}
		case "assistant":
			if empty && len(calls) == 0 {
				bad = first(bad, refuse("Invalid 'messages[%d]': an assistant message needs content or tool_calls", i))
			}
		case "tool":
			if w.ToolCallID == "" {
				bad = first(bad, refuse("Missing required parameter: 'messages[%d].tool_call_id'.", i))
			}
			if jsonKind(w.Content) == 0 {
				bad = first(bad, refuse("Invalid value for 'content': expected a string, got null. (messages[%d])", i))
			}
		default:
			bad = first(bad, refuse("Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'tool' and 'developer'. (messages[%d].role)", w.Role, i))
		}
		if w.Role != "assistant" && len(calls) > 0 {
			bad = first(bad, refuse("Invalid 'messages[%d]': only an assistant message has tool_calls", i))
		}
		if w.Role != "tool" && w.ToolCallID != "" {
			bad = first(bad, refuse("Invalid 'messages[%d]': only a tool message has a tool_call_id", i))
		}
		c.req.Messages = append(c.req.Messages, m)
	}
	return bad
}

// openAIContent reads a content field; empty means without any content.
func openAIContent(i int, role string, raw json.RawMessage) (text string, empty, marked bool, bad *refusal) {
	switch jsonKind(raw) {
	case 0:
		if role == "assistant" || role == "tool" {
			return "", true, false, nil
		}
		return "", true, false, refuse("Invalid value for 'content': expected a string, got null. (messages[%d])", i)
	case '"':
		if err := json.Unmarshal(raw, &text); err != nil {
			return "", true, false, refuse("Invalid 'messages[%d].content'", i)
		}
		return text, text == "", false, nil
	case '[':
		var parts []struct {
			Type  string          `json:"type"`
			Text  *string         `json:"text"`
			Image json.RawMessage `json:"image_url"`
			Cache json.RawMessage `json:"cache_control"`
		}
		if err := json.Unmarshal(raw, &parts); err != nil {
			return "", true, false, refuse("Invalid 'messages[%d].content': expected content parts", i)
		}
		if len(parts) == 0 {
			return "", true, false, refuse("Invalid 'messages[%d].content': empty array. Expected an array with minimum length 1, but got an empty array instead.", i)
		}
		for j, p := range parts {
			marked = marked || jsonKind(p.Cache) != 0
			switch p.Type {
			case "text":
				if p.Text == nil || *p.Text == "" {
					bad = first(bad, refuse("Invalid 'messages[%d].content[%d].text': an empty text part", i, j))
					continue
				}
				if text != "" {
					text += "\n"
				}
				text += *p.Text
			case "image_url":
				if role != "user" || jsonKind(p.Image) != '{' {
					bad = first(bad, refuse("Invalid 'messages[%d].content[%d]': an image is not possible here", i, j))
				}
			case "input_audio", "file":
				if role != "user" {
					bad = first(bad, refuse("Invalid 'messages[%d].content[%d]': type %s is not possible here", i, j, p.Type))
				}
			default:
				bad = first(bad, refuse("Invalid value: '%s' for 'messages[%d].content[%d].type'.", p.Type, i, j))
			}
		}
		return text, false, marked, bad
	}
	return "", true, false, refuse("Invalid type for 'messages[%d].content': expected a string or an array", i)
}

func openAICalls(i int, raw json.RawMessage) ([]ToolCall, *refusal) {
	if jsonKind(raw) == 0 {
		return nil, nil
	}
	var list []openAICall
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, refuse("Invalid 'messages[%d].tool_calls': expected an array of tool calls", i)
	}
	if len(list) == 0 {
		return nil, refuse("Invalid 'messages[%d].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.", i)
	}
	var out []ToolCall
	var bad *refusal
	seen := map[string]bool{}
	for j, t := range list {
		var args string
		var object map[string]any
		if json.Unmarshal(t.Function.Arguments, &args) != nil {
			bad = first(bad, refuse("Invalid type for 'messages[%d].tool_calls[%d].function.arguments': expected a string", i, j))
		} else if json.Unmarshal([]byte(args), &object) != nil || object == nil {
			bad = first(bad, refuse("Invalid 'messages[%d].tool_calls[%d].function.arguments': not a JSON object", i, j))
			args = ""
		}
		switch {
		case t.ID == "":
			bad = first(bad, refuse("Missing required parameter: 'messages[%d].tool_calls[%d].id'.", i, j))
		case len(t.ID) > openAIMaxID:
			bad = first(bad, refuse("Invalid 'messages[%d].tool_calls[%d].id': string too long, %d is the maximum", i, j, openAIMaxID))
		case seen[t.ID]:
			bad = first(bad, refuse("Invalid 'messages[%d].tool_calls[%d].id': duplicate tool call id '%s'", i, j, t.ID))
		case t.Type != "function":
			bad = first(bad, refuse("Invalid value for 'messages[%d].tool_calls[%d].type': '%s'", i, j, t.Type))
		case !openAIName.MatchString(t.Function.Name):
			bad = first(bad, refuse("Invalid 'messages[%d].tool_calls[%d].function.name': %q", i, j, t.Function.Name))
		}
		seen[t.ID] = true
		if args == "" {
			args = "{}"
		}
		out = append(out, ToolCall{t.ID, t.Function.Name, json.RawMessage(args), t.Extra.Google.Signature})
	}
	return out, bad
}
