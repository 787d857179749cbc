package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func (s *shell) watchList() *cobra.Command {
	c := &cobra.Command{
		Use: "list", Short: "List the imports that are repeated", Args: arguments(), Example: "  skald resource watch list",
		RunE: func(c *cobra.Command, _ []string) error {
			return s.use(c.Context(), func(p *place) error {
				watches, err := s.importer(p).watches(c.Context())
				if err != nil {
					return err
				}
				return s.print(list(watches), func(w io.Writer) { showWatches(w, watches) })
			})
		},
	}
	s.whereFlags(c)
	return c
}

func showWatches(w io.Writer, watches []watch) {
	if len(watches) == 0 {
		fmt.Fprintln(w, "No import is repeated; `skald resource add SOURCE --watch MINUTES` repeats one.")
		return
	}
	rows := [][]string{{"RESOURCE", "SOURCE", "MINUTES", "NEXT"}}
	for _, x := range watches {
		next := "paused"
		if x.Next != nil {
			next = *x.Next
		}
		rows = append(rows, []string{x.To, x.Path, fmt.Sprint(x.Interval), next})
	}
	table(w, rows)
}

// watchChange is a command that does one thing to the watch of a resource.
func (s *shell) watchChange(what, short string) *cobra.Command {
	c := &cobra.Command{
		Use: what + " URI", Short: short, Args: arguments("URI"), Example: "  skald resource watch " + what + " viking://resources/docs",
		RunE: func(c *cobra.Command, args []string) error {
			return s.use(c.Context(), func(p *place) error {
				if err := s.importer(p).change(c.Context(), what, args[0]); err != nil {
					return err
				}
				done := map[string]string{"resource": args[0], "done": what}
				return s.print(done, func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", args[0], what) })
			})
		},
	}
	s.whereFlags(c)
	return c
}
