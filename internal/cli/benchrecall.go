package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	enginebench "github.com/skald-engine/skald/bench/engine"
	"github.com/skald-engine/skald/internal/app"
	"github.com/skald-engine/skald/internal/config"
)

func (s *shell) benchRecall() *cobra.Command {
	var o enginebench.RecallOptions
	c := &cobra.Command{
		Use: "recall", Short: "Measure how long recall takes inside assemble", Args: arguments(),
		Long: `Measure how long recall takes inside assemble, over many synthetic turns: prompts of frequent words, and of frequent and rare ones,
each the first of a new session. The turns are loaded through the write path, which takes minutes; the folder, which must be new, empty, or left by
an earlier benchmark, is used again by the next run with as many turns.`,
		Example: "  skald bench recall --data /var/tmp/bench-recall --turns 100000 --json",
		RunE: func(c *cobra.Command, _ []string) error {
			o.Open = openForRecall
			o.Progress = func(format string, args ...any) { s.note(fmt.Sprintf(format, args...)) }
			r, err := enginebench.Recall(c.Context(), o)
			if err != nil {
				return err
			}
			return s.print(r, func(w io.Writer) {
				fmt.Fprintf(w, "%d turns, %d recalls: p50 %.1f ms, p95 %.1f ms; the first %.0f ms; %.1f items on average\n", r.Turns, r.Recalls,
					r.Recall.P50, r.Recall.P95, r.First, r.Shown)
				fmt.Fprintf(w, "assemble p50 %.1f ms, p95 %.1f ms; the slowest prompt: %s\n", r.Assemble.P50, r.Assemble.P95, r.Slowest)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&o.Data, "data", "", "folder to measure in (required)")
	f.IntVar(&o.Turns, "turns", 100_000, "turns to search through")
	f.StringVar(&o.Prompts, "prompts", "", "file of prompts, one a line (default: built-in ones)")
	return c
}

// openForRecall opens an engine that gives no recall up: what is measured is how long it takes.
func openForRecall(ctx context.Context, dir string) (enginebench.Target, error) {
	c := config.Default()
	c.Data = dir
	if err := c.Finish(); err != nil {
		return enginebench.Target{}, err
	}
	c.RecallMillis = int((20 * evidenceRecall).Milliseconds())
	return openWith(ctx, c)
}

func openWith(ctx context.Context, c config.Config) (enginebench.Target, error) {
	a, err := app.Open(ctx, app.Options{Config: c})
	if err != nil {
		return enginebench.Target{}, err
	}
	return enginebench.Target{Engine: a.Engine, Inspector: a.Engine, RunJobs: a.Engine.RunJobs, Close: a.Close}, nil
}
