package scripted

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
)

type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	Source    json.RawMessage `json:"source"`
	Cache     json.RawMessage `json:"cache_control"`
}

func (c *call) parseAnthropic(fields map[string]json.RawMessage, messages []json.RawMessage) *refusal {
	var bad *refusal
	if json.Unmarshal(fields["max_tokens"], &c.maxTokens) != nil || c.maxTokens < 1 {
		bad = refuse("max_tokens: Field required, at least 1")
	}
	var thinking struct {
		Type   string `json:"type"`
		Budget int    `json:"budget_tokens"`
	}
	if jsonKind(fields["thinking"]) != 0 {
		_ = json.Unmarshal(fields["thinking"], &thinking)
		switch thinking.Type {
		case "enabled":
			if thinking.Budget < 1024 {
				bad = first(bad, refuse("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"))
			} else if thinking.Budget >= c.maxTokens {
				bad = first(bad, refuse("`max_tokens` must be greater than `thinking.budget_tokens`."))
			}
		case "adaptive", "disabled":
		default:
			bad = first(bad, refuse("thinking.type: unknown value %q", thinking.Type))
		}
	}
	c.thinkingType = thinking.Type
	c.req.ThinkingEnabled = thinking.Type == "enabled" || thinking.Type == "adaptive"
	var choice struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(fields["tool_choice"], &choice)
	c.toolChoice = choice.Type
	if c.req.ThinkingEnabled && (choice.Type == "any" || choice.Type == "tool") {
		bad = first(bad, refuse("Thinking may not be enabled when tool_choice forces tool use."))
	}
	if jsonKind(fields["tool_choice"]) != 0 && len(c.req.Tools) == 0 {
		bad = first(bad, refuse("tool_choice: may only be specified while providing tools"))
	}
	marks := 0
	for _, u := range c.units {
		if u.marked {
			marks++
		}
	}
	n, r := c.anthropicSystem(fields["system"])
	bad = first(bad, r)
	marks += n
	ids := map[string]bool{}
	for i, raw := range messages {
		n, r := c.anthropicMessage(i, raw, ids)
		bad = first(bad, r)
		marks += n
	}
	if jsonKind(fields["cache_control"]) != 0 && len(c.units) > 0 {
		c.units[len(c.units)-1].marked = true
		marks++
	}
	if marks > anthropicMost {
		bad = first(bad, refuse("A maximum of %d blocks with cache_control may be provided. Found %d.", anthropicMost, marks))
	}
	return bad
}

func (c *call) anthropicSystem(raw json.RawMessage) (marks int, bad *refusal) {
	var list []anthropicBlock
	switch jsonKind(raw) {
	case 0:
		return 0, nil
	case '"':
		var s string
		_ = json.Unmarshal(raw, &s)
		if s == "" {
			return 0, nil
		}
		list = []anthropicBlock{{Type: "text", Text: s}}
	case '[':
		if json.Unmarshal(raw, &list) != nil {
			return 0, refuse("system: expected text blocks")
		}
	default:
		return 0, refuse("system: Input should be a valid string or a list of text blocks")
	}
	var texts []string
	for i, b := range list {
		if b.Type != "text" || b.Text == "" {
			bad = first(bad, refuse("system.%d: text content blocks must be non-empty", i))
		}
		marked := jsonKind(b.Cache) != 0
		if marked {
			marks++
		}
		texts = append(texts, b.Text)
		canonical := encode(map[string]any{"system": b.Text})
		c.units = append(c.units, unit{canonical, weigh(string(canonical)), marked})
	}
	c.req.System = strings.Join(texts, "\n")
	return marks, bad
}

