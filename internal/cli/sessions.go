package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
)

func (s *shell) sessions() *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use: "sessions", Short: "List the sessions, newest first", Args: arguments(),
		Long:    `List the sessions, newest first. Commands that take a SESSION take its id, or the key that the host gave it (agent:main:main).`,
		Example: "  skald sessions --limit 10",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := within("limit", int64(limit), 0, 1_000_000); err != nil {
				return err
			}
			return s.use(c.Context(), func(p *place) error {
				all, err := p.ListSessions(c.Context(), p.id, limit)
				if err != nil {
					return err
				}
				return s.print(list(all), func(w io.Writer) { showSessions(w, all) })
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", 0, "at most so many; 0: all")
	s.whereFlags(c)
	return c
}

func showSessions(w io.Writer, all []skald.SessionInfo) {
	rows := [][]string{{"SESSION", "KEY", "TURNS", "OPEN", "ARCHIVES", "EPOCH", "AGENT", "AUDIENCE", "UPDATED", "ATTENTION"}}
	for _, i := range all {
		rows = append(rows, []string{i.ID, or(line(i.Key, 40), "-"), fmt.Sprint(i.Turns), fmt.Sprint(i.Open), fmt.Sprint(i.Archives), fmt.Sprint(i.Epoch),
			i.Agent, string(i.Audience), when(i.Updated), line(i.Attention, 60)})
	}
	table(w, rows)
}
