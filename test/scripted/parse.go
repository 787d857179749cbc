package scripted

import (
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
