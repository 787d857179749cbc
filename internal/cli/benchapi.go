package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	apibench "github.com/skald-engine/skald/bench/api"
)

func (s *shell) benchAPI() *cobra.Command {
	var o apibench.Options
	c := &cobra.Command{
		Use: "api", Short: "Measure OpenViking's API: appends, find, start-up, memory", Args: arguments(),
		Long: `Measure OpenViking's HTTP API on daemons of this program: as it ships, and without syncs; and, in the same run, on a real OpenViking:
started from a virtual environment with scripted models (scripts/setup-openviking.sh makes one), or running already. Entries are
files under viking://resources. The figures of a server that needs longer than the budget to take the entries stand at as many as it
took, and Skald is measured at that number too.`,
		Example: "  skald bench api --data /var/tmp/bench --openviking ~/.cache/skald/openviking-0.5.2 --json\n" +
			"  skald bench api --data /var/tmp/bench --against http://127.0.0.1:1944 --against-key KEY",
		RunE: func(c *cobra.Command, _ []string) error {
			binary, err := os.Executable()
			if err != nil {
				return err
			}
			o.Binary = binary
			o.Progress = func(format string, args ...any) { s.note(fmt.Sprintf(format, args...)) }
			r, err := apibench.Run(c.Context(), o)
			if err != nil {
				return err
			}
			return s.print(r, func(w io.Writer) { showAPIBench(w, r) })
		},
	}
	f := c.Flags()
	f.StringVar(&o.Data, "data", "", "folder to measure in, on a disk (required)")
	f.StringVar(&o.OpenViking, "openviking", "", "virtual environment of an OpenViking to start and compare with")
	f.StringVar(&o.Against, "against", "", "base URL of a running OpenViking to compare with; it is filled with sessions and files")
	f.StringVar(&o.AgainstKey, "against-key", "", "key of a user there")
	f.IntSliceVar(&o.Entries, "entries", []int{1000, 100_000}, "entries at which find is measured, rising")
	f.DurationVar(&o.Span, "span", 10*time.Second, "length of each measurement of appends")
	f.DurationVar(&o.Budget, "budget", 10*time.Minute, "longest time for filling one server with entries")
	return c
}

func showAPIBench(w io.Writer, r apibench.Report) {
	rows := [][]string{{"SERVER", "START-UP", "MEMORY idle/end", "APPEND 1/16 callers", "BATCH 1/16 callers", "FIND p50/p95"}}
	for _, f := range r.Servers {
		row := []string{f.Name, fmt.Sprintf("%.0f ms", f.StartupMS), fmt.Sprintf("%.0f / %.0f MB", f.IdleRSSMB, f.RSSMB),
			fmt.Sprintf("%.0f / %.0f a second", f.Append.Single1, f.Append.Single16), fmt.Sprintf("%.0f / %.0f a second", f.Append.Batch1, f.Append.Batch16)}
		find := ""
		for _, x := range f.Find {
			find += fmt.Sprintf("%d: %.1f / %.1f ms  ", x.Entries, x.P50, x.P95)
		}
		rows = append(rows, append(row, find))
	}
	table(w, rows)
	for _, f := range r.Servers {
		fmt.Fprintf(w, "%s: %s\n", f.Name, f.Durability)
	}
	for _, g := range r.Goals {
		fmt.Fprintf(w, "%s: %.3g of the other's, goal %s, reached %t\n", g.What, g.Ratio, g.Goal, g.Reached)
	}
	for _, n := range r.Notes {
		fmt.Fprintln(w, n)
	}
}
