package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	enginebench "github.com/skald-engine/skald/bench/engine"
	"github.com/skald-engine/skald/internal/config"
)

func (s *shell) bench() *cobra.Command {
	c := &cobra.Command{
		Use: "bench", Short: "Measure the engine and the recall on this machine", Args: arguments(),
		Example: "  skald bench engine --data /var/tmp/bench",
	}
	c.AddCommand(s.benchEngine(), s.benchRecall(), s.benchEvidence(), s.benchAPI())
	return c
}

func (s *shell) benchEngine() *cobra.Command {
	var o enginebench.Options
	c := &cobra.Command{
		Use: "engine", Short: "Measure commitTurn, assemble, memory, disk and start-up", Args: arguments(),
		Long: `Measure the engine on synthetic sessions, in one run. The folder must be new, empty, or left by an earlier run of this command, and
on a real disk. The data stays there afterwards.`,
		Example: "  skald bench engine --data /var/tmp/bench --messages 1000,10000 --json",
		RunE: func(c *cobra.Command, _ []string) error {
			binary, err := os.Executable()
			if err != nil {
				return err
			}
			o.Binary, o.Open = binary, openForBench
			o.Progress = func(format string, args ...any) { s.note(fmt.Sprintf(format, args...)) }
			r, err := enginebench.Run(c.Context(), o)
			if err != nil {
				return err
			}
			return s.print(r, func(w io.Writer) { showBench(w, r) })
		},
	}
	f := c.Flags()
	f.StringVar(&o.Data, "data", "", "folder to measure in (required)")
	f.IntSliceVar(&o.Messages, "messages", []int{1000, 10_000, 50_000}, "stored messages at which to measure, rising")
	f.StringVar(&o.Prompts, "prompts", "", "file of prompts, one a line (default: built-in ones)")
	return c
}

// openForBench opens an engine in this process, as the daemon would.
func openForBench(ctx context.Context, dir string) (enginebench.Target, error) {
	c := config.Default()
	c.Data = dir
	if err := c.Finish(); err != nil {
		return enginebench.Target{}, err
	}
	return openWith(ctx, c)
}

func showBench(w io.Writer, r enginebench.Report) {
	fmt.Fprintf(w, "start-up %.0f ms, idle memory %.1f MB\n", r.StartupMS, r.IdleRSSMB)
	rows := [][]string{{"MESSAGES", "COMMIT p50/p95/p99", "FSYNC p50", "ASSEMBLE p50/p95", "HTTP p50/p95", "DISK", "MEMORY"}}
	for _, z := range r.Sizes {
		rows = append(rows, []string{fmt.Sprint(z.Messages),
			fmt.Sprintf("%.2f / %.2f / %.2f ms", z.CommitTurn.P50, z.CommitTurn.P95, z.CommitTurn.P99),
			fmt.Sprintf("%.2f ms", z.Fsync.P50),
			fmt.Sprintf("%.2f / %.2f ms", z.Assemble.P50, z.Assemble.P95),
			fmt.Sprintf("%.2f / %.2f ms", z.AssembleHTTP.P50, z.AssembleHTTP.P95),
			fmt.Sprintf("%.2f bytes a raw byte", z.DiskPerRawByte),
			fmt.Sprintf("%.1f MB", z.RSSMB)})
	}
	table(w, rows)
}
