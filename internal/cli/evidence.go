package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald/bench/evidence"
	"github.com/skald-engine/skald/internal/app"
	"github.com/skald-engine/skald/internal/config"
	"github.com/skald-engine/skald/recall"
	"github.com/skald-engine/skald/strategy"
)

func (s *shell) benchEvidence() *cobra.Command {
	var o evidence.Options
	var budgets []int
	var without []string
	c := &cobra.Command{
		Use: "evidence --data FILE --budget TOKENS", Short: "Measure how much of what answers a question is recalled", Args: arguments(),
		Long: `Play the conversations of a file through the write path, session by session, and put every question as the first prompt of a new
session, a day after the last one. Printed is the share of the evidence that stands in what the model would be shown, of all conversations, of the
first half and of the last, and how much is shown where nothing answers: beside unanswerable questions and beside small talk. Of questions about what
has changed it is told whether the newest value is shown beside the old one and the old one is marked. Each conversation gets a temporary store.

A file without evidence and answers is asked all the same; --out holds what was shown. --mid-session also asks in a session of 30 turns about
another topic, the beginning of the file's next conversation. --ablation also asks without each stage of recall. --without leaves stages out of all
that is asked; they are ` + stageNames() + `.

With --json the keys are fixed: evidence_recall, answer_words, recall_at_10, by_category, halves (first, last), no_evidence_questions, small_talk,
superseded, mid_session, ablation, assemble_ms, recall_ms, turns_per_second, store_bytes, index_bytes, configuration; with several budgets a list.`,
		Example: `  skald bench evidence --data locomo-dev.jsonl.gz --budget 2000 --out contexts.jsonl
  skald bench evidence --data zh-dev.jsonl.gz --budget 500,1000,2000 --mid-session --ablation --json`,
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
			var err error
			if o.Without, err = evidence.ParseStages(without); err != nil {
				return err
			}
			if err := within("sample", int64(o.Sample), 0, 1<<31); err != nil {
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
	f.StringSliceVar(&without, "without", nil, "stages of recall to leave out")
	f.BoolVar(&o.MidSession, "mid-session", false, "ask in mid-session, too")
	f.BoolVar(&o.Ablation, "ablation", false, "ask without each stage, too")
	f.IntSliceVar(&o.Extra, "extra-budget", nil, "budgets at which --mid-session and --ablation ask (default: all)")
	f.IntVar(&o.Sample, "sample", 40, "questions of each conversation that --mid-session and --ablation ask; 0: all")
	return c
}

func stageNames() string {
	var names []string
	for _, s := range recall.Stages() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
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