func (c *call) anthropicMessage(i int, raw json.RawMessage, ids map[string]bool) (marks int, bad *refusal) {
	var w struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	var fields map[string]json.RawMessage
	c.firstBlock = append(c.firstBlock, "")
	if json.Unmarshal(raw, &w) != nil || json.Unmarshal(raw, &fields) != nil {
		return 0, refuse("messages.%d: a message object is expected", i)
	}
	if !c.profile.Rules.AnyFields {
		for name := range fields {
			if !anthropicMessageFields[name] {
				bad = first(bad, refuse("messages.%d.%s: Extra inputs are not permitted", i, name))
			}
		}
	}
	if w.Role != "user" && w.Role != "assistant" {
		bad = first(bad, refuse("messages: Unexpected role %q. Allowed roles are \"user\" or \"assistant\".", w.Role))
	}
	var blocks []json.RawMessage
	switch jsonKind(w.Content) {
	case '"':
		var s string
		_ = json.Unmarshal(w.Content, &s)
		if strings.TrimSpace(s) == "" {
			bad = first(bad, refuse("messages.%d: all messages must have non-empty content", i))
		}
		blocks = []json.RawMessage{encode(map[string]any{"type": "text", "text": s})}
	case '[':
		_ = json.Unmarshal(w.Content, &blocks)
		if len(blocks) == 0 {
			return 0, first(bad, refuse("messages.%d: all messages must have non-empty content", i))
		}
	default:
		return 0, first(bad, refuse("messages.%d.content: Input should be a valid string or a list of blocks", i))
	}

	// parts are the normalised messages that this one becomes.
	var parts []Message
	var partBlocks [][]json.RawMessage
	add := func(kind Message, block json.RawMessage, b anthropicBlock) {
		last := len(parts) - 1
		if last < 0 || parts[last].Role != kind.Role || parts[last].Internal != kind.Internal || kind.Role == "tool" {
			kind.source = i
			parts = append(parts, kind)
			partBlocks = append(partBlocks, nil)
			last++
		}
		m := &parts[last]
		partBlocks[last] = append(partBlocks[last], block)
		m.CacheControl = m.CacheControl || jsonKind(b.Cache) != 0
		switch b.Type {
		case "text":
			text := b.Text
			if w.Role == "user" && !kind.Internal {
				text = stripInternal(text)
			}
			if m.Text != "" {
				m.Text += "\n"
			}
			m.Text += text
		case "thinking", "redacted_thinking":
			m.Thinking = true
		case "tool_use":
			m.ToolCalls = append(m.ToolCalls, ToolCall{ID: b.ID, Name: b.Name, Args: b.Input})
		case "tool_result":
			m.Text = resultText(b.Content)
		}
	}
	for j, block := range blocks {
		var b anthropicBlock
		var blockFields map[string]json.RawMessage
		var generic any
		if json.Unmarshal(block, &b) != nil || json.Unmarshal(block, &blockFields) != nil || decode(block, &generic) != nil {
			bad = first(bad, refuse("messages.%d.content.%d: a content block is expected", i, j))
			continue
		}
		if j == 0 {
			c.firstBlock[i] = b.Type
		}
		known, ok := anthropicBlockFields[b.Type]
		if !ok {
			bad = first(bad, refuse("messages.%d.content.%d: Input tag %q found using 'type' does not match any of the expected tags", i, j, b.Type))
		} else if !c.profile.Rules.AnyFields {
			for name := range blockFields {
				if !known[name] {
					bad = first(bad, refuse("messages.%d.content.%d.%s.%s: Extra inputs are not permitted", i, j, b.Type, name))
				}
			}
		}
		marked := jsonKind(b.Cache) != 0
		if marked {
			marks++
		}
		c.units = append(c.units, unit{
			canonical: append([]byte(w.Role+":"), encode(stripMarks(generic))...),
			tokens:    weighJSON(stripMarks(generic)) + 1, marked: marked,
		})
		kind := Message{Role: w.Role}
		switch b.Type {
		case "text":
			if b.Text == "" {
				bad = first(bad, refuse("messages: text content blocks must be non-empty (messages.%d.content.%d)", i, j))
			} else if strings.TrimSpace(b.Text) == "" {
				bad = first(bad, refuse("messages: text content blocks must contain non-whitespace text (messages.%d.content.%d)", i, j))
			}
			kind.Internal = w.Role == "user" && isInternal(b.Text)
		case "image", "document", "search_result":
			if w.Role != "user" || jsonKind(b.Source) == 0 {
				bad = first(bad, refuse("messages.%d.content.%d: %s is not possible here", i, j, b.Type))
			}
		case "thinking", "redacted_thinking":
			bad = first(bad, c.checkThinking(i, j, w.Role, b))
		case "tool_use":
			var input map[string]any
			switch {
			case w.Role != "assistant":
				bad = first(bad, refuse("messages.%d: `tool_use` blocks can only be in `assistant` messages", i))
			case !anthropicID.MatchString(b.ID):
				bad = first(bad, refuse("messages.%d.content.%d.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", i, j))
			case ids[b.ID]:
				bad = first(bad, refuse("messages.%d.content.%d: `tool_use` ids must be unique", i, j))
			case !anthropicName.MatchString(b.Name):
				bad = first(bad, refuse("messages.%d.content.%d.tool_use.name: invalid name %q", i, j, b.Name))
			case json.Unmarshal(b.Input, &input) != nil || input == nil:
				bad = first(bad, refuse("messages.%d.content.%d.tool_use.input: Input should be a valid dictionary", i, j))
			}
			ids[b.ID] = true
		case "tool_result":
			if w.Role != "user" {
				bad = first(bad, refuse("messages.%d: `tool_result` blocks can only be in `user` messages", i))
			}
			if b.ToolUseID == "" {
				bad = first(bad, refuse("messages.%d.content.%d.tool_result.tool_use_id: Field required", i, j))
			}
			bad = first(bad, checkResultContent(i, j, b.Content))
			kind = Message{Role: "tool", ToolResultFor: b.ToolUseID}
		}
		add(kind, block, b)
	}
	for k := range parts {
		parts[k].Raw = raw
		if len(parts) > 1 || parts[k].Role == "tool" {
			parts[k].Raw = encode(map[string]any{"role": w.Role, "content": partBlocks[k]})
		}
	}
	c.req.Messages = append(c.req.Messages, parts...)
	return marks, bad
}

