package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// maxBudget is the largest token budget that is taken for meant.
const maxBudget = 100_000_000

func (s *shell) context() *cobra.Command {
	var prompt string
	var budget int
	c := &cobra.Command{
		Use: "context SESSION", Short: "Print what the model would be given now", Args: arguments("SESSION"),
		Long: `Print what assemble would return now, without changing anything. An unknown session id means a new session of the same user.
With --json: messages (byte for byte), estimated_tokens, system_prompt_addition, packet.`,
		Example: "  skald context SESSION --prompt \"which database did we choose?\"",
		RunE: func(c *cobra.Command, args []string) error {
			if err := within("budget", int64(budget), 0, maxBudget); err != nil {
				return err
			}
			return s.use(c.Context(), func(p *place) error {
				id, err := p.session(c.Context(), args[0])
				if err != nil {
					return err
				}
				r, err := p.DryAssemble(c.Context(), p.id, id, prompt, budget)
				if err != nil {
					return err
				}
				return s.printContext(r)
			})
		},
	}
	c.Flags().StringVar(&prompt, "prompt", "", "the prompt to recall for")
	c.Flags().IntVar(&budget, "budget", 0, "token budget; 0: the session's last one")
	s.whereFlags(c)
	return c
}

func (s *shell) printContext(r skald.AssembleResult) error {
	if s.json {
		body, err := wire.AssembleResult(r)
		if err != nil {
			return err
		}
		return s.document(body)
	}
	return s.text(func(w io.Writer) {
		for _, m := range r.Messages {
			fmt.Fprintln(w, spoken(m))
		}
		fmt.Fprintf(w, "\n%d messages, %d tokens\n", len(r.Messages), r.EstimatedTokens)
		for _, cut := range r.Cut {
			fmt.Fprintln(w, "cut:", cut)
		}
	})
}
