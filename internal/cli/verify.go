package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
)

func (s *shell) verify() *cobra.Command {
	c := &cobra.Command{
		Use: "verify [SESSION]", Short: "Check chain, sequences and references", Args: optional("SESSION"),
		Long: `Check the chain over a session's turns, their sequences, and every reference between turns, archives and memories; without SESSION
of all sessions. Exit code 6 when something is wrong.`,
		Example: "  skald verify\n  skald verify SESSION --json",
		RunE: func(c *cobra.Command, args []string) error {
			session := ""
			if len(args) > 0 {
				session = args[0]
			}
			return s.use(c.Context(), func(p *place) error {
				id, err := p.session(c.Context(), session)
				if err != nil {
					return err
				}
				r, err := p.Verify(c.Context(), p.id, id)
				if err != nil {
					return err
				}
				r.Problems = list(r.Problems)
				if err := s.print(r, func(w io.Writer) { showVerified(w, r) }); err != nil || r.OK {
					return err
				}
				return errCheck
			})
		},
	}
	s.whereFlags(c)
	return c
}

func showVerified(w io.Writer, r skald.VerifyResult) {
	for _, p := range r.Problems {
		fmt.Fprintln(w, "problem:", p)
	}
	verdict := "all good"
	if !r.OK {
		verdict = fmt.Sprintf("%d problems", len(r.Problems))
	}
	fmt.Fprintf(w, "%d sessions, %d turns, %d archives, %d memories: %s\n", r.Sessions, r.Turns, r.Archives, r.Memories, verdict)
}
