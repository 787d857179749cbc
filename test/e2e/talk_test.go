package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/test/gateway"
	"github.com/skald-engine/skald/test/scripted"
	"github.com/skald-engine/skald/test/world"
)

// Texts that the engine puts around a recall, and the mark of its result.
const (
	recallLine = "[skald] Looked up"
	recallMark = "openviking-auto-recall"
	ackLine    = "Noted."
)

// talk is one conversation through the gateway, with what the model endpoint received for it.
type talk struct {
	t        *testing.T
	ctx      context.Context
	w        *world.World
	key      string
	opts     []gateway.TurnOption
	requests []scripted.Request // of all turns
	reply    string             // the newest
}

func newTalk(t *testing.T, ctx context.Context, w *world.World, key string, opts ...gateway.TurnOption) *talk {
	return &talk{t: t, ctx: ctx, w: w, key: "agent:main:" + key, opts: opts}
}

// say sends a turn and returns the model requests that it caused.
func (c *talk) say(text string, opts ...gateway.TurnOption) []scripted.Request {
	c.t.Helper()
	reply, requests, err := c.w.Turn(c.ctx, c.key, text, append(slices.Clone(c.opts), opts...)...)
	if err != nil {
		unrefused(c.t, requests)
		c.t.Fatalf("turn %q: %v", short(text), err)
	}
	if len(requests) == 0 {
		c.t.Fatalf("turn %q caused no model request; reply %q", short(text), reply)
	}
	c.reply = reply
	c.requests = append(c.requests, requests...)
	return requests
}

// first is the first model request of the turn with the text: the one that assemble made.
func (c *talk) first(text string, opts ...gateway.TurnOption) scripted.Request {
	c.t.Helper()
	return c.say(text, opts...)[0]
}

