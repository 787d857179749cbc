package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald/client"
	"github.com/skald-engine/skald/host/claude"
	"github.com/skald-engine/skald/internal/cli/doctor"
	"github.com/skald-engine/skald/internal/hook"
)

// shownFaults is how many of the newest faults of the hooks are shown.
const shownFaults = 5

// claudeState is the answer of `skald claude status`.
type claudeState struct {
	claude.Status
	Daemon string       `json:"daemon"` // its version, or why it does not answer
	Faults []hook.Fault `json:"faults"` // the newest last
}

func (s *shell) claudeStatus() *cobra.Command {
	var f claudeFlags
	c := &cobra.Command{
		Use: "status", Short: "What is installed in Claude Code, and what its hooks had trouble with", Args: arguments(),
		Example: "  skald claude status",
		RunE: func(c *cobra.Command, _ []string) error {
			state, err := s.claudeState(c.Context(), f)
			if err != nil {
				return err
			}
			return s.print(state, func(w io.Writer) { showClaudeState(w, state) })
		},
	}
	f.place(c)
	return c
}

func (s *shell) claudeState(ctx context.Context, f claudeFlags) (st claudeState, err error) {
	l, data, err := s.location(f)
	if err != nil {
		return st, err
	}
	if st.Status, err = claude.Look(l, hook.Events, data); err != nil {
		return st, err
	}
	st.Faults = hook.Faults(data, shownFaults)
	c, err := s.where.settings()
	if err != nil {
		return st, err
	}
	h, err := client.New(s.where.address(c), "", client.Options{}).Handshake(ctx)
	if st.Daemon = "skald " + h.Version; err != nil {
		st.Daemon = "does not answer; the next hook starts it"
	}
	return st, nil
}

func showClaudeState(w io.Writer, st claudeState) {
	installed := "not installed"
	if st.Installed {
		installed = "installed since " + when(st.Since)
	}
	rows := [][]string{{"Claude Code", installed}, {"settings", st.Location.Settings}, {"hooks", orNone(strings.Join(st.Hooks, ", "))}}
	if st.Server {
		rows = append(rows, []string{"MCP server", claude.ServerName})
	}
	table(w, append(rows, []string{"daemon", st.Daemon}))
	for _, p := range st.Problems {
		fmt.Fprintf(w, "%s %s\n", paint(w, yellow, "problem"), p)
	}
	for _, f := range st.Faults {
		fmt.Fprintf(w, "%s %s %s: %s\n", paint(w, yellow, "fault"), when(f.Time), f.Event, f.Error)
	}
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// claudeFindings is what doctor says about Claude Code; nothing where Skald is not installed in it.
func (s *shell) claudeFindings(ctx context.Context) []doctor.Finding {
	const check = "claude code"
	st, err := s.claudeState(ctx, claudeFlags{data: s.where.data})
	switch {
	case err != nil:
		return []doctor.Finding{{Check: check, Level: doctor.Warn, Message: plainText(err), Fix: "mend the file, then `skald claude status`"}}
	case !st.Server && len(st.Hooks) == 0:
		return nil
	case len(st.Problems) > 0:
		return []doctor.Finding{{Check: check, Level: doctor.Warn, Message: strings.Join(st.Problems, "; "), Fix: "`skald claude install`"}}
	case len(st.Faults) > 0:
		last := st.Faults[len(st.Faults)-1]
		return []doctor.Finding{{Check: check, Level: doctor.Warn, Message: fmt.Sprintf("a hook (%s) had trouble at %s: %s", last.Event, when(last.Time), last.Error),
			Fix: "`skald claude status` shows the newest; delete " + hook.FaultPath(dataFolder()) + " when it is settled"}}
	}
	return []doctor.Finding{{Check: check, Level: doctor.OK, Message: fmt.Sprintf("%d hooks and the MCP server are installed", len(st.Hooks))}}
}
