package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
)

func (s *shell) delete() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "delete SESSION", Short: "Delete a session for good; its memories stay", Args: arguments("SESSION"),
		Long: `Delete a session for good: its turns, archives, index and jobs. Memories that were made of it stay, and say that their source was
deleted. There is no way back. The host's own transcript, and backups, are not touched: while the host goes on with the session, its
next turn begins a new one here.`,
		Example: "  skald delete SESSION\n  skald delete SESSION --yes --json",
		RunE: func(c *cobra.Command, args []string) error {
			return s.use(c.Context(), func(p *place) error {
				id, err := p.session(c.Context(), args[0])
				if err != nil {
					return err
				}
				switch sure, err := s.sure(c, id, yes); {
				case err != nil:
					return err
				case !sure:
					fmt.Fprintln(s.err, "nothing was deleted")
					return nil
				}
				d, err := p.DeleteSession(c.Context(), p.id, id)
				if err != nil {
					return err
				}
				return s.print(d, func(w io.Writer) { showDeletion(w, d) })
			})
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "ask nothing")
	s.whereFlags(c)
	return c
}

// sure asks whether the session is really to go; without a terminal --yes has to say so.
func (s *shell) sure(c *cobra.Command, id string, yes bool) (bool, error) {
	switch {
	case yes:
		return true, nil
	case !s.interactive():
		return false, skald.Invalid("", "yes", "deleting is for good, and there is no terminal to ask on: `skald delete %s --yes` does it", id)
	}
	return s.asker().confirm(c.Context(), "Delete session "+id+"?", "Its turns and archives are gone for good. Memories stay.", false)
}

func showDeletion(w io.Writer, d skald.SessionDeletion) {
	fmt.Fprintf(w, "deleted %s: %d turns, %d archives", d.Session, d.Turns, d.Archives)
	if d.Recalls > 0 {
		fmt.Fprintf(w, ", %d recalls in other sessions", d.Recalls)
	}
	fmt.Fprintf(w, "; %d memories stay\n", d.Memories)
}
