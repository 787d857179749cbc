package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
)

func (s *shell) status() *cobra.Command {
	c := &cobra.Command{
		Use: "status", Short: "Sum up the store, the jobs, and what needs attention", Args: arguments(),
		Example: "  skald status\n  skald status --json",
		RunE: func(c *cobra.Command, _ []string) error {
			return s.use(c.Context(), func(p *place) error {
				st, err := p.Status(c.Context(), p.id)
				if err != nil {
					return err
				}
				st.Attention, st.Faults = list(st.Attention), list(st.Faults)
				return s.print(st, func(w io.Writer) { showStatus(w, st) })
			})
		},
	}
	s.whereFlags(c)
	return c
}

func showStatus(w io.Writer, st skald.Status) {
	table(w, [][]string{
		{"version", fmt.Sprintf("%s (protocol %d)", st.Version, st.Protocol)},
		{"running since", when(st.Started)},
		{"store", fmt.Sprintf("%s, schema %d, %s, %s free", st.Store.Engine, st.Store.Schema, size(st.Store.Bytes), size(st.Store.Free))},
		{"strategy", st.Strategy},
		{"sessions", fmt.Sprint(st.Sessions)},
		{"turns", fmt.Sprint(st.Store.Turns)},
		{"jobs", fmt.Sprintf("%d waiting, %d failed", st.JobsReady, st.JobsFailed)},
		{"last turn stored", when(st.LastCommitTurn)},
		{"kept aside", fmt.Sprintf("%d dead letters, %d not stored at the user's wish", st.DeadLetters, st.CaptureOff)},
		{"recalls cut short", fmt.Sprint(st.RecallSkips)},
	})
	if st.Store.Meaning != nil {
		showMeaning(w, *st.Store.Meaning)
	}
	if st.Store.Remote != nil {
		showRemote(w, *st.Store.Remote)
	}
	for _, a := range st.Attention {
		fmt.Fprintln(w, "needs attention:", a)
	}
	for _, b := range st.Bypassed {
		fmt.Fprintf(w, "bypassed: session %s, %d turns since %s went past Skald: %s\n", b.Session, b.Turns, when(b.Since), b.Reason)
	}
	for _, f := range st.Faults {
		fmt.Fprintf(w, "fault: %s %s %s: %s\n", when(f.Time), f.Op, f.Session, f.Error)
	}
}

// showMeaning tells which model knows what the documents mean, and of how many.
func showMeaning(w io.Writer, m skald.MeaningHealth) {
	table(w, [][]string{{"meaning", fmt.Sprintf("%s: %d of %d passages, %d wait", m.Model, m.Docs-m.Waiting, m.Docs, m.Waiting)}})
	if m.Error != "" {
		fmt.Fprintln(w, "meaning:", m.Error)
	}
}

// showRemote tells of the OpenViking server that holds the sessions, and of what it lacks.
func showRemote(w io.Writer, r skald.RemoteHealth) {
	state := "answers"
	switch {
	case r.Reachable:
	case r.Error == "":
		state = "not asked yet; the daemon delivers"
	default:
		state = "cannot be used at present; turns are stored here and delivered later"
	}
	if r.Version != "" {
		state = "version " + r.Version + ", " + state
	}
	table(w, [][]string{
		{"OpenViking server", r.URL + ": " + state},
		{"undelivered", fmt.Sprintf("%d turns, %d changes; %d archives in work there", r.Turns, r.Changes, r.Waiting)},
	})
	if !r.Oldest.IsZero() {
		fmt.Fprintln(w, "oldest undelivered:", when(r.Oldest))
	}
	for _, e := range []string{r.Error, r.Refused} {
		if e != "" {
			fmt.Fprintln(w, "OpenViking server:", e)
		}
	}
}
