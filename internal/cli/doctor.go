package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client"
	"github.com/skald-engine/skald/host/openclaw"
	"github.com/skald-engine/skald/internal/cli/doctor"
)

func (s *shell) doctor() *cobra.Command {
	var host openclaw.Location
	c := &cobra.Command{
		Use: "doctor", Short: "Look for what is wrong, and say how to mend it", Args: arguments(),
		Long: `Look at the store, the disk, the daemon, stuck sessions, and OpenClaw's side: plugin, slot, permissions, deliveries that are still
queued, sessions that are behind. Of OpenClaw only openclaw.json and the agents' databases are read. Exit code 6 when something failed.`,
		Example: "  skald doctor\n  skald doctor --data ~/.skald",
		RunE: func(c *cobra.Command, _ []string) error {
			r := s.examine(c.Context(), host)
			if err := s.print(r, func(w io.Writer) { showFindings(w, r) }); err != nil || r.OK {
				return err
			}
			return errCheck
		},
	}
	c.Flags().StringVar(&host.State, "openclaw-state", "", "OpenClaw's state folder (default OPENCLAW_STATE_DIR, else ~/.openclaw when it is there)")
	c.Flags().StringVar(&host.Config, "openclaw-config", "", "OpenClaw's configuration file (default openclaw.json in the state folder)")
	s.whereFlags(c)
	return c
}

// examine collects the findings; an engine that cannot be asked is one of them.
func (s *shell) examine(ctx context.Context, host openclaw.Location) doctor.Report {
	var r doctor.Report
	checkHost := func(i skald.Inspector, id skald.Identity) {
		if h, ok := openclaw.Find(host); ok {
			r.Add(doctor.OpenClaw(h).Check(ctx, i, id)...)
		}
	}
	err := s.use(ctx, func(p *place) error {
		if err := s.greet(ctx, p, &r); err != nil {
			return err
		}
		r.Add(doctor.Engine(ctx, p, p.id)...)
		checkHost(p, p.id)
		return nil
	})
	if err != nil {
		check := "daemon"
		if s.where.data != "" {
			check = "store"
		}
		r.Add(doctor.Unreachable(check, err))
		checkHost(nil, skald.DefaultIdentity)
	}
	r.Add(s.claudeFindings(ctx)...)
	return r
}

// greet makes the handshake with a daemon.
func (s *shell) greet(ctx context.Context, p *place, r *doctor.Report) error {
	c, ok := p.Engine.(*client.Client)
	if !ok {
		return nil
	}
	h, err := c.Handshake(ctx)
	if err == nil {
		r.Add(doctor.Finding{Check: "daemon", Level: doctor.OK, Message: fmt.Sprintf("skald %s, protocol %d, pid %d", h.Version, h.Protocol, h.PID)})
	}
	return err
}

func showFindings(w io.Writer, r doctor.Report) {
	for _, f := range r.Findings {
		fmt.Fprintf(w, "%-5s %s: %s\n", f.Level, f.Check, f.Message)
		if f.Fix != "" && f.Level != doctor.OK {
			fmt.Fprintf(w, "      -> %s\n", f.Fix)
		}
	}
}
