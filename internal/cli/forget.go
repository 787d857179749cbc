package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
)

func (s *shell) forget() *cobra.Command {
	var r skald.ForgetRequest
	var yes bool
	c := &cobra.Command{
		Use: "forget WHAT", Short: "Forget or purge something, with all that was made of it", Args: arguments("WHAT"),
		Long: `Forget a memory or turns, named by URI or found by a query, with everything that was made of them: memories, lines of summaries, what
sessions were shown. What is forgotten comes up nowhere any more, and is read by the URI of its turns only. With --purge the text itself
is destroyed, with everything that repeats eight words of it; a receipt stays. --dry-run shows what would go.`,
		Example: "  skald forget \"my old address\" --dry-run\n  skald forget viking://~/sessions/SESSION/turns/12 --purge --yes",
		RunE: func(c *cobra.Command, args []string) error {
			r.What = args[0]
			return s.use(c.Context(), func(p *place) error {
				if r.Purge && !r.DryRun {
					if sure, err := s.sureToPurge(c, yes); err != nil || !sure {
						return err
					}
				}
				receipt, err := p.ForgetSource(c.Context(), p.id, r)
				if err != nil {
					return err
				}
				return s.print(receipt, func(w io.Writer) { showForgotten(w, receipt) })
			})
		},
	}
	c.Flags().BoolVar(&r.Purge, "purge", false, "destroy the text, too, wherever it is repeated")
	c.Flags().BoolVar(&r.DryRun, "dry-run", false, "show what would go, and change nothing")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "ask nothing")
	s.whereFlags(c)
	return c
}

func (s *shell) sureToPurge(c *cobra.Command, yes bool) (bool, error) {
	switch {
	case yes:
		return true, nil
	case !s.interactive():
		return false, skald.Invalid("", "yes", "a purge is for good, and there is no terminal to ask on: add --yes")
	}
	return s.asker().confirm(c.Context(), "Purge it?", "The text is gone for good. --dry-run shows what goes.", false)
}

func showForgotten(w io.Writer, r skald.ForgetReceipt) {
	if r.URI == "" {
		fmt.Fprintln(w, "nothing was changed; several could be meant, name one:")
		for _, c := range r.Choices {
			fmt.Fprintf(w, "  %s  %s\n", c.URI, line(c.Text, 100))
		}
		return
	}
	verb := map[bool]string{false: "forgotten", true: "purged"}[r.Purged]
	if r.DryRun {
		verb = "would be " + verb
	}
	fmt.Fprintf(w, "%s: %s\n", verb, r.URI)
	for _, part := range []struct {
		name string
		list []skald.URI
	}{{"turns", r.Turns}, {"memories", r.Memories}, {"summaries", r.Archives}} {
		for _, u := range part.list {
			fmt.Fprintf(w, "  %s: %s\n", part.name, u)
		}
	}
	if r.Purged {
		for _, u := range r.Unreached {
			fmt.Fprintf(w, "  out of reach: %s\n", u)
		}
	}
}