func (c *talk) session() skald.SessionInfo {
	c.t.Helper()
	s, err := c.w.Session(c.ctx, c.key)
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// turns are the stored turns of the session.
func (c *talk) turns() []skald.TurnInfo {
	c.t.Helper()
	list, err := c.w.Client.ListTurns(c.ctx, world.Identity, c.session().ID, 0, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	return list
}

// commit archives the open turns and waits for summary and memories.
func (c *talk) commit() skald.CommitResult {
	c.t.Helper()
	r, err := c.w.Client.Commit(c.ctx, world.Identity, c.session().ID, true)
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

// explain is the trace of the newest assemble.
func (c *talk) explain() skald.Explanation {
	c.t.Helper()
	x, err := c.w.Client.Explain(c.ctx, world.Identity, c.session().ID, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	return x
}

// rpc calls a method of the gateway about this session.
func (c *talk) rpc(method string) json.RawMessage {
	c.t.Helper()
	answer, err := c.w.Gateway.Call(c.ctx, method, map[string]any{"key": c.key})
	if err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	return answer
}

// prefixes checks that each of the requests begins with the one before it, up to its prompt.
func prefixes(t *testing.T, requests []scripted.Request) {
	t.Helper()
	for i := 1; i < len(requests); i++ {
		if share := scripted.PrefixShare(requests[i-1], requests[i]); share < 1 {
			at, a, b := scripted.FirstDifference(requests[i-1], requests[i])
			t.Errorf("request %d (%s) does not begin with the one before it (%s): share %.3f, message %d:\n%s\n%s", i+1,
				short(requests[i].PromptText()), short(requests[i-1].PromptText()), share, at, short(string(a)), short(string(b)))
			return
		}
	}
}

// stable checks that each request of the conversation begins with the one before it, up to its prompt, but for one break a publication,
// and for the thinking that the host takes out of all but the newest assistant message (docs/openclaw.md, 2 and 18).
func (c *talk) stable() (publications int) {
	c.t.Helper()
	publications = len(logged(c.t, c.w, "msg=published", c.session().ID))
	broken := 0
	for i := 1; i < len(c.requests); i++ {
		if extends(thoughtless(c.requests[i-1]), thoughtless(c.requests[i])) {
			continue
		}
		if broken++; broken > publications {
			prefixes(c.t, c.requests[i-1:i+1])
		}
	}
	return publications
}

var thinkingPart = regexp.MustCompile(`\{"signature":"[^"]*","thinking":"(?:[^"\\]|\\.)*","type":"thinking"\},?`)

func thoughtless(r scripted.Request) [][]byte {
	list := r.UpToPrompt()
	for i := range list {
		list[i] = thinkingPart.ReplaceAll(list[i], nil)
	}
	return list
}

// extends tells whether the second list begins with the first.
func extends(a, b [][]byte) bool {
	return len(a) <= len(b) && slices.EqualFunc(a, b[:len(a)], bytes.Equal)
}

// unrefused checks that the model endpoint has refused none of the requests.
func unrefused(t *testing.T, requests []scripted.Request) {
	t.Helper()
	for _, r := range requests {
		if r.Refusal != "" {
			t.Errorf("%s refused %q: %s", r.Profile, short(r.PromptText()), r.Refusal)
		}
	}
}

// recallForm tells in which form a recall stands right before the prompt: tool, text, or "" for none.
func recallForm(r scripted.Request) string {
	before := r.Messages[:max(0, r.PromptIndex)]
	n := len(before)
	if n >= 4 && strings.Contains(before[n-4].Text, recallLine) && before[n-4].Role == "user" && pairAt(before, n-3) &&
		before[n-1].Role == "assistant" && before[n-1].Text == ackLine && len(before[n-1].ToolCalls) == 0 {
		return "tool"
	}
	if n >= 2 && before[n-2].Role == "user" && strings.Contains(before[n-2].Text, recallLine) && strings.Contains(before[n-2].Text, recallMark) &&
		before[n-1].Role == "assistant" && before[n-1].Text == ackLine {
		return "text"
	}
	return ""
}

// pairAt reports a call of memory_recall_auto with its result.
func pairAt(list []scripted.Message, i int) bool {
	call, result := list[i], list[i+1]
	return call.Role == "assistant" && len(call.ToolCalls) == 1 && call.ToolCalls[0].Name == "memory_recall_auto" &&
		result.ToolResultFor == call.ToolCalls[0].ID && strings.Contains(result.Text, recallMark)
}

// recalls counts the recalls that stand before the prompt.
func recalls(r scripted.Request) (n int) {
	for _, m := range r.Messages[:max(0, r.PromptIndex)] {
		if m.Role == "user" && strings.Contains(m.Text, recallLine) {
			n++
		}
	}
	return n
}

// recalled is the text of the recall right before the prompt.
func recalled(r scripted.Request) string {
	n := r.PromptIndex
	switch recallForm(r) {
	case "tool":
		return r.Messages[n-2].Text
	case "text":
		return r.Messages[n-2].Text
	}
	return ""
}

// results are the texts of the tool results that answer the calls of the turn.
func results(r scripted.Request) (list []string) {
	for _, m := range r.Messages[max(0, r.PromptIndex):] {
		if m.ToolResultFor != "" {
			list = append(list, m.Text)
		}
	}
	return list
}

// toolResult runs one call by the model and returns what the model was told.
func (c *talk) toolResult(tool string, args map[string]any) string {
	c.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		c.t.Fatal(err)
	}
	requests := c.say("CALL " + tool + " " + string(raw))
	list := results(requests[len(requests)-1])
	if len(list) == 0 {
		c.t.Fatalf("%s gave no result; %d requests, reply %q", tool, len(requests), c.reply)
	}
	return list[len(list)-1]
}

var uriPattern = regexp.MustCompile(`viking://[^\s"'\\),]+`)

// uri is the first URI in a text that contains all the parts.
func uri(text string, parts ...string) string {
	for _, u := range uriPattern.FindAllString(text, -1) {
		if !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(u, p) }) {
			return u
		}
	}
	return ""
}

// logged lists the lines of the daemon's log that contain all the parts.
func logged(t *testing.T, w *world.World, parts ...string) (lines []string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.Dir, "daemon.log"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(line, p) }) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// quiet waits until no job of the daemon is due.
func quiet(t *testing.T, ctx context.Context, w *world.World) {
	t.Helper()
	eventually(t, 20*time.Second, "the daemon's jobs are done", func() bool {
		s, err := w.Client.Status(ctx, world.Identity)
		return err == nil && s.JobsReady == 0
	})
}

func short(s string) string {
	r := []rune(s)
	if len(r) > 600 {
		return string(r[:400]) + " … " + string(r[len(r)-180:])
	}
	return s
}
