package strategytest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/store/memory"
)

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

const key = "agent:main:main"

// world is a host with one session over a store of its own, and a clock that stands still between messages.
type world struct {
	t     testing.TB
	store skald.Store
	e     *engine.Engine
	now   time.Time
	n     int // exchanges delivered
	sent  []json.RawMessage
	first []int // index in sent of each exchange's first message
	turn  string
}

func newWorld(t testing.TB, name string) *world {
	w := &world{t: t, store: memory.New(), now: start}
	w.use(name)
	return w
}

// use goes on with another strategy, as after a change of the configuration and a restart.
func (w *world) use(name string) {
	w.t.Helper()
	e, err := engine.New(w.store, engine.Options{Strategy: name, Clock: func() time.Time { return w.now }, Recall: time.Minute})
	w.must(err)
	w.e = e
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// tick moves the clock on by a second and returns it in milliseconds.
func (w *world) tick() int64 {
	w.now = w.now.Add(time.Second)
	return w.now.UnixMilli()
}

func (w *world) request(key string) skald.Request {
	return skald.Request{Session: skald.SessionAddress{SessionKey: key}, Now: w.now.UnixMilli()}
}

// commit delivers one exchange of the session.
func (w *world) commit(budget int, messages ...json.RawMessage) {
	w.t.Helper()
	w.deliver(key, budget, messages...)
	w.first, w.sent = append(w.first, len(w.sent)), append(w.sent, messages...)
}

func (w *world) deliver(key string, budget int, messages ...json.RawMessage) {
	w.t.Helper()
	w.n++
	out, err := w.e.CommitTurn(context.Background(), skald.CommitTurnRequest{Request: w.request(key), AdvancementKey: fmt.Sprint("k", w.n),
		Messages: messages, TokenBudget: budget})
	if err != nil || out.Stored != len(messages) {
		w.t.Fatalf("stored %d of %d messages: %v", out.Stored, len(messages), err)
	}
}

// assemble asks for the context of a new turn; again repeats the last question.
func (w *world) assemble(prompt string, budget int) (skald.AssembleResult, error) {
	w.tick()
	w.turn = fmt.Sprint("turn", w.n, "-", w.now.UnixMilli())
	return w.again(prompt, budget)
}

func (w *world) again(prompt string, budget int) (skald.AssembleResult, error) {
	return w.e.Assemble(context.Background(), skald.AssembleRequest{Request: w.request(key), Prompt: prompt, TokenBudget: budget,
		MessageCount: len(w.sent), Model: "gpt-5", TurnID: w.turn})
}

func (w *world) view(prompt string, budget int) skald.AssembleResult {
	w.t.Helper()
	out, err := w.assemble(prompt, budget)
	w.must(err)
	w.valid(out, budget)
	return out
}

func (w *world) jobs() { w.t.Helper(); w.must(w.e.RunJobs(context.Background())) }

func (w *world) compact(budget int) skald.CompactResult {
	w.t.Helper()
	out, err := w.e.Compact(context.Background(), skald.CompactRequest{Request: w.request(key), TokenBudget: budget, Force: true, Trigger: "manual"})
	w.must(err)
	return out
}

// valid demands what a strict provider does, and the budget, counted in serialised form (I6).
func (w *world) valid(out skald.AssembleResult, budget int) {
	w.t.Helper()
	n := 0
	for _, m := range out.Messages {
		n += message.Tokens(m)
	}
	if n > budget || n != out.EstimatedTokens {
		w.t.Fatalf("%d tokens, said to be %d, in a budget of %d", n, out.EstimatedTokens, budget)
	}
	if bad := message.CheckPairs(out.Messages); len(bad) > 0 {
		w.t.Fatalf("%v\n%s", bad, out.Messages)
	}
	if len(out.Messages) == 0 {
		return
	}
	if m, err := message.Parse(out.Messages[0]); err != nil || m.Role != message.RoleUser {
		w.t.Fatalf("the first message is not a user's: %.200s", out.Messages[0])
	}
}

// stored demands every message that was delivered, byte for byte, in order, with an unbroken chain (I1, I3, I4, I5).
func (w *world) stored() {
	w.t.Helper()
	turns, err := w.e.ListTurns(context.Background(), skald.DefaultIdentity, key, 0, 0)
	w.must(err)
	if len(turns) != len(w.sent) {
		w.t.Fatalf("%d of %d turns are stored", len(turns), len(w.sent))
	}
	for i, turn := range turns {
		if turn.Envelope.Sequence != int64(i+1) || string(turn.Raw) != string(w.sent[i]) {
			w.t.Fatalf("turn %d is %.200s, want %.200s", turn.Envelope.Sequence, turn.Raw, w.sent[i])
		}
	}
	v, err := w.e.Verify(context.Background(), skald.DefaultIdentity, "")
	if err != nil || !v.OK {
		w.t.Fatalf("verify: %v, %v", v.Problems, err)
	}
}

// session reads the stored session.
func (w *world) session() (s skald.Session) {
	w.t.Helper()
	w.must(w.store.View(context.Background(), func(tx skald.Tx) (err error) {
		s, err = tx.Session(skald.SessionRef{Scope: skald.Policy{}.UserScope(skald.DefaultIdentity), ID: skald.SessionID("", key)})
		return err
	}))
	return s
}

func text(list []json.RawMessage) string {
	var b strings.Builder
	for _, m := range list {
		b.Write(m)
		b.WriteByte('\n')
	}
	return b.String()
}
