package scripted

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
)

// refusal is a request that a provider would answer with an error.
type refusal struct {
	status  int
	kind    string // provider's error type; "" for the dialect's default
	code    string
	message string
}

func refuse(format string, args ...any) *refusal {
	return &refusal{status: 400, message: fmt.Sprintf(format, args...)}
}

// unit is a piece of a prompt for the simulated prefix cache.
type unit struct {
	canonical []byte
	tokens    float64
	marked    bool
}

// call is a request while it is being checked and answered.
type call struct {
	req          Request
	profile      *Profile
	includeUsage bool
	maxTokens    int
	toolChoice   string
	thinkingType string
	units        []unit
	firstBlock   []string // Anthropic: type of the first block of each message
}

func jsonKind(raw json.RawMessage) byte {
	s := strings.TrimSpace(string(raw))
	switch {
	case s == "" || s == "null":
		return 0
	case s[0] == '{', s[0] == '[', s[0] == '"':
		return s[0]
	}
	return 'x'
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

var (
	openAIFields = set(`model messages stream stream_options tools tool_choice max_tokens max_completion_tokens
		temperature top_p n stop presence_penalty frequency_penalty logit_bias logprobs top_logprobs user seed
		response_format parallel_tool_calls store metadata prediction modalities audio service_tier reasoning_effort
		verbosity web_search_options prompt_cache_key prompt_cache_retention safety_identifier functions function_call
		thinking enable_thinking reasoning chat_template_kwargs extra_body random_seed safe_prompt prompt_mode`)
	anthropicFields = set(`model messages max_tokens system tools tool_choice stream thinking temperature top_p top_k
		stop_sequences metadata service_tier container context_management mcp_servers output_config output_format
		cache_control inference_geo speed fallbacks`)
	anthropicMessageFields = set(`role content`)
	anthropicBlockFields   = map[string]map[string]bool{
		"text":              set(`type text cache_control citations`),
		"image":             set(`type source cache_control`),
		"document":          set(`type source cache_control title context citations`),
		"search_result":     set(`type source title content cache_control citations`),
		"thinking":          set(`type thinking signature`),
		"redacted_thinking": set(`type data`),
		"tool_use":          set(`type id name input cache_control caller`),
		"tool_result":       set(`type tool_use_id content is_error cache_control`),
	}
	openAIName    = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	anthropicName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	anthropicID   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	openAIMaxID   = 40
	anthropicMost = 4 // cache_control marks in a request
)

// parse reads a body and makes the checks that need its own shape. It fills
// c.req as far as it gets, so that a refused request is recorded too.
func (c *call) parse(body []byte) *refusal {
	c.req.Raw = body
	c.req.PromptIndex = -1
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		return refuse("We could not parse the JSON body of your request: %v", err)
	}
	known := openAIFields
	if c.profile.API == Anthropic {
		known = anthropicFields
	}
	var unknown *refusal
	if !c.profile.Rules.AnyFields {
		for name := range fields {
			if !known[name] && (unknown == nil || name < unknown.kind) {
				unknown = &refusal{kind: name}
			}
		}
	}
	if unknown != nil {
		unknown = c.unknownField(unknown.kind)
	}
	_ = json.Unmarshal(fields["stream"], &c.req.Stream)
	if err := json.Unmarshal(fields["model"], &c.req.Model); err != nil || c.req.Model == "" {
		return first(unknown, refuse("model: field required, a string"))
	}
	if jsonKind(fields["messages"]) != '[' {
		return first(unknown, refuse("messages: field required, an array"))
	}
	var messages []json.RawMessage
	if err := json.Unmarshal(fields["messages"], &messages); err != nil || len(messages) == 0 {
		return first(unknown, refuse("messages: at least one message is required"))
	}
	bad := c.parseTools(fields)
	if c.profile.API == Anthropic {
		bad = first(bad, c.parseAnthropic(fields, messages))
	} else {
		bad = first(bad, c.parseOpenAI(fields, messages))
	}
	for i, m := range c.req.Messages {
		if m.Role == "user" && !m.Internal {
			c.req.PromptIndex = i
			c.req.Prompt = m.Text
		}
	}
	total := 0.0
	for _, u := range c.units {
		total += u.tokens
	}
	c.req.EstimatedTokens = int(math.Ceil(total))
	return first(unknown, bad)
}

func first(list ...*refusal) *refusal {
	for _, r := range list {
		if r != nil {
			return r
		}
	}
	return nil
}

func (c *call) unknownField(name string) *refusal {
	if c.profile.API == Anthropic {
		return refuse("%s: Extra inputs are not permitted", name)
	}
	return &refusal{status: 400, code: "unknown_parameter", message: fmt.Sprintf("Unknown parameter: '%s'.", name)}
}

func (c *call) parseTools(fields map[string]json.RawMessage) *refusal {
	raw := fields["tools"]
	if jsonKind(raw) == 0 {
		return nil
	}
	var tools []map[string]any
	if err := decode(raw, &tools); err != nil {
		return refuse("tools: expected an array of tools")
	}
	var bad *refusal
	seen := map[string]bool{}
	for i, t := range tools {
		def := t
		if c.profile.API == OpenAI {
			def, _ = t["function"].(map[string]any)
			if t["type"] != "function" || def == nil {
				bad = first(bad, refuse("Invalid value for 'tools[%d]': a function is expected", i))
			}
		}
		name, _ := def["name"].(string)
		pattern := anthropicName
		if c.profile.API == OpenAI {
			pattern = openAIName
		}
		if !pattern.MatchString(name) {
			bad = first(bad, refuse("tools.%d.name: %q does not match the pattern of tool names", i, name))
		}
		if seen[name] {
			bad = first(bad, refuse("tools: Tool names must be unique (%s)", name))
		}
		seen[name] = true
		c.req.Tools = append(c.req.Tools, name)
		_, marked := t["cache_control"]
		c.units = append(c.units, unit{encode(stripMarks(t)), weighJSON(stripMarks(t)), marked})
	}
	if len(tools) == 0 && c.profile.API == OpenAI {
		bad = first(bad, refuse("Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead."))
	}
	return bad
}

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
