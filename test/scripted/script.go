package scripted

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Call is a tool call for the model to make.
type Call struct {
	Tool string
	Args any // a JSON object: json.RawMessage, map or struct; nil is {}
}

// Reply is what the model answers. Zero values mean the default.
type Reply struct {
	Text     string
	Thinking string // a thinking block or reasoning_content before the rest
	Tool     string // one tool call, with Args
	Args     any
	Calls    []Call // further tool calls in the same message

	Status int    // an error status instead of an answer
	Error  string // its message
	Code   string // its code (OpenAI) or type (Anthropic)

	Delay time.Duration // wait before the first byte
	Hang  bool          // never answer; ends when the client leaves

	StopReason string // instead of stop / tool_calls / end_turn / tool_use

	PromptTokens int  // reported instead of the estimate
	CachedTokens *int // reported instead of the simulated cache
	OutputTokens int  // reported instead of the estimate
}

func (r Reply) calls() []Call {
	if r.Tool == "" {
		return r.Calls
	}
	return append([]Call{{r.Tool, r.Args}}, r.Calls...)
}

func (c Call) args() json.RawMessage {
	if c.Args == nil {
		return json.RawMessage("{}")
	}
	if raw, ok := c.Args.(json.RawMessage); ok && len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return encode(c.Args)
}

var (
	timeStamp   = regexp.MustCompile(`^\s*\[[A-Z][a-z]{2} \d{4}-\d{2}-\d{2}[^\]\n]*\] ?`)
	runtimeLine = regexp.MustCompile(`(?s)\n\nRuntime: agent=.*$`)
	callCommand = regexp.MustCompile(`\b(?:CALL|(CALLS|PARALLEL) +(\d+)) +([A-Za-z0-9_.-]+)[ \t]*`)
	longCommand = regexp.MustCompile(`\bLONG +(\d+)`)
	slowCommand = regexp.MustCompile(`\bSLOW +(\d+)`)
	failCommand = regexp.MustCompile(`\bFAIL +([45]\d\d)(?: +([^\n]+))?`)
	hangCommand = regexp.MustCompile(`\bHANG\b`)
	think       = regexp.MustCompile(`\bTHINK\b`)
	fromContext = regexp.MustCompile(`\bANSWER-FROM-CONTEXT +([^\n]+)`)
	// asked is such a command in the history, also inside of a JSON string.
	asked = regexp.MustCompile(`\bANSWER-FROM-CONTEXT +(?:\\[^n]|[^\n"\\])*`)
)

func cleanPrompt(s string) string {
	s = timeStamp.ReplaceAllString(s, "")
	s = runtimeLine.ReplaceAllString(s, "")
	return strings.TrimSpace(s)
}

// steps are the tool calls that a prompt asks for, one list per model reply.
func steps(prompt string) (list [][]Call, rest string) {
	for {
		m := callCommand.FindStringSubmatchIndex(prompt)
		if m == nil {
			return list, rest + prompt
		}
		kind, n := "CALL", 1
		if m[2] >= 0 {
			kind = prompt[m[2]:m[3]]
			n, _ = strconv.Atoi(prompt[m[4]:m[5]])
		}
		call := Call{Tool: prompt[m[6]:m[7]]}
		rest += prompt[:m[0]]
		prompt = prompt[m[1]:]
		if strings.HasPrefix(prompt, "{") {
			d := json.NewDecoder(strings.NewReader(prompt))
			var args json.RawMessage
			if d.Decode(&args) == nil {
				call.Args = args
				prompt = prompt[d.InputOffset():]
			}
		}
		if kind == "PARALLEL" {
			calls := make([]Call, n)
			for i := range calls {
				calls[i] = call
			}
			list = append(list, calls)
			continue
		}
		for range n {
			list = append(list, []Call{call})
		}
	}
}

// scripted is the reply that the commands in the prompt ask for.
func scripted(r Request) Reply {
	prompt := r.PromptText()
	var reply Reply
	if m := slowCommand.FindStringSubmatch(prompt); m != nil {
		ms, _ := strconv.Atoi(m[1])
		reply.Delay = time.Duration(ms) * time.Millisecond
	}
	if hangCommand.MatchString(prompt) {
		reply.Hang = true
		return reply
	}
	if m := failCommand.FindStringSubmatch(prompt); m != nil {
		reply.Status, _ = strconv.Atoi(m[1])
		reply.Error = strings.TrimSpace(m[2])
		return reply
	}
	if think.MatchString(prompt) {
		reply.Thinking = "Thinking about: " + truncate(prompt, 60)
	}
	plan, rest := steps(prompt)
	done, results := 0, []string(nil)
	if r.PromptIndex >= 0 {
		for _, m := range r.Messages[r.PromptIndex:] {
			if len(m.ToolCalls) > 0 {
				done++
			}
			if m.Role == "tool" {
				results = append(results, m.Text)
			}
		}
	}
	if done < len(plan) {
		if len(r.Tools) == 0 {
			reply.Text = "ok: no tools offered"
			return reply
		}
		reply.Calls = plan[done]
		return reply
	}
	switch {
	case fromContext.MatchString(rest):
		reply.Text = answerFromContext(r, fromContext.FindStringSubmatch(rest)[1], results)
	case longCommand.MatchString(rest):
		n, _ := strconv.Atoi(longCommand.FindStringSubmatch(rest)[1])
		reply.Text = words(n)
	default:
		reply.Text = "ok: " + truncate(prompt, 200)
		if len(results) > 0 {
			reply.Text += "\nresult: " + truncate(results[len(results)-1], 200)
		}
	}
	return reply
}

// answerFromContext finds the first match in what the model was shown before
// the prompt, and in the results of the calls that the prompt asked for.
// Earlier questions of this kind are not evidence.
func answerFromContext(r Request, expr string, results []string) string {
	expr = strings.TrimSpace(expr)
	if len(expr) > 2 && expr[0] == '/' && strings.HasSuffix(expr, "/") {
		expr = expr[1 : len(expr)-1]
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return "BAD REGEXP: " + err.Error()
	}
	var texts []string
	for i, m := range r.Messages {
		if i >= r.PromptIndex {
			break
		}
		if !m.Internal && !isSystem(m.Role) {
			texts = append(texts, m.Text)
		}
	}
	for _, t := range append(texts, results...) {
		if s := re.FindString(asked.ReplaceAllString(t, "")); s != "" {
			return s
		}
	}
	return "NOT FOUND"
}

func truncate(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}

var wordList = strings.Fields(`river stone lantern garden winter copper violet harbour meadow signal
	paper bridge orchard candle thunder silver forest engine window market`)

func words(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s%d", wordList[i%len(wordList)], i)
	}
	return b.String()
}
