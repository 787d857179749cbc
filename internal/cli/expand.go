package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
)

func (s *shell) expand() *cobra.Command {
	var query string
	var limit int
	c := &cobra.Command{
		Use: "expand URI", Short: "Lead from a summary, archive or memory to its source turns", Args: arguments("URI"),
		Example: "  skald expand viking://session/SESSION/history/archive_001\n  skald expand viking://session/SESSION/turns/12-14",
		RunE: func(c *cobra.Command, args []string) error {
			if err := within("limit", int64(limit), 0, 100_000); err != nil {
				return err
			}
			return s.use(c.Context(), func(p *place) error {
				x, err := p.Expand(c.Context(), p.id, args[0], query, limit)
				if err != nil {
					return err
				}
				x.Turns, x.More = list(x.Turns), list(x.More)
				return s.print(x, func(w io.Writer) { showExpansion(w, x) })
			})
		},
	}
	c.Flags().StringVar(&query, "query", "", "only the turns that match")
	c.Flags().IntVar(&limit, "limit", 0, "at most so many turns; 0: the default")
	s.whereFlags(c)
	return c
}

func showExpansion(w io.Writer, x skald.Expansion) {
	for _, t := range x.Turns {
		fmt.Fprintf(w, "%d  %s  %s: %s\n", t.Sequence, when(t.Time), t.Speaker, t.Text)
	}
	fmt.Fprintf(w, "\n%d of %d turns behind %s\n", len(x.Turns), x.Total, x.URI)
	for _, u := range x.More {
		fmt.Fprintln(w, "more:", u)
	}
	for _, u := range x.Derived {
		fmt.Fprintln(w, "made of these:", u)
	}
}
