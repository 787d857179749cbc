package scripted

import (
	"fmt"
	"slices"
	"strings"
)

// check makes the checks on the normalised messages: first those that every
// provider makes, then the profile's own rules, then the context window.
func (c *call) check() *refusal {
	return first(c.checkTools(), c.checkOrder(), c.checkRules(), c.checkThinkingFirst(), c.checkWindow())
}

func (c *call) anthropic() bool { return c.profile.API == Anthropic }

// checkTools: every call is answered directly after it, every result answers
// a call.
func (c *call) checkTools() *refusal {
	var open []string
	from := -1
	unanswered := func() *refusal {
		if len(open) == 0 {
			return nil
		}
		ids := strings.Join(open, ", ")
		switch c.profile.Dialect {
		case DialectAnthropic:
			return refuse("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block needs its `tool_result` block in the next message.", from, ids)
		case DialectGemini:
			return refuse("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
		case DialectMistral:
			return &refusal{400, "invalid_request_message_order", "3230", "Not the same number of function calls and responses"}
		}
		return refuse("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", ids)
	}
	for i, m := range c.req.Messages {
		if m.Role != "tool" {
			if r := unanswered(); r != nil {
				return r
			}
			from = m.source
			for _, t := range m.ToolCalls {
				open = append(open, t.ID)
			}
			continue
		}
		at := slices.Index(open, m.ToolResultFor)
		late := c.anthropic() && m.source != from+1
		if at >= 0 && !late {
			open = slices.Delete(open, at, at+1)
			continue
		}
		if late && len(open) > 0 {
			return unanswered()
		}
		switch c.profile.Dialect {
		case DialectAnthropic:
			return refuse("messages.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", m.source, m.ToolResultFor)
		case DialectGemini:
			return refuse("Please ensure that function response turn comes immediately after a function call turn.")
		case DialectMistral:
			return &refusal{400, "invalid_request_message_order", "3230", "Unexpected tool call id " + m.ToolResultFor + " in tool results"}
		}
		return refuse("Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'. (messages[%d], tool_call_id %s)", i, m.ToolResultFor)
	}
	return unanswered()
}

// ruled is the request without the host's internal context messages, which
// count as part of the prompt.
func (c *call) ruled() []Message {
	var out []Message
	for _, m := range c.req.Messages {
		if !m.Internal {
			out = append(out, m)
		}
	}
	return out
}

// checkOrder: the conversation begins with a user message and ends with one
// or with a tool result.
func (c *call) checkOrder() *refusal {
	list := slices.DeleteFunc(c.ruled(), func(m Message) bool { return isSystem(m.Role) })
	if len(list) == 0 {
		if len(c.req.Messages) > 0 && !isSystem(c.req.Messages[len(c.req.Messages)-1].Role) {
			return nil // nothing but internal context
		}
		return refuse("messages: at least one user message is required")
	}
	if role := list[0].Role; role != "user" {
		switch c.profile.Dialect {
		case DialectAnthropic:
			return refuse("messages: first message must use the \"user\" role")
		case DialectGemini:
			return refuse("Please ensure that the conversation starts with a user turn.")
		case DialectMistral:
			return &refusal{400, "invalid_request_message_order", "3230", fmt.Sprintf("Expected role 'user' for the first message but got '%s'", role)}
		}
		return refuse("Invalid 'messages': the first message that is not a system message must have role 'user', got '%s'", role)
	}
	last := c.req.Messages[len(c.req.Messages)-1]
	if last.Role != "user" && last.Role != "tool" {
		switch c.profile.Dialect {
		case DialectAnthropic:
			return refuse("This model does not support assistant message prefill. The conversation must end with a user message.")
		case DialectMistral:
			return &refusal{400, "invalid_request_message_order", "3230", fmt.Sprintf("Expected last role User or Tool for serving but got %s", last.Role)}
		}
		return refuse("Invalid 'messages': the last message must have role 'user' or 'tool', got '%s'", last.Role)
	}
	return nil
}

func (c *call) checkRules() *refusal {
	rules := c.profile.Rules
	list := c.ruled()
	prompt := -1 // last user message in list
	head := true
	for i, m := range list {
		if m.Role == "user" {
			prompt = i
		}
	}
	for i, m := range list {
		prev := ""
		if i > 0 {
			prev = list[i-1].Role
		}
		if rules.Alternate {
			if isSystem(m.Role) && !head {
				return refuse("System message must be at the beginning. (messages[%d])", m.source)
			}
			if (m.Role == "user" || m.Role == "assistant") && m.Role == prev {
				return refuse("Conversation roles must alternate user/assistant/user/assistant/... (two %s messages in a row at messages[%d])", m.Role, m.source)
			}
		}
		head = head && isSystem(m.Role)
		if rules.NoUserAfterTool && m.Role == "user" && prev == "tool" {
			return &refusal{400, "invalid_request_message_order", "3230", "Unexpected role 'user' after role 'tool'"}
		}
		calls := len(m.ToolCalls) > 0
		if rules.GeminiTurns && calls && prev != "user" && prev != "tool" {
			return refuse("Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
		}
		if rules.ThoughtSignature && calls && i > prompt && m.ToolCalls[0].Signature == "" {
			return refuse("Function call is missing a thought_signature in functionCall parts. Additional data, function call `default_api:%s`, position %d.", m.ToolCalls[0].Name, m.source+1)
		}
		if rules.ReasoningContent && calls && !m.Thinking {
			return refuse("thinking is enabled but reasoning_content is missing in assistant tool call message at index %d", m.source)
		}
		if rules.ToolCallID != nil {
			ids := []string{m.ToolResultFor}
			for _, t := range m.ToolCalls {
				ids = append(ids, t.ID)
			}
			for _, id := range ids {
				if id != "" && !rules.ToolCallID.MatchString(id) {
					if c.profile.Dialect == DialectMistral {
						return &refusal{400, "invalid_function_call", "3280", "Tool call id was " + id + " but must be a-z, A-Z, 0-9, with a length of 9."}
					}
					return refuse("Invalid tool call id %q: must match %s", id, rules.ToolCallID)
				}
			}
		}
		if rules.ToolsOffered && len(c.req.Tools) == 0 && (calls || m.Role == "tool") {
			return refuse("Requests which include tool calls or tool results must define tools. (messages[%d])", m.source)
		}
	}
	return nil
}

// checkThinkingFirst looks at the assistant turn of the current tool loop.
func (c *call) checkThinkingFirst() *refusal {
	if !c.profile.Rules.ThinkingFirst || c.thinkingType != "enabled" {
		return nil
	}
	list := c.req.Messages
	start := 0 // the loop's first message
	for i, m := range list {
		if m.Role == "user" && !m.Internal {
			start = i + 1
		}
	}
	if c.profile.Rules.ThinkingMergedTurn {
		start = mergedTurnStart(list)
	}
	for _, m := range list[start:] {
		if m.Role != "assistant" {
			continue
		}
		if t := c.firstBlock[m.source]; t != "thinking" && t != "redacted_thinking" {
			return refuse("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, the assistant turn of the current tool loop has to start with its thinking block, before the last set of `tool_use` and `tool_result` blocks.", m.source, t)
		}
		return nil
	}
	return nil
}

// mergedTurnStart returns the index after the last user turn (adjacent user
// and tool messages taken as one) that holds no tool result.
func mergedTurnStart(list []Message) int {
	i := len(list)
	for i > 0 {
		end, results := i, false
		for i > 0 && list[i-1].Role != "assistant" {
			i--
			results = results || list[i].Role == "tool"
		}
		if !results && end > i {
			return end
		}
		for i > 0 && list[i-1].Role == "assistant" {
			i--
		}
	}
	return 0
}

func (c *call) checkWindow() *refusal {
	n, window := c.req.EstimatedTokens, c.profile.window(c.req.Model)
	if n <= window {
		return nil
	}
	return tooLong(c.profile, n, window)
}

func tooLong(p *Profile, n, window int) *refusal {
	switch p.Dialect {
	case DialectAnthropic:
		return refuse("prompt is too long: %d tokens > %d maximum", n, window)
	case DialectGemini:
		return refuse("The input token count (%d) exceeds the maximum number of tokens allowed (%d).", n, window)
	case DialectMistral:
		return &refusal{400, "invalid_request_error", "3051", fmt.Sprintf("Prompt contains %d tokens, too large for model with %d maximum context length", n, window)}
	}
	return &refusal{400, "", "context_length_exceeded", fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. Please reduce the length of the messages.", window, n)}
}
