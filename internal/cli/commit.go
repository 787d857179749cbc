package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
)

func (s *shell) commit() *cobra.Command {
	var wait bool
	var limit time.Duration
	c := &cobra.Command{
		Use: "commit SESSION", Short: "Archive a session's open turns", Args: arguments("SESSION"),
		Long: `Archive a session's open turns. What the model sees does not change. With --wait the command returns after summary and memories
are written; when --timeout is over first, it exits with code 7 and the work goes on in the background.`,
		Example: "  skald commit SESSION --wait --timeout 30s",
		RunE: func(c *cobra.Command, args []string) error {
			return s.use(c.Context(), func(p *place) error {
				id, err := p.session(c.Context(), args[0])
				if err != nil {
					return err
				}
				r, err := p.commit(c.Context(), id, wait, limit)
				if err != nil {
					return err
				}
				return s.print(r, func(w io.Writer) { showCommit(w, r) })
			})
		},
	}
	c.Flags().BoolVar(&wait, "wait", false, "return after summary and memories are written")
	c.Flags().DurationVar(&limit, "timeout", time.Minute, "how long --wait waits")
	s.whereFlags(c)
	return c
}

// commit waits in a process without a daemon by doing the work itself.
func (p *place) commit(ctx context.Context, session string, wait bool, limit time.Duration) (skald.CommitResult, error) {
	if !wait {
		return p.Commit(ctx, p.id, session, false)
	}
	if p.app != nil {
		defer p.app.Background(ctx)()
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r, err := p.Commit(limited, p.id, session, true)
	if limited.Err() != nil && ctx.Err() == nil && err != nil {
		return r, p.pending(ctx, session, limit)
	}
	return r, err
}

// pending says what a wait that took too long was waiting for (CLI-05).
func (p *place) pending(ctx context.Context, session string, limit time.Duration) error {
	still := "its jobs still have"
	if jobs, err := p.ListJobs(ctx, p.id, false); err == nil {
		still = pendingJobs(jobs)
	}
	return &skald.Error{URI: session, Kind: skald.KindDeadline,
		Err: fmt.Errorf("after %s the turns are archived, and %s to write summary and memories", limit, still)}
}

// pendingJobs lists the jobs that wait or run.
func pendingJobs(jobs []skald.JobInfo) string {
	var list []string
	for _, j := range jobs {
		if j.State == "waiting" || j.State == "running" {
			list = append(list, fmt.Sprintf("job %d (%s, %s)", j.ID, j.State, j.Archive))
		}
	}
	switch len(list) {
	case 0:
		return "nothing is left"
	case 1:
		return list[0] + " still has"
	}
	const most = 10
	if more := len(list) - most; more > 0 {
		list = append(list[:most], fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, ", ") + " still have"
}

func showCommit(w io.Writer, r skald.CommitResult) {
	if !r.Archived {
		fmt.Fprintf(w, "nothing was archived: %s\n", r.Reason)
		return
	}
	fmt.Fprintf(w, "archived as %s (%s)\n", r.Archive, r.State)
	for _, m := range r.Memories {
		fmt.Fprintln(w, "memory:", m)
	}
}
