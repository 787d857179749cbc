package strategy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/bench/replay"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/store/memory"
)

// legacy is an engine with the strategy, as a replay sees it.
func legacy(t testing.TB) replay.Target {
	t.Helper()
	var now time.Time
	e, err := engine.New(memory.New(), engine.Options{Strategy: "legacy", Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	return replay.Target{Engine: e, Inspector: e, Settle: e.RunJobs, SetClock: func(at time.Time) { now = at }}
}

// talk has n exchanges of about size tokens.
func talk(n, size int) (list []json.RawMessage) {
	for i := range n {
		list = append(list, asked(i, size)...)
	}
	return list
}

// asked is the i-th exchange: a question, a tool call with a result of about size tokens, an answer.
func asked(i, size int) []json.RawMessage {
	id, at := fmt.Sprintf("call%d", i), int64(1_772_410_000_000+60_000*i)
	return []json.RawMessage{
		message.User(fmt.Sprintf("Question %d about room %d", i, 1000+i), at), message.AssistantCall(id, "bash", nil, at+1),
		message.ToolResult(id, "bash", strings.Repeat("line of output\n", size/5), at+2), message.Assistant(fmt.Sprintf("Answer %d", i), at+3),
	}
}

func options(budget int, calls *[]replay.Call) replay.Options {
	return replay.Options{
		Identity: skald.DefaultIdentity, Session: "s1", Budget: budget, Compact: replay.CompactAuto,
		Observe: func(c replay.Call) { *calls = append(*calls, c) },
	}
}

// TestLegacyWholeHistory: until the budget is full every turn stands raw, nothing is looked up, and each request begins with the one before.
func TestLegacyWholeHistory(t *testing.T) {
	t.Parallel()
	var calls []replay.Call
	messages := talk(20, 200)
	r, err := replay.Play(context.Background(), legacy(t), messages, options(100_000, &calls))
	if err != nil || r.Publications != 0 || r.PrefixShare != 1 || r.MaxOverBudget != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	last := calls[len(calls)-1]
	if got := append(last.Before, last.Pending...); len(got) != last.Message || string(got[0]) != string(messages[0]) {
		t.Errorf("the request holds %d messages, want %d", len(got), last.Message)
	}
}

// TestLegacyCompacts: when the history is too long, one summary stands for the oldest turns and the newest stay raw; it is rare.
func TestLegacyCompacts(t *testing.T) {
	t.Parallel()
	var calls []replay.Call
	messages := talk(60, 1000)
	r, err := replay.Play(context.Background(), legacy(t), messages, options(20_000, &calls))
	if err != nil || r.Publications < 2 || r.Publications > 12 || r.PrefixShareTurns != 1 || r.MaxOverBudget != 0 || r.BrokenPairs != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	last := calls[len(calls)-1]
	if first := string(last.Before[0]); !strings.Contains(first, "Summary of the conversation so far") || strings.Contains(first, "memory_expand") {
		t.Errorf("the first message is %.200s", first)
	}
	raw := 0
	for _, m := range last.Before {
		if !message.Injected(m) {
			raw += message.Tokens(m)
		}
	}
	if raw < 8_000 {
		t.Errorf("%d tokens are raw after compaction", raw)
	}
	if n := message.Tokens(last.Before[0]); n > 20_000*15/100+200 {
		t.Errorf("the summary takes %d tokens", n)
	}
}

// TestLegacyHoldsTheBudget: no request is over the budget and no call without its result, whatever comes (I6).
func TestLegacyHoldsTheBudget(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 1))
		var messages []json.RawMessage
		for i := range 1 + random.IntN(12) {
			messages = append(messages, asked(i, []int{10, 100, 4000}[random.IntN(3)])...)
		}
		budget := []int{250, 900, 3000, 9000, 60_000}[random.IntN(5)]
		var calls []replay.Call
		r, err := replay.Play(context.Background(), legacy(t), messages, options(budget, &calls))
		if err != nil || r.MaxOverBudget != 0 || r.BrokenPairs != 0 {
			t.Fatalf("seed %d, budget %d: %+v, %v", seed, budget, r, err)
		}
	}
}

// TestLegacyOnDemand: a compact that was asked for publishes, and nothing of the turns is lost.
func TestLegacyOnDemand(t *testing.T) {
	t.Parallel()
	var calls []replay.Call
	to := legacy(t)
	o := options(100_000, &calls)
	o.Compact = replay.CompactEnd
	messages := talk(40, 1000)
	r, err := replay.Play(context.Background(), to, messages, o)
	if err != nil || r.Compact == nil || !r.Compact.Compacted || r.Compact.Summary == "" || r.Compact.TokensAfter >= r.Compact.TokensBefore {
		t.Fatalf("%+v, %v", r.Compact, err)
	}
	turns, err := to.Inspector.ListTurns(context.Background(), skald.DefaultIdentity, r.SessionID, 0, 0)
	if err != nil || len(turns) != len(messages) {
		t.Errorf("%d turns are stored, %v", len(turns), err)
	}
}
