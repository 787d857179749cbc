package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

func (s *shell) turns() *cobra.Command {
	var from, to int64
	var raw bool
	c := &cobra.Command{
		Use: "turns SESSION", Short: "Print the stored turns of a session", Args: arguments("SESSION"),
		Long: `Print the turns of a session as envelopes, or with --raw the host's own messages, one a line, byte for byte as they came in.
With --json: an array of envelopes, or with --raw of the messages.`,
		Example: "  skald turns SESSION --from 10 --to 20\n  skald turns SESSION --raw > talk.jsonl",
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkRange(from, to); err != nil {
				return err
			}
			return s.use(c.Context(), func(p *place) error {
				id, err := p.session(c.Context(), args[0])
				if err != nil {
					return err
				}
				turns, err := p.ListTurns(c.Context(), p.id, id, from, to)
				if err != nil {
					return err
				}
				if raw {
					return s.printRaw(turns)
				}
				return s.printEnvelopes(turns)
			})
		},
	}
	f := c.Flags()
	f.Int64Var(&from, "from", 0, "first sequence; 0: from the beginning")
	f.Int64Var(&to, "to", 0, "last sequence; 0: to the end")
	f.BoolVar(&raw, "raw", false, "the host's own messages")
	s.whereFlags(c)
	return c
}

func checkRange(from, to int64) error {
	const last = 1 << 53
	if err := within("from", from, 0, last); err != nil {
		return err
	}
	if err := within("to", to, 0, last); err != nil {
		return err
	}
	if to > 0 && from > to {
		return skald.Invalid("", "to", "%d is before --from %d", to, from)
	}
	return nil
}

// printRaw prints messages as they came in; of a purged turn nothing is left to print.
func (s *shell) printRaw(turns []skald.TurnInfo) error {
	var lines [][]byte
	purged := 0
	for _, t := range turns {
		switch {
		case !t.Purged:
			lines = append(lines, t.Raw)
		case s.json:
			lines = append(lines, []byte("null"))
		default:
			purged++
		}
	}
	if purged > 0 {
		fmt.Fprintf(s.err, "%d turns are purged: nothing of them is left\n", purged)
	}
	if s.json {
		return s.document(append(append([]byte("["), bytes.Join(lines, []byte(","))...), ']'))
	}
	return s.text(func(w io.Writer) {
		for _, l := range lines {
			_, _ = w.Write(l)
			_, _ = w.Write([]byte("\n"))
		}
	})
}

func (s *shell) printEnvelopes(turns []skald.TurnInfo) error {
	envelopes := make([]skald.TurnEnvelope, len(turns))
	for i, t := range turns {
		envelopes[i] = t.Envelope
	}
	return s.print(envelopes, func(w io.Writer) {
		for _, t := range turns {
			fmt.Fprintf(w, "%6d  %s  %-9s  %5d tokens  %s\n", t.Envelope.Sequence, t.Envelope.Timestamp, t.Envelope.Role, t.Tokens, turnText(t))
		}
	})
}

func turnText(t skald.TurnInfo) string {
	if t.Purged {
		return "(purged)"
	}
	text := "(not readable)"
	if m, err := message.Parse(t.Raw); err == nil {
		text = m.Text()
	}
	if t.Forgotten {
		text = "(forgotten) " + text
	}
	return line(strings.ToValidUTF8(text, "�"), 160)
}

// spoken is a host message as people read it.
func spoken(raw json.RawMessage) string {
	m, err := message.Parse(raw)
	if err != nil {
		return string(raw)
	}
	return "[" + m.Role + "] " + m.Text()
}
