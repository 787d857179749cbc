package scripted

import (
	"regexp"
	"slices"
)

// API names the wire format a profile speaks, in OpenClaw's words.
type API string

// The two wire formats.
const (
	OpenAI    API = "openai-completions"
	Anthropic API = "anthropic-messages"
)

// Dialect selects the shape and wording of a provider's errors.
type Dialect string

// The error dialects.
const (
	DialectOpenAI    Dialect = "openai"
	DialectAnthropic Dialect = "anthropic"
	DialectGemini    Dialect = "gemini"
	DialectMistral   Dialect = "mistral"
)

// Rules are the demands a profile makes on top of those that every provider
// makes (see the package comment).
type Rules struct {
	// ReasoningContent: every assistant message with tool_calls carries a
	// non-empty reasoning_content (DeepSeek and Kimi in thinking mode).
	ReasoningContent bool
	// ThinkingFirst: when the request enables thinking, the current tool loop
	// (what follows the last real user message) starts with a thinking or
	// redacted_thinking block. Only for thinking.type "enabled": "adaptive"
	// thinking has no such demand.
	ThinkingFirst bool
	// ThinkingMergedTurn reads ThinkingFirst at its strictest: user messages
	// that follow each other are one turn, and a turn with a tool_result does
	// not end the loop, even when user text follows the result.
	ThinkingMergedTurn bool
	// VerifySignatures: thinking blocks sent back carry the signature that
	// this server gave them.
	VerifySignatures bool
	// GeminiTurns: a function call turn comes directly after a user turn or a
	// function response turn.
	GeminiTurns bool
	// ThoughtSignature: the first function call of every step after the last
	// user message carries extra_content.google.thought_signature.
	ThoughtSignature bool
	// NoUserAfterTool: a user message never follows a tool result directly.
	NoUserAfterTool bool
	// ToolCallID, when set, is what every tool call id must match.
	ToolCallID *regexp.Regexp
	// Alternate: neither two user messages nor two assistant messages in a
	// row, and system messages only at the head.
	Alternate bool
	// ToolsOffered: a request with tool calls or results in its history
	// offers tools.
	ToolsOffered bool
	// AnyFields accepts unknown fields, which the providers refuse.
	AnyFields bool
}

// Model is one entry of a profile's model list.
type Model struct {
	ID     string
	Window int // context window in tokens; 0: the profile's
}

// Profile is one scripted provider, served under /<Name>/v1.
type Profile struct {
	Name    string
	API     API
	Dialect Dialect // "" follows the API
	Rules   Rules
	// Reasoning tells that the model thinks: it adds a thinking part to every
	// reply (on anthropic-messages only when the request enables thinking).
	Reasoning bool
	Window    int // context window in tokens; 0: DefaultWindow
	Models    []Model
}

// The default model ids and windows of every profile.
const (
	DefaultWindow = 64000
	SmallWindow   = 20000
	DefaultModel  = "scripted"
	SmallModel    = "small"
)

var nineAlnum = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

// Profiles returns the built-in profiles.
func Profiles() []Profile {
	list := []Profile{
		{Name: "openai", API: OpenAI},
		{Name: "openai-thinking", API: OpenAI, Reasoning: true, Rules: Rules{ReasoningContent: true}},
		{Name: "anthropic", API: Anthropic},
		{Name: "anthropic-thinking", API: Anthropic, Reasoning: true, Rules: Rules{ThinkingFirst: true, VerifySignatures: true}},
		{Name: "anthropic-thinking-merged", API: Anthropic, Reasoning: true,
			Rules: Rules{ThinkingFirst: true, ThinkingMergedTurn: true, VerifySignatures: true}},
		{Name: "gemini", API: OpenAI, Dialect: DialectGemini, Rules: Rules{GeminiTurns: true}},
		{Name: "gemini-signed", API: OpenAI, Dialect: DialectGemini, Rules: Rules{GeminiTurns: true, ThoughtSignature: true}},
		{Name: "mistral", API: OpenAI, Dialect: DialectMistral, Rules: Rules{NoUserAfterTool: true, ToolCallID: nineAlnum}},
		{Name: "strict-alternation", API: OpenAI, Rules: Rules{Alternate: true}},
		{Name: "no-tools", API: OpenAI, Rules: Rules{ToolsOffered: true}},
	}
	for i := range list {
		list[i].complete()
	}
	return list
}

func (p *Profile) complete() {
	if p.Dialect == "" {
		p.Dialect = DialectOpenAI
		if p.API == Anthropic {
			p.Dialect = DialectAnthropic
		}
	}
	if p.Window == 0 {
		p.Window = DefaultWindow
	}
	if len(p.Models) == 0 {
		p.Models = []Model{{ID: DefaultModel}, {ID: SmallModel, Window: min(SmallWindow, p.Window)}}
	}
	p.Models = slices.Clone(p.Models)
	for i := range p.Models {
		if p.Models[i].Window == 0 {
			p.Models[i].Window = p.Window
		}
	}
}

func (p *Profile) window(model string) int {
	for _, m := range p.Models {
		if m.ID == model {
			return m.Window
		}
	}
	return p.Window
}
