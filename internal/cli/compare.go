package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/bench/compare"
	"github.com/skald-engine/skald/bench/replay"
	"github.com/skald-engine/skald/strategy"
)

// compareFlags are the command's own.
type compareFlags struct {
	strategies      []string
	budget          int
	questions, page string
}

func (s *shell) compare() *cobra.Command {
	var f compareFlags
	c := &cobra.Command{
		Use: "compare FILE...", Short: "Play a conversation under several strategies, side by side",
		Long: `Play a conversation in OpenClaw's message format (JSON Lines; several files are one conversation) under each strategy, over a
temporary store of its own, and set side by side what the model would have been given: tokens, what a provider's cache would have held,
and, with --questions, how much of what answers them stands in the context at the end. The questions are a JSON list of
{"question", "answer", "message_indexes"}, the indexes being those of the messages that tell, from 0. No model is called.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return arguments("FILE")(nil, args)
			}
			return readableNames(args)
		},
		Example: "  skald compare talk.jsonl --strategies viking,legacy --budget 16000\n  skald compare talk.jsonl --questions facts.json --html compare.html",
		RunE: func(c *cobra.Command, files []string) error {
			report, err := s.runCompare(c.Context(), files, f)
			if err != nil {
				return err
			}
			if err := writePage("html", f.page, report); err != nil {
				return err
			}
			return s.print(report, func(w io.Writer) { showCompared(w, report) })
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.strategies, "strategies", strategy.Names(), "strategies, separated by commas")
	flags.IntVar(&f.budget, "budget", 16_000, "tokens of a request")
	flags.StringVar(&f.questions, "questions", "", "file of questions")
	flags.StringVar(&f.page, "html", "", "write the report as one page to this file, too")
	return c
}

func (s *shell) runCompare(ctx context.Context, files []string, f compareFlags) (report compare.Report, err error) {
	if err := errors.Join(within("budget", int64(f.budget), strategy.MinBudget, maxBudget), canWrite(f.page)); err != nil {
		return report, err
	}
	messages, err := replay.Load(files...)
	if err != nil {
		return report, err
	}
	var questions []compare.Question
	if f.questions != "" {
		if questions, err = compare.Questions(f.questions, len(messages)); err != nil {
			return report, err
		}
	}
	dir, err := os.MkdirTemp("", "skald-compare-")
	if err != nil {
		return report, skald.Invalid("", "TMPDIR", "no temporary folder can be made: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var ways []compare.Way
	for _, name := range f.strategies {
		if _, err := strategy.ByName(name); err != nil {
			return report, err
		}
		a, target, err := openWay(ctx, filepath.Join(dir, name), name)
		if err != nil {
			return report, err
		}
		defer func() { err = errors.Join(err, a.Close()) }()
		ways = append(ways, compare.Way{Strategy: name, Target: target})
	}
	return compare.Run(ctx, ways, messages, questions, f.budget)
}

func showCompared(w io.Writer, r compare.Report) {
	rows := [][]string{{"strategy", "tokens", "not cacheable", "cacheable", "prefix", "publications", "largest", "over", "broken", "evidence", "words"}}
	for _, s := range r.Rows {
		rows = append(rows, []string{s.Strategy, fmt.Sprint(s.Tokens), fmt.Sprint(s.Fresh), share(s.Cacheable), share(s.Prefix), fmt.Sprint(s.Publications),
			fmt.Sprint(s.Largest), fmt.Sprint(s.OverBudget), fmt.Sprint(s.BrokenPairs), asked(r, s.Evidence), asked(r, s.Said)})
	}
	table(w, rows)
}

func share(f float64) string { return fmt.Sprintf("%.1f %%", 100*f) }

// asked is a share of the questions, or nothing when there were none.
func asked(r compare.Report, f float64) string {
	if r.Questions == 0 {
		return "-"
	}
	return share(f)
}
