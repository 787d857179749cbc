package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
)

func (s *shell) jobs() *cobra.Command {
	c := &cobra.Command{
		Use: "jobs", Short: "List, retry and cancel the background work",
		Long: `The background work writes summaries and memories of archived turns. It survives restarts, and a failed step is tried again by
itself. The turns are readable whatever it does.`,
		Example: "  skald jobs list\n  skald jobs cancel 12",
	}
	c.AddCommand(s.jobsList(),
		s.changeJob("retry", "Run a failed, cancelled or waiting job now", (*place).RetryJob),
		s.changeJob("cancel", "End a waiting or running job; its archive stays without a summary until a retry", (*place).CancelJob))
	return c
}

func (s *shell) jobsList() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "list", Short: "List the jobs that wait, run, or have failed", Args: arguments(),
		Example: "  skald jobs list --all",
		RunE: func(c *cobra.Command, _ []string) error {
			return s.use(c.Context(), func(p *place) error {
				jobs, err := p.ListJobs(c.Context(), p.id, all)
				if err != nil {
					return err
				}
				return s.print(list(jobs), func(w io.Writer) { showJobs(w, jobs) })
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "those that are done, too")
	s.whereFlags(c)
	return c
}

// jobChange is what retry and cancel do to a job.
type jobChange func(p *place, ctx context.Context, id skald.Identity, job int64) (skald.JobInfo, error)

func (s *shell) changeJob(name, short string, change jobChange) *cobra.Command {
	c := &cobra.Command{
		Use: name + " ID", Short: short, Args: arguments("ID"),
		Example: "  skald jobs " + name + " 12",
		RunE: func(c *cobra.Command, args []string) error {
			job, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || job < 1 {
				return skald.Invalid("", "ID", "%q is not the number of a job: `skald jobs list` lists them", args[0])
			}
			return s.use(c.Context(), func(p *place) error {
				j, err := change(p, c.Context(), p.id, job)
				if err != nil {
					return err
				}
				return s.print(j, func(w io.Writer) { fmt.Fprintf(w, "job %d: %s\n", j.ID, j.State) })
			})
		},
	}
	s.whereFlags(c)
	return c
}

func showJobs(w io.Writer, jobs []skald.JobInfo) {
	if len(jobs) == 0 {
		fmt.Fprintln(w, "nothing to do")
		return
	}
	rows := [][]string{{"JOB", "STATE", "ARCHIVE", "FAILED", "UPDATED", "NEXT", "ERROR"}}
	for _, j := range jobs {
		next := ""
		if !j.Next.IsZero() {
			next = when(j.Next)
		}
		rows = append(rows, []string{fmt.Sprint(j.ID), j.State, string(j.Archive), fmt.Sprint(j.Attempts), when(j.Updated), next,
			line(j.Error, 200)})
	}
	table(w, rows)
}
