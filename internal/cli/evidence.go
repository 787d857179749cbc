package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald/bench/evidence"
	"github.com/skald-engine/skald/internal/app"
	"github.com/skald-engine/skald/internal/config"
	"github.com/skald-engine/skald/strategy"
)

func (s *shell) benchEvidence() *cobra.Command {
	var o evidence.Options
	var budgets []int
	c := &cobra.Command{
		Use: "evidence --data FILE --budget TOKENS", Short: "Measure how much of what answers a question is recalled", Args: arguments(),
		Long: `Play the conversations of a file through the write path, session by session, and put every question as the first prompt of a new
session, a day after the last one. Printed is the share of the evidence that stands in what the model would be shown. Each conversation gets a
temporary store. Questions without evidence, or a file without answers, are asked all the same; --out holds what was shown.`,
		Example: `  skald bench evidence --data locomo-dev.jsonl.gz --budget 2000 --out contexts.jsonl`,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Data == "" {
				return arguments("--data")(c, nil)
			}
			for _, b := range budgets {
				if err := within("budget", int64(b), 100, maxBudget); err != nil {
					return err
				}
			}
			if _, err := strategy.ByName(o.Strategy); err != nil {
				return err
			}
			o.Open = func(ctx context.Context, dir string) (evidence.Target, error) {
				return openForEvidence(ctx, dir, o.Strategy, o.Meaning)
			}
			o.Progress = func(format string, args ...any) { fmt.Fprintf(s.err, format+"\n", args...) }
			list, err := evidence.Sweep(c.Context(), o, budgets)
			if err != nil {
				return err
			}
			if len(list) == 1 {
				return s.print(list[0], func(w io.Writer) { showEvidence(w, list[0]) })
			}
			return s.print(list, func(w io.Writer) {
				for _, r := range list {
					showEvidence(w, r)
				}
			})
		},
	}
	f := c.Flags()
	f.StringVar(&o.Data, "data", "", "file of conversations, JSON Lines, gzipped when it ends in .gz (required)")
	f.IntSliceVar(&budgets, "budget", []int{2000}, "tokens of what is shown beside the question; several with commas")
	f.StringVar(&o.Out, "out", "", "file for the contexts of the first budget, one a line")
	f.StringVar(&o.Strategy, "strategy", "", "strategy (default: the engine's)")
	f.BoolVar(&o.Meaning, "meaning", true, "recall by meaning, too")
	return c
}

func openForEvidence(ctx context.Context, dir, name string, meaning bool) (evidence.Target, error) {
	c := config.Default()
	c.Data, c.Meaning = dir, meaning
	if err := c.Finish(); err != nil {
		return evidence.Target{}, err
	}
	c.RecallMillis = int(evidenceRecall / time.Millisecond)
	clock := &replayClock{}
	a, err := app.Open(ctx, app.Options{Config: c, Clock: clock.now, Strategy: name})
	if err != nil {
		return evidence.Target{}, err
	}
	return evidence.Target{Engine: a.Engine, Inspector: a.Engine, SetClock: clock.set, RunJobs: a.Engine.RunJobs, Close: a.Close}, nil
}

// evidenceRecall is the time that recall has: what is measured is what it finds, and how long that takes is measured beside it.
const evidenceRecall = 5 * time.Second

func showEvidence(w io.Writer, r evidence.Report) {
	fmt.Fprintf(w, "evidence recall %.1f %% of %d questions at %d tokens (mean %.0f, over the budget %d)\n", 100*r.Recall, r.Questions, r.Budget,
		r.MeanTokens, r.OverBudget)
	fmt.Fprintf(w, "answer words %.1f %%, recall at 10 %.1f %%\n", 100*r.AnswerWords, 100*r.RecallAt10)
	if n := r.NoEvidence; n.Questions > 0 {
		fmt.Fprintf(w, "%d questions without evidence: %.0f tokens on average\n", n.Questions, n.MeanTokens)
	}
	fmt.Fprintf(w, "assemble p50 %.1f ms, p95 %.1f ms; %d turns stored and committed at %.0f a second, %s\n", r.Assemble.P50, r.Assemble.P95, r.Turns,
		r.TurnsASecond, size(r.StoreBytes))
	fmt.Fprintf(w, "configuration: %s\n\n", strings.Join(r.Configured, ", "))
	rows := [][]string{{"CATEGORY", "QUESTIONS", "RECALL"}}
	for _, name := range slices.Sorted(maps.Keys(r.ByCategory)) {
		rows = append(rows, []string{name, fmt.Sprint(r.ByCategory[name].Questions), fmt.Sprintf("%.1f", 100*r.ByCategory[name].Recall)})
	}
	table(w, rows)
}
