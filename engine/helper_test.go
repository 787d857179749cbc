package engine_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/store/memory"
)

// TestMain keeps the property tests short; -rapid.checks overrules it.
func TestMain(m *testing.M) {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "rapid.checks" })
	if !chosen {
		_ = flag.Set("rapid.checks", "30")
	}
	os.Exit(m.Run())
}

var monday = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// host plays a host: it has a transcript, a clock and keys, and talks to one engine on behalf of one session.
type host struct {
	t      testing.TB
	store  skald.Store
	e      *engine.Engine
	now    *time.Time
	n      *int // advancement keys given
	req    skald.Request
	list   []json.RawMessage // the host's own list since the last reset
	budget int
	model  string
	last   skald.AssembleResult
}

func newHost(t testing.TB, change ...func(*engine.Options)) *host {
	return newHostOver(t, memory.New(), change...)
}

func newHostOver(t testing.TB, store skald.Store, change ...func(*engine.Options)) *host {
	t.Helper()
	now := monday
	h := &host{t: t, store: store, now: &now, n: new(int), budget: 100_000, model: "gpt-5"}
	opts := engine.Options{Clock: func() time.Time { return now }, Recall: time.Minute} // a busy machine must not decide
	for _, c := range change {
		c(&opts)
	}
	e, err := engine.New(store, opts)
	h.must(err)
	h.e = e
	h.req.Session.SessionKey = "agent:main:main"
	return h
}

// as is another session or person over the same engine.
func (h *host) as(change func(*skald.Request)) *host {
	c := *h
	c.list, c.last = nil, skald.AssembleResult{}
	change(&c.req)
	return &c
}

func (h *host) session(key string) *host {
	return h.as(func(r *skald.Request) { r.Session = skald.SessionAddress{SessionKey: key} })
}

func (h *host) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) request() skald.Request {
	r := h.req
	r.Now = h.now.UnixMilli()
	return r
}

func (h *host) tick() int64 {
	*h.now = h.now.Add(time.Second)
	return h.now.UnixMilli()
}

func host1(role string, content any, ts int64, more map[string]any) json.RawMessage {
	m := map[string]any{"role": role, "content": content}
	if ts > 0 {
		m["timestamp"] = ts
	}
	for k, v := range more {
		m[k] = v
	}
	raw, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return raw
}

func (h *host) user(text string) json.RawMessage { return host1("user", text, h.tick(), nil) }

func (h *host) reply(text string) json.RawMessage {
	return host1("assistant", []any{map[string]any{"type": "text", "text": text}}, h.tick(), map[string]any{"provider": "openai", "model": "gpt-5", "stopReason": "stop"})
}

func (h *host) call(id, tool string, args any) json.RawMessage {
	return host1("assistant", []any{map[string]any{"type": "toolCall", "id": id, "name": tool, "arguments": args}}, h.tick(),
		map[string]any{"provider": "openai", "model": "gpt-5", "stopReason": "toolUse"})
}

func (h *host) result(id, tool, text string) json.RawMessage {
	return host1("toolResult", []any{map[string]any{"type": "text", "text": text}}, h.tick(), map[string]any{"toolCallId": id, "toolName": tool, "isError": false})
}

// assemble asks for the context of a prompt.
func (h *host) assemble(prompt string, change ...func(*skald.AssembleRequest)) skald.AssembleResult {
	h.t.Helper()
	out, err := h.tryAssemble(prompt, change...)
	h.must(err)
	return out
}

func (h *host) tryAssemble(prompt string, change ...func(*skald.AssembleRequest)) (skald.AssembleResult, error) {
	r := skald.AssembleRequest{Request: h.request(), Prompt: prompt, TokenBudget: h.budget, MessageCount: len(h.list), Model: h.model,
		TurnID: fmt.Sprintf("turn-%d-%s", *h.n, h.req.Session.SessionKey)}
	for _, c := range change {
		c(&r)
	}
	out, err := h.e.Assemble(context.Background(), r)
	h.last = out
	return out, err
}

