package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/skald-engine/skald/bench/evidence"
)

func showEvidence(w io.Writer, r evidence.Report) {
	fmt.Fprintf(w, "evidence recall %s of %d questions at %d tokens (mean %.0f, over the budget %d)\n", percent(r.Recall), r.Questions, r.Budget,
		r.MeanTokens, r.OverBudget)
	fmt.Fprintf(w, "answer words %s, recall at 10 %s\n", percent(r.AnswerWords), percent(r.RecallAt10))
	if h := r.Halves; h != nil {
		fmt.Fprintf(w, "first half of the conversations %s of %d, last half %s of %d\n", percent(h.First.Recall), h.First.Questions,
			percent(h.Last.Recall), h.Last.Questions)
	}
	if r.NotScored > 0 {
		fmt.Fprintf(w, "%d questions without a word about evidence: asked, not scored\n", r.NotScored)
	}
	showSilence(w, r)
	if s := r.Superseded; s != nil {
		fmt.Fprintf(w, "of %d questions about what has changed the old value is shown for %d: the newest beside it for %d, the old one marked for %d, both %s\n",
			s.Questions, s.Old, s.Newest, s.Marked, percent(s.Share))
	}
	if m := r.MidSession; m != nil {
		fmt.Fprintf(w, "mid-session %s of %d questions, in a new session %s; after turns that nothing was recalled for %s\n", percent(m.Recall), m.Questions,
			percent(m.New), percent(m.Turns))
	}
	fmt.Fprintf(w, "assemble p50 %.1f ms, p95 %.1f ms, of that recall %.1f and %.1f ms\n", r.Assemble.P50, r.Assemble.P95, r.RecallTime.P50, r.RecallTime.P95)
	fmt.Fprintf(w, "%d turns stored and committed at %.0f a second, %s, of that index %s\n", r.Turns, r.TurnsASecond, size(r.StoreBytes), size(r.IndexBytes))
	fmt.Fprintf(w, "configuration: %s\n\n", strings.Join(r.Configured, ", "))
	showCategories(w, r)
	showAblation(w, r)
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// showSilence says how much is shown where nothing should be.
func showSilence(w io.Writer, r evidence.Report) {
	if n := r.NoEvidence; n.Questions > 0 {
		fmt.Fprintf(w, "%d questions without evidence: %.0f tokens on average, %s of the budget\n", n.Questions, n.MeanTokens, percent(n.Share))
	}
	if n := r.SmallTalk; n != nil {
		fmt.Fprintf(w, "%d times small talk: %.0f tokens on average, %s of the budget; nothing recalled for %d\n", n.Questions, n.MeanTokens,
			percent(n.Share), n.Silent)
	}
}

func showCategories(w io.Writer, r evidence.Report) {
	rows := [][]string{{"CATEGORY", "QUESTIONS", "RECALL", "ANSWER WORDS", "RECALL AT 10"}}
	for _, name := range slices.Sorted(maps.Keys(r.ByCategory)) {
		c := r.ByCategory[name]
		rows = append(rows, []string{name, fmt.Sprint(c.Questions), percent(c.Recall), percent(c.AnswerWords), percent(c.RecallAt10)})
	}
	table(w, rows)
}

func showAblation(w io.Writer, r evidence.Report) {
	if len(r.Ablation) == 0 {
		return
	}
	fmt.Fprintln(w)
	rows := [][]string{{"WITHOUT", "QUESTIONS", "RECALL", "DIFFERENCE", "ANSWER WORDS"}}
	for _, x := range r.Ablation {
		rows = append(rows, []string{string(x.Without), fmt.Sprint(x.Questions), percent(x.Recall), fmt.Sprintf("%+.1f", 100*x.Difference),
			fmt.Sprintf("%+.1f", 100*x.Words)})
	}
	table(w, rows)
}
