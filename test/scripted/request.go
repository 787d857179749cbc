package scripted

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"time"
)

// The marks around the context that OpenClaw itself appends to a prompt.
const (
	InternalBegin = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"
	InternalEnd   = "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"
)

// ToolCall is one tool call of an assistant message.
type ToolCall struct {
	ID   string
	Name string
	Args json.RawMessage
	// Signature is Gemini's thought signature, if the call carries one.
	Signature string
}

// Message is one message of a request, the same for both APIs. An Anthropic
// user message with several parts becomes one Message per tool_result, one for
// the user's own blocks and one for the host's internal context.
type Message struct {
	Role          string // system, developer, user, assistant or tool
	Text          string // without the host's internal context
	ToolCalls     []ToolCall
	ToolResultFor string // id of the call that a tool message answers
	Thinking      bool   // has a thinking block or reasoning_content
	CacheControl  bool   // at least one block is marked with cache_control
	Internal      bool   // the host's internal context, and nothing else
	Raw           json.RawMessage

	source int // index in the request's own message list
}

// Request is one recorded model request.
type Request struct {
	ID       int // 1, 2, 3 …
	Profile  string
	Time     time.Time
	Path     string
	Model    string
	Stream   bool
	Raw      []byte // the body as received
	Messages []Message
	Tools    []string // names of the offered tools
	System   string
	// ThinkingEnabled tells that an Anthropic request switches thinking on.
	ThinkingEnabled bool
	// PromptIndex is the index in Messages of the current user prompt: the last
	// user message that is not the host's internal context; -1 without one.
	PromptIndex int
	Prompt      string // the prompt's text, as the host sent it
	// Status is the HTTP status of the answer: 0 while a HANG is open, 499
	// when the client left.
	Status          int
	Refusal         string // why the request was refused; "" when accepted
	EstimatedTokens int
	// PromptTokens, CachedTokens and CacheWriteTokens are the reported usage.
	// PromptTokens includes the other two.
	PromptTokens, CachedTokens, CacheWriteTokens int
	// Reply is what the script answered.
	Reply Reply
}

// PromptText is the prompt as the user wrote it: without the time stamp before
// and the runtime line after it, which the host adds.
func (r Request) PromptText() string { return cleanPrompt(r.Prompt) }

// UpToPrompt returns the canonical bytes of each message before the prompt:
// sorted keys, string content as one text block, cache_control removed. The
// system messages at the head are left out (see Head), so both APIs compare
// alike.
func (r Request) UpToPrompt() [][]byte {
	var out [][]byte
	head := true
	for i, m := range r.Messages {
		if r.PromptIndex >= 0 && i >= r.PromptIndex {
			break
		}
		if head && isSystem(m.Role) {
			continue
		}
		head = false
		out = append(out, canonicalMessage(m.Raw))
	}
	return out
}

// Head returns the canonical bytes of what stands before the messages: tools
// and system prompt.
func (r Request) Head() []byte {
	var body struct {
		Tools  any `json:"tools"`
		System any `json:"system"`
	}
	if decode(r.Raw, &body) != nil {
		return nil
	}
	if s, ok := body.System.(string); ok {
		body.System = []any{map[string]any{"type": "text", "text": s}}
	}
	var system []any
	for _, m := range r.Messages {
		if !isSystem(m.Role) {
			break
		}
		var v any
		if decode(m.Raw, &v) == nil {
			system = append(system, v)
		}
	}
	return encode([]any{stripMarks(body.Tools), stripMarks(body.System), system})
}

// Contains tells whether a message before the prompt contains the text.
func (r Request) Contains(text string) bool {
	for i, m := range r.Messages {
		if i >= r.PromptIndex {
			break
		}
		if !m.Internal && !isSystem(m.Role) && strings.Contains(m.Text, text) {
			return true
		}
	}
	return false
}

// SharedPrefix is the number of leading messages before the prompt that two
// requests have in common, byte for byte.
func SharedPrefix(prev, next Request) int {
	a, b := prev.UpToPrompt(), next.UpToPrompt()
	n := 0
	for n < len(a) && n < len(b) && bytes.Equal(a[n], b[n]) {
		n++
	}
	return n
}