// commit delivers one exchange under a key of its own.
func (h *host) commit(messages ...json.RawMessage) skald.CommitTurnResult {
	h.t.Helper()
	out, err := h.tryCommit(h.nextKey(), messages...)
	h.must(err)
	return out
}

func (h *host) nextKey() string { *h.n++; return fmt.Sprintf("k%d", *h.n) }

func (h *host) tryCommit(key string, messages ...json.RawMessage) (skald.CommitTurnResult, error) {
	out, err := h.e.CommitTurn(context.Background(), skald.CommitTurnRequest{Request: h.request(), AdvancementKey: key, Messages: messages, TokenBudget: h.budget})
	if err == nil && out.Stored > 0 {
		h.list = append(h.list, messages...)
	}
	return out, err
}

// anchored delivers an exchange with the host's entry ids and positions.
func (h *host) anchored(key, entry string, position int64, messages ...json.RawMessage) skald.CommitTurnResult {
	h.t.Helper()
	last := int64(len(messages) - 1)
	out, err := h.e.CommitTurn(context.Background(), skald.CommitTurnRequest{Request: h.request(), AdvancementKey: key, Messages: messages,
		Admission: &skald.Anchor{EntryID: entry + "-0", Position: position},
		Terminal:  &skald.Anchor{EntryID: fmt.Sprintf("%s-%d", entry, last), Position: position + last}, TokenBudget: h.budget})
	h.must(err)
	h.list = append(h.list, messages...)
	return out
}

// say plays a whole exchange: assemble, then the reply, then commitTurn.
func (h *host) say(prompt, reply string) skald.AssembleResult {
	h.t.Helper()
	out := h.assemble(prompt)
	h.commit(h.user(prompt), h.reply(reply))
	return out
}

func (h *host) jobs() { h.t.Helper(); h.must(h.e.RunJobs(context.Background())) }

func (h *host) turns() []skald.TurnInfo {
	h.t.Helper()
	list, err := h.e.ListTurns(context.Background(), h.identity(), h.id(), 0, 0)
	if skald.KindOf(err) == skald.KindNotFound {
		return nil
	}
	h.must(err)
	return list
}

func (h *host) identity() skald.Identity {
	if h.req.Identity == (skald.Identity{}) {
		return skald.DefaultIdentity
	}
	return h.req.Identity
}

func (h *host) id() string { return skald.SessionID(h.req.Session.SessionID, h.req.Session.SessionKey) }

func (h *host) ref() skald.SessionRef {
	return skald.SessionRef{Scope: skald.Policy{}.UserScope(h.identity()), ID: h.id()}
}

// state reads the stored session.
func (h *host) state() (s skald.Session) {
	h.t.Helper()
	h.must(h.store.View(context.Background(), func(tx skald.Tx) (err error) {
		s, err = tx.Session(h.ref())
		return err
	}))
	return s
}

func (h *host) archives() (list []skald.Archive) {
	h.t.Helper()
	h.must(h.store.View(context.Background(), func(tx skald.Tx) (err error) {
		list, err = tx.Archives(h.ref(), 1)
		return err
	}))
	return list
}

func (h *host) texts() (out []string) {
	h.t.Helper()
	for _, t := range h.turns() {
		out = append(out, textOf(t.Raw))
	}
	return out
}

func (h *host) find(query string) string {
	h.t.Helper()
	out, err := h.e.Find(context.Background(), h.identity(), skald.FindQuery{Query: query, Session: h.req.Session.SessionKey, Now: h.now.UnixMilli()})
	h.must(err)
	raw, _ := json.Marshal(out.Hits)
	return string(raw)
}

func (h *host) tool(name string, args any) skald.ToolAnswer {
	h.t.Helper()
	raw, _ := json.Marshal(args)
	out, err := h.e.Tool(context.Background(), skald.ToolRequest{Request: h.request(), Tool: name, Args: raw})
	h.must(err)
	return out
}

func (h *host) compact(change ...func(*skald.CompactRequest)) skald.CompactResult {
	h.t.Helper()
	r := skald.CompactRequest{Request: h.request(), TokenBudget: h.budget, Force: true, Trigger: "manual"}
	for _, c := range change {
		c(&r)
	}
	out, err := h.e.Compact(context.Background(), r)
	h.must(err)
	return out
}

