package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
)

func (s *shell) search() *cobra.Command {
	var q skald.FindQuery
	var explain bool
	c := &cobra.Command{
		Use: "search QUERY", Short: "Search memories, archives and turns", Args: arguments("QUERY"),
		Example: "  skald search \"port 5544\"\n  skald search deadline --scope viking://user/memories",
		RunE: func(c *cobra.Command, args []string) error {
			if q.Query = args[0]; strings.TrimSpace(q.Query) == "" {
				return skald.Invalid("", "QUERY", "is empty")
			}
			if err := within("limit", int64(q.Limit), 0, 10_000); err != nil {
				return err
			}
			return s.use(c.Context(), func(p *place) error {
				r, err := p.Find(c.Context(), p.id, q)
				if err != nil {
					return err
				}
				r.Hits, r.Trace.Items, r.Trace.Dropped = list(r.Hits), list(r.Trace.Items), list(r.Trace.Dropped)
				return s.print(r, func(w io.Writer) {
					showHits(w, r.Hits)
					if explain {
						showScores(w, r.Trace)
					}
				})
			})
		},
	}
	f := c.Flags()
	f.IntVar(&q.Limit, "limit", 10, "at most so many hits")
	f.BoolVar(&explain, "explain", false, "every stage's score of every candidate, and why it was left out (always in --json)")
	f.StringVar(&q.Scope, "scope", "", "a URI to search below")
	f.StringVar(&q.Session, "session", "", "the asking session: a group session finds its own audience only")
	s.whereFlags(c)
	return c
}

// showScores lists every candidate with what each stage made of it.
func showScores(w io.Writer, t skald.RecallTrace) {
	fmt.Fprintf(w, "\nsearched for: %s; %d shown, %d left out, %.1f ms\n", strings.Join(t.Terms, " "), len(t.Items), len(t.Dropped)+t.Left, t.Millis)
	for _, c := range slices.Concat(t.Items, t.Dropped) {
		fmt.Fprintf(w, "%.3f  %s  %s", c.Score, c.URI, stages(c))
		if c.Why != "" {
			fmt.Fprintf(w, "  left out: %s", c.Why)
		}
		fmt.Fprintln(w)
	}
}

func showHits(w io.Writer, hits []skald.RecallCandidate) {
	if len(hits) == 0 {
		fmt.Fprintln(w, "nothing found")
	}
	for _, h := range hits {
		fmt.Fprintf(w, "%.3f  %s  %s  %s\n       %s\n", h.Score, h.Kind, when(h.Time), h.URI, line(h.Text, 200))
	}
}
