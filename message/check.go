package message

import (
	"encoding/json"
	"fmt"
	"strings"
)

// checked is what the strict check reads. It shares no code with the repair on purpose.
type checked struct {
	Role, ToolCallID, ToolName string
	Content                    json.RawMessage
}

func read(raw json.RawMessage) (checked, error) {
	var f map[string]json.RawMessage
	err := json.Unmarshal(raw, &f)
	text := func(key string) (s string) {
		_ = json.Unmarshal(f[key], &s)
		return s
	}
	return checked{text("role"), text("toolCallId"), text("toolName"), f["content"]}, err
}

// CheckPairs lists what a strict provider would refuse: a result that does not directly follow its call, a call without a result, an id
// used twice, blank content. Tests and replay use it against FixPairs.
func CheckPairs(msgs []json.RawMessage) []string {
	var bad []string
	report := func(i int, format string, args ...any) {
		bad = append(bad, fmt.Sprintf("message %d: ", i)+fmt.Sprintf(format, args...))
	}
	used := map[string]bool{}
	waiting := map[string]bool{} // calls of the last assistant message whose results are due now
	for i, raw := range msgs {
		c, err := read(raw)
		if err != nil {
			report(i, "unreadable: %v", err)
			continue
		}
		if c.Role == "toolResult" {
			id := bareID(c.ToolCallID)
			if !waiting[id] {
				report(i, "result %q does not follow its call", c.ToolCallID)
			}
			delete(waiting, id)
			if c.ToolName == "" {
				report(i, "result %q names no tool", c.ToolCallID)
			}
			checkContent(c, func(format string, args ...any) { report(i, format, args...) })
			continue
		}
		for id := range waiting {
			report(i, "call %q has no result before it", id)
		}
		clear(waiting)
		if c.Role != "user" && c.Role != "assistant" {
			continue
		}
		checkContent(c, func(format string, args ...any) { report(i, format, args...) })
		for _, id := range callIDs(c.Content) {
			switch {
			case c.Role != "assistant":
				report(i, "call %q outside an assistant message", id)
			case id == "":
				report(i, "a call without an id")
			case used[id]:
				report(i, "id %q is used twice", id)
			}
			used[id], waiting[id] = true, true
		}
	}
	for id := range waiting {
		report(len(msgs), "call %q has no result", id)
	}
	return bad
}

func callIDs(content json.RawMessage) []string {
	var list []map[string]any
	_ = json.Unmarshal(content, &list)
	var ids []string
	for _, b := range list {
		if b["type"] == "toolCall" {
			id, _ := b["id"].(string)
			ids = append(ids, bareID(id))
		}
	}
	return ids
}

func checkContent(c checked, report func(string, ...any)) {
	var content any
	_ = json.Unmarshal(c.Content, &content)
	if text, ok := content.(string); ok {
		if strings.TrimSpace(text) == "" {
			report("%s: blank content", c.Role)
		}
		return
	}
	list, _ := content.([]any)
	if len(list) == 0 {
		report("%s: no content", c.Role)
	}
	for _, v := range list {
		b, _ := v.(map[string]any)
		switch b["type"] {
		case "text":
			if text, _ := b["text"].(string); strings.TrimSpace(text) == "" {
				report("%s: blank text block", c.Role)
			}
		case "toolCall":
			if _, ok := b["arguments"].(map[string]any); !ok {
				report("%s: a call without arguments", c.Role)
			}
		case "tool_use", "tool_call", "function_call", "functionCall", "tool_result", "function_call_output":
			report("%s: block of another provider: %s", c.Role, b["type"])
		}
	}
}

func bareID(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, s)
}