func (h *host) status() skald.Status {
	h.t.Helper()
	st, err := h.e.Status(context.Background(), h.identity())
	h.must(err)
	return st
}

// verify demands that chain, sequences and references hold (I3, I5).
func (h *host) verify() {
	h.t.Helper()
	v, err := h.e.Verify(context.Background(), h.identity(), "")
	h.must(err)
	if !v.OK {
		h.t.Fatalf("verify: %s", strings.Join(v.Problems, "\n"))
	}
}

func textOf(raw []byte) string {
	m, err := message.Parse(raw)
	if err != nil {
		return string(raw)
	}
	return m.Text()
}

// shownText is all that the model would read.
func shownText(out skald.AssembleResult) string {
	var b strings.Builder
	for _, m := range out.Messages {
		b.WriteString(textOf(m) + "\n")
	}
	return b.String()
}

// rawOnly leaves out what the engine made.
func rawOnly(out skald.AssembleResult) (list []json.RawMessage) {
	for _, m := range out.Messages {
		if !message.Injected(m) {
			list = append(list, m)
		}
	}
	return list
}

func tokens(list []json.RawMessage) (n int) {
	for _, m := range list {
		n += message.Tokens(m)
	}
	return n
}

// valid demands what a strict provider does, and the budget (I6).
func valid(t interface {
	Helper()
	Fatalf(string, ...any)
}, out skald.AssembleResult, budget int) {
	t.Helper()
	if n := tokens(out.Messages); n > budget || n != out.EstimatedTokens {
		t.Fatalf("%d tokens, estimated %d, budget %d", n, out.EstimatedTokens, budget)
	}
	if bad := message.CheckPairs(out.Messages); len(bad) > 0 {
		t.Fatalf("%v\n%s", bad, out.Messages)
	}
	if len(out.Messages) > 0 {
		if m, err := message.Parse(out.Messages[0]); err != nil || m.Role != "user" {
			t.Fatalf("the first message is not the user's: %s", out.Messages[0])
		}
	}
}

// prefixOf demands that a is an exact prefix of b.
func prefixOf(t *testing.T, a, b []json.RawMessage) {
	t.Helper()
	for i := range a {
		if i >= len(b) || string(a[i]) != string(b[i]) {
			t.Fatalf("message %d of %d changed:\n%s\n%s", i, len(a), a[i], get(b, i))
		}
	}
}

func get(list []json.RawMessage, i int) string {
	if i < len(list) {
		return string(list[i])
	}
	return "(none)"
}

func countText(out skald.AssembleResult, text string) int { return strings.Count(shownText(out), text) }

// wrapped is a store whose transactions a test changes.
type wrapped struct {
	skald.Store
	update func() error            // called before every Update
	tx     func(skald.Tx) skald.Tx // wraps every transaction
	views  atomic.Int64
}

func (w *wrapped) Update(ctx context.Context, fn func(skald.Tx) error) error {
	if w.update != nil {
		if err := w.update(); err != nil {
			return err
		}
	}
	return w.Store.Update(ctx, fn)
}

func (w *wrapped) View(ctx context.Context, fn func(skald.Tx) error) error {
	w.views.Add(1)
	return w.Store.View(ctx, func(tx skald.Tx) error {
		if w.tx != nil {
			tx = w.tx(tx)
		}
		return fn(tx)
	})
}

// failing makes the Update fail whose number is n, from now.
func (w *wrapped) failing(n int) {
	w.update = func() error {
		if n--; n == 0 {
			return skald.E("store.update", skald.KindUnavailable, "disk full")
		}
		return nil
	}
}

func equalStrings(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("got %q\nwant %q", got, want)
	}
}

func contains(t *testing.T, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Fatalf("%q is not in:\n%s", part, text)
	}
}

func lacks(t *testing.T, text, part string) {
	t.Helper()
	if strings.Contains(text, part) {
		t.Fatalf("%q is in:\n%s", part, text)
	}
}