// PrefixShare tells which share of prev's messages before the prompt (by
// bytes) leads next's messages unchanged. 1 means that prev up to its prompt
// is an exact prefix of next, also when there was nothing before the prompt.
func PrefixShare(prev, next Request) float64 {
	n, same, total := SharedPrefix(prev, next), 0, 0
	for i, b := range prev.UpToPrompt() {
		total += len(b)
		if i < n {
			same += len(b)
		}
	}
	if total == 0 {
		return 1
	}
	return float64(same) / float64(total)
}

// FirstDifference returns the first message before the prompt in which two
// requests differ, for test failures: its index and both canonical forms (nil
// where a list ended). The index is -1 when prev is an exact prefix of next.
func FirstDifference(prev, next Request) (index int, a, b []byte) {
	n := SharedPrefix(prev, next)
	as, bs := prev.UpToPrompt(), next.UpToPrompt()
	if n == len(as) {
		return -1, nil, nil
	}
	if n < len(bs) {
		b = bs[n]
	}
	return n, as[n], b
}

func isSystem(role string) bool { return role == "system" || role == "developer" }

func decode(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(v)
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// canonicalMessage is the form in which messages are compared and hashed.
func canonicalMessage(raw json.RawMessage) []byte {
	var v any
	if decode(raw, &v) != nil {
		return raw
	}
	return encode(stripMarks(v))
}

// stripMarks removes cache_control from a message, a block or a list of them
// and turns string content into a text block. It leaves tool input alone.
func stripMarks(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = stripMarks(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			switch {
			case k == "cache_control":
			case k == "content":
				if s, ok := x.(string); ok {
					x = []any{map[string]any{"type": "text", "text": s}}
				}
				out[k] = stripMarks(x)
			default:
				out[k] = x
			}
		}
		return out
	}
	return v
}

// stripInternal cuts the host's internal context out of a text.
func stripInternal(s string) string {
	for {
		i := strings.Index(s, InternalBegin)
		if i < 0 {
			return s
		}
		rest := ""
		if j := strings.Index(s[i:], InternalEnd); j >= 0 {
			rest = s[i+j+len(InternalEnd):]
		}
		s = strings.TrimRight(s[:i], " \n") + rest
	}
}

func isInternal(s string) bool {
	return strings.HasPrefix(strings.TrimSpace(s), InternalBegin) && strings.TrimSpace(stripInternal(s)) == ""
}

// imageTokens is the flat price of an image, as OpenClaw counts it.
const imageTokens = 1600

// EstimateTokens counts a text as OpenClaw does: a quarter token per code
// point, 1.5 for CJK, 2 for others beyond the basic plane.
func EstimateTokens(s string) int { return int(math.Ceil(weigh(s))) }

func weigh(s string) float64 {
	n := 0.0
	for _, r := range s {
		switch {
		case r < 0x1100:
			n += 0.25
		case isCJK(r):
			n += 1.5
		case r > 0xFFFF:
			n += 2
		default:
			n += 0.25
		}
	}
	return n
}

func isCJK(r rune) bool {
	return r >= 0x1100 && r <= 0x11FF || r >= 0x2E80 && r <= 0x9FFF || r >= 0xA960 && r <= 0xA97F ||
		r >= 0xAC00 && r <= 0xD7FF || r >= 0xF900 && r <= 0xFAFF || r >= 0xFE30 && r <= 0xFE4F ||
		r >= 0xFF00 && r <= 0xFFEF || r >= 0x20000 && r <= 0x3FFFF
}

// weighJSON estimates a JSON value by its serialised length, an image flat.
func weighJSON(v any) float64 {
	images := 0
	var walk func(any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case []any:
			out := make([]any, len(v))
			for i := range v {
				out[i] = walk(v[i])
			}
			return out
		case map[string]any:
			if t, _ := v["type"].(string); t == "image" || t == "image_url" {
				images++
				return t
			}
			out := make(map[string]any, len(v))
			for k, x := range v {
				out[k] = walk(x)
			}
			return out
		}
		return v
	}
	clean := walk(v)
	return weigh(string(encode(clean))) + float64(images*imageTokens)
}
