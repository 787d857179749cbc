package strategytest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
)

// Difference shows that the strategies differ where they should.
func Difference(t *testing.T) {
	t.Run("LegacyHoldsNoRecall", func(t *testing.T) {
		t.Parallel()
		for name, want := range map[string]bool{"legacy": false, "viking": true, "tiered": true, "rag": true} {
			w := newWorld(t, name)
			a := &author{Rand: rand.New(rand.NewPCG(8, 1)), w: w}
			w.deliver("agent:main:old", 60_000, a.message("user", "The parrot of the office is called Polly, mind that.", nil), a.reply("stop"))
			w.commit(60_000, a.plain(1, 50)...)
			if got := strings.Contains(text(w.view("What is the parrot of the office called?", 60_000).Messages), "Polly"); got != want {
				t.Errorf("%s: recalled %v", name, got)
			}
		}
	})
	t.Run("RagCommitsNotForPressure", func(t *testing.T) {
		t.Parallel()
		for name, want := range map[string]bool{"viking": true, "rag": false} {
			w := newWorld(t, name)
			a := &author{Rand: rand.New(rand.NewPCG(9, 1)), w: w}
			for i := range 12 {
				w.commit(12_000, a.plain(i, 900)...)
				w.jobs()
				w.view("And now?", 12_000)
			}
			if s := w.session(); (s.Archives > 0) != want || (s.Published > 0) != want {
				t.Errorf("%s: %d archives, published to %d", name, s.Archives, s.Published)
			}
		}
	})
	t.Run("DagExpands", func(t *testing.T) { t.Parallel(); testDagExpands(t) })
	t.Run("DagStaysInItsSession", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "dag")
		a := &author{Rand: rand.New(rand.NewPCG(10, 1)), w: w}
		w.deliver("agent:main:old", 60_000, a.message("user", "The parrot of the office is called Polly, mind that.", nil), a.reply("stop"))
		w.commit(60_000, a.message("user", "The cat of the office is called Minka, mind that.", nil), a.reply("stop"))
		for i := range 10 {
			w.commit(60_000, a.plain(i, 900)...)
		}
		w.compact(60_000)
		if shown := text(w.view("What is the parrot of the office called?", 60_000).Messages); strings.Contains(shown, "Polly") {
			t.Error("a fact of another session is in the context")
		}
		if shown := text(w.view("What is the cat of the office called?", 60_000).Messages); !strings.Contains(shown, "Minka") {
			t.Error("the original of a summarised turn was not fetched back")
		}
	})
	t.Run("TaskKeepsADecision", func(t *testing.T) { t.Parallel(); testTaskKeeps(t) })
	t.Run("TieredWarmsWhatIsUsed", func(t *testing.T) { t.Parallel(); testTieredWarms(t) })
}

var nodeURI = regexp.MustCompile(`viking://[a-z0-9/_.:-]+/(history/archive_\d+|turns/\d+(-\d+)?)`)

// testDagExpands: every reference of the frontier leads to turns, and together they lead to every turn that was published.
func testDagExpands(t *testing.T) {
	w := newWorld(t, "dag")
	a := &author{Rand: rand.New(rand.NewPCG(11, 1)), w: w}
	for i := range 120 {
		w.commit(24_000, a.plain(i, 600)...)
		w.jobs()
		w.view("And now?", 24_000)
	}
	s := w.session()
	if s.Published < 300 || !strings.Contains(s.Head, "(condensed, depth ") || !strings.Contains(s.Head, "(leaf,") {
		t.Fatalf("published to %d:\n%s", s.Published, s.Head)
	}
	seen := map[int64]bool{}
	for _, line := range strings.Split(s.Head, `\n`) {
		uri := nodeURI.FindString(line)
		if !strings.HasPrefix(line, "# ") || uri == "" {
			continue
		}
		x, err := w.e.Expand(context.Background(), skald.DefaultIdentity, uri, "", 1000)
		if err != nil || len(x.Turns) == 0 {
			t.Fatalf("%s leads to %d turns: %v", uri, len(x.Turns), err)
		}
		for _, turn := range x.Turns {
			seen[turn.Sequence] = true
		}
	}
	for seq := int64(1); seq <= s.Published; seq++ {
		if !seen[seq] {
			t.Fatalf("no reference leads to turn %d", seq)
		}
	}
}

// testTieredWarms: of two archives of one age, the one that recalls went back to keeps its notes; without use it lies cold.
func testTieredWarms(t *testing.T) {
	play := func(use bool) string {
		w := newWorld(t, "tiered")
		a := &author{Rand: rand.New(rand.NewPCG(12, 1)), w: w}
		w.commit(8_000, a.message("user", "We decided: the release is called Petrel and ships on the ninth of May.", nil), a.reply("stop"))
		for i := range 90 {
			w.commit(8_000, a.plain(i, 500)...)
			w.jobs()
			prompt := "ok"
			if use && i%12 == 11 {
				prompt = "Which release did we decide ships on the ninth of May?"
			}
			w.view(prompt, 8_000)
		}
		return w.session().Head
	}
	if head := play(true); !strings.Contains(head, "archive_001 (leaf") {
		t.Errorf("an archive in use sank:\n%s", strings.ReplaceAll(head, `\n`, "\n"))
	}
	if head := play(false); strings.Contains(head, "archive_001 (leaf") {
		t.Errorf("an archive without use did not sink:\n%s", fmt.Sprintf("%.1500s", head))
	}
}

// testTaskKeeps: a decision of early work still stands after much talk about other things, where the one rolling summary lost it.
func testTaskKeeps(t *testing.T) {
	for name, want := range map[string]bool{"legacy": false, "task": true} {
		w := newWorld(t, name)
		a := &author{Rand: rand.New(rand.NewPCG(13, 1)), w: w}
		w.commit(8_000, a.message("user", "Please write the importer for the invoice format.", nil), a.message("assistant", []any{block("text", "I will.", nil)}, nil))
		w.commit(8_000, a.message("user", "We decided: the invoice importer listens on port 8443 of the gateway machine in the second rack, and nowhere else, as the auditors had asked.", nil), a.message("assistant", []any{block("text", "Agreed.", nil)}, nil))
		for i := range 60 {
			w.commit(8_000, a.message("user", fmt.Sprintf("We decided: the garden of house %d gets %d roses, and please order tree number %d.", i, 2*i, 3*i), nil),
				a.message("assistant", []any{block("text", fmt.Sprintf("Agreed: %d roses for house %d. ", 2*i, i)+strings.Repeat("They grow well in the sun. ", 40), nil)}, nil))
			w.jobs()
			w.view("ok", 8_000)
		}
		s := w.session()
		if got := strings.Contains(text(w.view("ok", 8_000).Messages), "8443"); got != want || s.Published < 20 {
			t.Errorf("%s: the decision stands: %v (published to %d)\n%s", name, got, s.Published, strings.ReplaceAll(s.Head, `\n`, "\n"))
		}
	}
}
