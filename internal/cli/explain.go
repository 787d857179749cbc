package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

func (s *shell) explain() *cobra.Command {
	var seq int64
	c := &cobra.Command{
		Use: "explain SESSION", Short: "Say what a past assemble chose, what it dropped, and why", Args: arguments("SESSION"),
		Example: "  skald explain SESSION",
		RunE: func(c *cobra.Command, args []string) error {
			if err := within("seq", seq, 0, 1<<53); err != nil {
				return err
			}
			return s.use(c.Context(), func(p *place) error {
				id, err := p.session(c.Context(), args[0])
				if err != nil {
					return err
				}
				x, err := p.Explain(c.Context(), p.id, id, seq)
				if err != nil {
					return err
				}
				return s.printExplanation(x)
			})
		},
	}
	c.Flags().Int64Var(&seq, "seq", 0, "the assemble at or before this sequence; 0: the newest")
	s.whereFlags(c)
	return c
}

func (s *shell) printExplanation(x skald.Explanation) error {
	if s.json {
		body, err := wire.Explanation(x)
		if err != nil {
			return err
		}
		return s.document(body)
	}
	return s.text(func(w io.Writer) { showExplanation(w, x) })
}

func showExplanation(w io.Writer, x skald.Explanation) {
	table(w, [][]string{
		{"session", x.Session}, {"turn", x.TurnID}, {"time", when(x.Time)}, {"strategy", x.Strategy},
		{"tokens", fmt.Sprintf("%d of %d", x.Tokens, x.Budget)}, {"notes", fmt.Sprintf("%d tokens", x.Head)},
		{"raw turns", span(x.RawFrom, x.RawTo)}, {"recall", recalled(x.Recall)},
		{"query", line(x.Recall.Query, 120)},
	})
	if x.Recall.Skipped != "" {
		fmt.Fprintln(w, "no recall:", x.Recall.Skipped)
	}
	for _, cut := range x.Cut {
		fmt.Fprintln(w, "cut:", cut)
	}
	showCandidates(w, "kept", x.Recall.Items)
	showCandidates(w, "dropped", x.Recall.Dropped)
	if x.Recall.Left > 0 {
		fmt.Fprintf(w, "\nand %d more, which scored less\n", x.Recall.Left)
	}
}

func span(from, to int64) string {
	if to == 0 {
		return "none"
	}
	return fmt.Sprintf("%d to %d", from, to)
}

func recalled(t skald.RecallTrace) string {
	text := fmt.Sprintf("%d tokens in %.1f ms", t.Tokens, t.Millis)
	if t.Form != "" {
		text += ", as " + t.Form
	}
	return text
}

// stages is what each stage of recall made of a candidate.
func stages(c skald.RecallCandidate) string {
	var parts []string
	for _, stage := range slices.Sorted(maps.Keys(c.Parts)) {
		parts = append(parts, fmt.Sprintf("%s %.3f", stage, c.Parts[stage]))
	}
	return strings.Join(parts, "  ")
}

func showCandidates(w io.Writer, title string, all []skald.RecallCandidate) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	rows := [][]string{}
	for _, c := range all {
		rows = append(rows, []string{fmt.Sprintf("%.3f", c.Score), string(c.Kind), fmt.Sprint(c.Tokens), string(c.URI), line(c.Text, 80), stages(c), c.Why})
	}
	table(w, rows)
}