func (c *call) checkThinking(i, j int, role string, b anthropicBlock) *refusal {
	switch {
	case role != "assistant":
		return refuse("messages.%d.content.%d: `%s` blocks can only be in `assistant` messages", i, j, b.Type)
	case jsonKind(b.Cache) != 0:
		return refuse("messages.%d.content.%d.%s.cache_control: Extra inputs are not permitted", i, j, b.Type)
	case b.Type == "redacted_thinking" && b.Data == "":
		return refuse("messages.%d.content.%d.redacted_thinking.data: Field required", i, j)
	case b.Type == "thinking" && b.Signature == "":
		return refuse("messages.%d.content.%d.thinking.signature: Field required", i, j)
	case b.Type == "thinking" && c.profile.Rules.VerifySignatures && c.req.ThinkingEnabled && b.Signature != Signature(b.Thinking):
		return refuse("messages.%d.content.%d: Invalid `signature` in `thinking` block", i, j)
	}
	return nil
}

// Signature is the signature that the server gives to a thinking block and
// expects back with it.
func Signature(thinking string) string {
	sum := sha256.Sum256([]byte("skald scripted thinking\x00" + thinking))
	return base64.StdEncoding.EncodeToString(sum[:])
}

func checkResultContent(i, j int, raw json.RawMessage) *refusal {
	switch jsonKind(raw) {
	case 0, '"':
		return nil
	case '[':
		var list []anthropicBlock
		if json.Unmarshal(raw, &list) != nil {
			break
		}
		for _, b := range list {
			switch b.Type {
			case "text":
				if b.Text == "" {
					return refuse("messages: text content blocks must be non-empty (messages.%d.content.%d.tool_result)", i, j)
				}
			case "image", "document", "search_result", "tool_reference":
			default:
				return refuse("messages.%d.content.%d.tool_result.content: unexpected type %q", i, j, b.Type)
			}
		}
		return nil
	}
	return refuse("messages.%d.content.%d.tool_result.content: Input should be a valid string or a list of blocks", i, j)
}

func resultText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var list []anthropicBlock
	_ = json.Unmarshal(raw, &list)
	var texts []string
	for _, b := range list {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}
