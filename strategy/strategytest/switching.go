package strategytest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// testSwitch goes on with an old session under another strategy, and back, without any migration: what is stored stays as it is, both
// hold their invariants, and what was published is not forgotten by the change (003, FAQ 1).
func testSwitch(t *testing.T, from, to string) {
	w := newWorld(t, from)
	a := &author{Rand: rand.New(rand.NewPCG(6, 1)), w: w}
	w.commit(12_000, a.message("user", "We decided: the release is called Petrel and ships on the ninth of May.", nil), a.message("assistant",
		[]any{block("text", "Agreed: release Petrel ships on the ninth of May.", nil)}, nil))
	n := 0
	play := func(exchanges int) {
		for range exchanges {
			w.commit(12_000, a.plain(n, 700)...)
			w.jobs()
			w.view(fmt.Sprintf("And room %d?", 1000+n), 12_000)
			n++
		}
	}
	play(20)
	published := w.session().Published
	w.use(to)
	out := w.view("And now?", 12_000)
	for _, mark := range []string{fmt.Sprintf("ask%d·", n-1), fmt.Sprintf("end%d·", n-1), fmt.Sprintf("ask%d·", n-2)} {
		if !strings.Contains(text(out.Messages), mark) {
			t.Errorf("after the change %s is not there", mark)
		}
	}
	if published > 2 && !strings.Contains(text(out.Messages), "Petrel") && !strings.Contains(text(w.view("When does release Petrel ship?", 12_000).Messages), "ninth of May") {
		t.Errorf("after the change nothing stands for what %s had summarised:\n%.3000s", from, text(out.Messages))
	}
	play(20)
	w.use(from)
	w.view("And now?", 12_000)
	play(5)
	w.stored()
}
