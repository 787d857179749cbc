package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/host/openclaw"
	"github.com/skald-engine/skald/internal/app"
	"github.com/skald-engine/skald/internal/cli/doctor"
)

func (s *shell) openclawStatus() *cobra.Command {
	var f openclawFlags
	c := &cobra.Command{
		Use: "status", Short: "Say whether OpenClaw really uses Skald, and how it lives with OpenClaw's memory", Args: arguments(),
		Long: `Look at OpenClaw's configuration and databases, the plugin and the daemon, and say whether turns arrive. Nothing is changed,
started or sent to a model. Exit code 6 when Skald is selected but not active.`,
		Example: "  skald openclaw status\n  skald openclaw status --json",
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := s.openclawState(c.Context(), f)
			if err != nil {
				return err
			}
			if err := s.print(r, func(w io.Writer) { showOpenClaw(w, r) }); err != nil || r.State != openclaw.NotActive {
				return err
			}
			return errCheck
		},
	}
	f.where(c)
	return c
}

// openclawStateReport adds to the host's side what the daemon says.
type openclawStateReport struct {
	openclaw.Status
	Skald  string           `json:"skald"`            // version of this program
	Daemon string           `json:"daemon,omitempty"` // version of the running daemon; "": none answers
	Turns  []doctor.Finding `json:"turns"`            // whether turns arrive
}

func (s *shell) openclawState(ctx context.Context, f openclawFlags) (openclawStateReport, error) {
	i, err := s.installer(ctx, f, false)
	if err != nil {
		return openclawStateReport{}, err
	}
	look, err := i.Look(ctx)
	if err != nil {
		return openclawStateReport{}, err
	}
	r := openclawStateReport{Status: look, Skald: app.Version}
	r.Peers = list(r.Peers)
	var stored skald.Inspector
	c, h, err := daemonAt(ctx, r.Status.Daemon)
	switch {
	case err == nil:
		r.Daemon, stored = h.Version, c
	case r.State == openclaw.Active && r.Gateway.Running:
		r.State, r.Reason, r.Fix = openclaw.NotActive, "the gateway runs, and its daemon cannot be reached: "+sentence(classify(err)),
			"see daemon.log in Skald's data folder; `skald doctor`"
	}
	r.Turns = list(doctor.OpenClaw(i.Location).Deliveries(ctx, stored, skald.DefaultIdentity))
	return r, nil
}

func showOpenClaw(w io.Writer, r openclawStateReport) {
	table(w, [][]string{
		{"state", string(r.State)},
		{"OpenClaw", or(r.Program.Version, "not found") + ", configuration " + r.Location.Config},
		{"gateway", gatewayText(r.Gateway)},
		{"slot", r.Slot},
		{"plugin", pluginText(r)},
		{"skald", r.Skald + ", daemon " + or(r.Daemon, "not running")},
		{"mode", string(r.Mode)},
		{"undo", or(r.Backup, "not installed by `skald openclaw install`: nothing to go back to")},
	})
	if r.Reason != "" {
		fmt.Fprintf(w, "%s: %s\n  -> %s\n", paint(w, yellow, string(r.State)), r.Reason, r.Fix)
	}
	showPeers(w, r.Peers)
	showFindings(w, doctor.Report{Findings: r.Turns})
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

func gatewayText(g openclaw.Gateway) string {
	if !g.Running {
		return "not running (" + g.URL + ")"
	}
	return "running at " + g.URL
}

func pluginText(r openclawStateReport) string {
	if r.Plugin.Dir == "" {
		return r.Plugin.ID + ": no files found"
	}
	return fmt.Sprintf("%s %s in %s", r.Plugin.ID, r.Plugin.Version, r.Plugin.Dir)
}

func showPeers(w io.Writer, peers []openclaw.Peer) {
	if len(peers) == 0 {
		return
	}
	fmt.Fprintln(w, paint(w, bold, "What else remembers, and what becomes of it"))
	for _, p := range peers {
		fmt.Fprintf(w, "  %s: %s\n", p.Name, p.What)
		fmt.Fprintf(w, "    %s\n", p.Effect)
	}
}

func showInstallPlan(w io.Writer, r openclawReport) {
	fmt.Fprintf(w, "OpenClaw %s, %s\n", r.Program.Version, r.Location.Config)
	if r.Plugin.Embedded {
		fmt.Fprintf(w, "  write  %s  %s\n", r.Plugin.Dir, paint(w, faint, "the plugin's files, which this program holds"))
	}
	for _, c := range r.Commands {
		fmt.Fprintln(w, "  run", c)
	}
	for _, c := range r.Changes {
		fmt.Fprintf(w, "  %-6s %s: %s  %s\n", c.Do, strings.Join(c.Path, "."), valueText(c), paint(w, faint, c.Why))
	}
	showPeers(w, r.Peers)
	for _, n := range r.Notes {
		fmt.Fprintln(w, "note:", n)
	}
}

// compact is a value on one line.
func compact(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// valueText shows a change, and what stood there.
func valueText(c openclaw.Change) string {
	if c.Do == openclaw.Set && c.Had {
		return fmt.Sprintf("%s (was %s)", compact(c.Value), compact(c.Before))
	}
	return compact(c.Value)
}

func showInstall(w io.Writer, r openclawReport) {
	switch {
	case !r.Changed:
		fmt.Fprintln(w, "Skald is installed in OpenClaw already; nothing was changed")
	case r.DryRun:
		fmt.Fprintln(w, paint(w, bold, "This would be done"))
		showInstallPlan(w, r)
		fmt.Fprintln(w, "then one short turn of OpenClaw's model as proof;", r.Gateway.Next())
		fmt.Fprintln(w, "nothing was changed: this was a dry run")
	default:
		fmt.Fprintln(w, paint(w, bold, "Done"))
		showInstallPlan(w, r)
		fmt.Fprintln(w, "copy of what was there:", r.Backup)
	}
	showProof(w, r.Proof)
	for _, n := range r.Next {
		fmt.Fprintln(w, "next:", n)
	}
}

func showProof(w io.Writer, p *openclaw.Proof) {
	switch {
	case p == nil:
		return
	case p.OK:
		fmt.Fprintf(w, "%s: in one turn assemble was called and %d turns were stored (%s, %.0f s)\n",
			paint(w, green, "proved"), p.Turns, p.How, p.Seconds)
	default:
		fmt.Fprintf(w, "%s: selected but not active: %s\n  -> %s\n", paint(w, red, "not proved"), p.Reason, p.Fix)
	}
	for _, l := range p.Left {
		fmt.Fprintln(w, "left over:", l)
	}
}

func showRemoval(w io.Writer, r removalReport) {
	head := "Skald is out of OpenClaw"
	if !r.Applied {
		head = "This would be taken back"
	}
	fmt.Fprintln(w, paint(w, bold, head))
	if r.Exact {
		fmt.Fprintf(w, "  %s: byte for byte as it was before\n", r.Config)
	} else {
		fmt.Fprintf(w, "  %s was changed since: only Skald's changes are taken back, everything else stays\n", r.Config)
	}
	for _, c := range r.Kept {
		fmt.Fprintf(w, "  stays, since it was changed after the installation: %s\n", strings.Join(c.Path, "."))
	}
	for _, c := range r.Commands {
		fmt.Fprintln(w, "  run", c)
	}
	fmt.Fprintf(w, "  what Skald has stored stays in %s\n", r.Data)
	fmt.Fprintln(w, "next:", r.Gateway.Next())
}
