package strategytest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/skald-engine/skald/message"
)

// tight is what one view still holds of each kind of thing that can yield.
type tight struct {
	budget  int
	recalls int  // recalls of earlier prompts and of this one
	head    int  // tokens of the first message, if it is the engine's
	older   int  // exchanges before the newest eight turns
	tools   bool // the newest turns stand whole
}

// testOrder squeezes one session into smaller and smaller budgets: recalls leave first, then the summary shrinks, then older exchanges go,
// and only then the newest tool results are cut (I6).
func testOrder(t *testing.T, name string, traits Traits) {
	w := newWorld(t, name)
	a := &author{Rand: rand.New(rand.NewPCG(5, 1)), w: w}
	w.deliver("agent:main:old", 60_000, a.message("user", "The parrot of room 1007 is called Polly, mind that.", nil), a.reply("stop"))
	for i := range 24 {
		w.commit(60_000, a.plain(i, 300)...)
		if i == 11 {
			w.compact(60_000)
		}
	}
	w.view("Who is the parrot of room 1007?", 60_000)
	w.commit(60_000, a.message("user", "Who is the parrot of room 1007?", nil), a.reply("stop"))
	for i := 30; i < 33; i++ {
		w.commit(60_000, a.plain(i, 500)...)
	}
	var list []tight
	for budget := 16_000; budget > 800; budget -= max(40, budget/40) {
		out := w.view("ok", budget) // a prompt that asks for no recall: earlier ones alone stand
		shown := text(out.Messages)
		s := tight{budget: budget, recalls: strings.Count(shown, "[skald] Looked up automatically"),
			tools: !strings.Contains(strings.Join(out.Cut, "\n"), "was shortened from")}
		if message.Injected(out.Messages[0]) && !strings.Contains(string(out.Messages[0]), "The conversation so far, from here on") {
			s.head = message.Tokens(out.Messages[0])
		}
		for i := range 24 {
			if strings.Contains(text(said(out.Messages)), fmt.Sprintf("told%d·", i)) {
				s.older++
			}
		}
		list = append(list, s)
	}
	for _, s := range list {
		widest := list[0]
		switch {
		case !traits.Chooses && s.older < widest.older && s.recalls > 0:
			t.Errorf("at %d older exchanges left before the recalls: %+v", s.budget, s)
		case !s.tools && s.recalls > 0:
			t.Errorf("at %d tool results were cut before the recalls left: %+v", s.budget, s)
		case !s.tools && s.older > 0:
			t.Errorf("at %d tool results were cut before older exchanges left: %+v", s.budget, s)
		case s.older < widest.older && !traits.Chooses && s.head > max(s.budget/10+60, widest.head/2) && s.head == widest.head:
			t.Errorf("at %d older exchanges left before the summary shrank: %+v", s.budget, s)
		}
	}
	if last := list[len(list)-1]; last.tools {
		t.Errorf("nothing had to yield: %+v", list)
	}
}

// said leaves out what the engine made.
func said(list []json.RawMessage) (out []json.RawMessage) {
	for _, m := range list {
		if !message.Injected(m) {
			out = append(out, m)
		}
	}
	return out
}
