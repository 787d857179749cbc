package strategytest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/strategy"
)

// testBudget plays random histories under random budgets: never over the budget, calls and results paired, the newest turns there, all
// stored (I6, I1 to I5).
func testBudget(t *testing.T, name string) {
	for seed := range uint64(cases()) {
		r := rand.New(rand.NewPCG(seed, 7))
		ok := t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(t, name)
			a := &author{Rand: r, w: w}
			for range 1 + r.IntN(7) {
				budget := pick(r, strategy.MinBudget, 500, 1500, 4000, 9000, 20_000, 50_000)
				w.commit(budget, a.exchange()...)
				switch r.IntN(5) {
				case 0:
					w.compact(budget)
				case 1:
					w.jobs()
				}
				out := w.view(fmt.Sprintf("what about m%d and the parrot?", a.marks), budget)
				w.newestStay(out, budget)
			}
			w.stored()
		})
		if !ok {
			return // one is enough to look at
		}
	}
}

// newestStay demands the exchange before the prompt, and the newest eight turns, wherever the budget has room for their short form.
func (w *world) newestStay(out skald.AssembleResult, budget int) {
	w.t.Helper()
	const keep, short = 8, 260 // turns; tokens of a shortened one
	from := min(max(0, len(w.sent)-keep), w.first[len(w.first)-1])
	whole := 0 // turns of the exchanges that from stands in
	for i := len(w.first) - 1; i >= 0 && len(w.sent)-whole > from; i-- {
		whole = len(w.sent) - w.first[i]
	}
	if budget < 600+short*whole {
		return
	}
	shown := text(out.Messages)
	for i := from; i < len(w.sent); i++ {
		mark, ok := markOf(w.sent[i])
		if ok && !strings.Contains(shown, mark) && !strings.Contains(shown, fmt.Sprint("turns/", i+1)) {
			w.t.Fatalf("turn %d (%s) left a view of %d tokens (budget %d, %d turns had to stay), cut: %v", i+1, mark, out.EstimatedTokens, budget, whole, out.Cut)
		}
	}
}

// markOf is the mark of a message that has to be seen; calls without result and the like may be left out.
func markOf(raw []byte) (string, bool) {
	m, err := message.Parse(raw)
	if err != nil || strings.Contains(string(raw), "tool_result") || m.Role != message.RoleUser && m.Role != message.RoleAssistant {
		return "", false
	}
	mark, _, ok := strings.Cut(m.Text(), "·")
	return mark + "·", ok && strings.HasPrefix(mark, "m")
}

// testTooSmall demands the stated minimum: below it the host's own messages are used.
func testTooSmall(t *testing.T, name string) {
	w := newWorld(t, name)
	a := &author{Rand: rand.New(rand.NewPCG(1, 1)), w: w}
	w.commit(9000, a.plain(1, 100)...)
	if _, err := w.assemble("what now?", strategy.MinBudget-1); skald.KindOf(err) != skald.KindBudget {
		t.Errorf("below the minimum: %v, want KindBudget", err)
	}
	w.view("what now?", strategy.MinBudget)
}

// testAgain: a second assemble of the same turn gives the same bytes.
func testAgain(t *testing.T, name string) {
	w := newWorld(t, name)
	a := &author{Rand: rand.New(rand.NewPCG(2, 1)), w: w}
	for i := range 30 {
		w.commit(12_000, a.plain(i, 600)...)
		w.jobs()
		prompt := fmt.Sprintf("What did room %d say, exactly?", 1000+i/2)
		out := w.view(prompt, 12_000)
		again, err := w.again(prompt, 12_000)
		if err != nil || text(again.Messages) != text(out.Messages) {
			t.Fatalf("exchange %d: %v\n%s\n%s", i, err, text(again.Messages), text(out.Messages))
		}
	}
}

// testPrefix: between publications a request begins with the one before.
func testPrefix(t *testing.T, name string) {
	w := newWorld(t, name)
	a := &author{Rand: rand.New(rand.NewPCG(3, 1)), w: w}
	var before skald.AssembleResult
	changes := 0
	for i := range 60 {
		w.commit(16_000, a.plain(i, 400)...)
		w.jobs()
		out := w.view(fmt.Sprintf("What did room %d say, exactly?", 1000+i/2), 16_000)
		switch {
		case out.ProjectionEpoch != before.ProjectionEpoch:
			changes++
		case !strings.HasPrefix(text(out.Messages), text(before.Messages)):
			t.Fatalf("exchange %d changed the beginning without a publication", i)
		}
		before = out
	}
	if changes < 2 || changes > 10 {
		t.Errorf("%d publications in 60 exchanges of 500 tokens at a budget of 16,000", changes-1)
	}
}

// testCompact: a compact that was asked for works, and the newest turns stay raw (C-17).
func testCompact(t *testing.T, name string) {
	w := newWorld(t, name)
	a := &author{Rand: rand.New(rand.NewPCG(4, 1)), w: w}
	for i := range 40 {
		w.commit(100_000, a.plain(i, 1000)...)
	}
	before := w.view("And now?", 100_000)
	out := w.compact(100_000)
	if !out.OK || !out.Compacted || out.TokensAfter >= out.TokensBefore {
		t.Fatalf("%+v", out)
	}
	after := w.view("And now?", 100_000)
	if after.EstimatedTokens >= before.EstimatedTokens || after.ProjectionEpoch == before.ProjectionEpoch {
		t.Errorf("%d tokens before, %d after", before.EstimatedTokens, after.EstimatedTokens)
	}
	for _, mark := range []string{"ask39·", "end39·", "told39·", "ask38·"} {
		if !strings.Contains(text(after.Messages), mark) {
			t.Errorf("%s is not raw any more", mark)
		}
	}
	w.stored()
}
