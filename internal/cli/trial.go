package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/bench/replay"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/internal/app"
	"github.com/skald-engine/skald/internal/config"
	"github.com/skald-engine/skald/trial"
)

// trialFlags are the command's own.
type trialFlags struct {
	trial.Options
	since, out    string
	state, config string
}

const trialPage = "skald-trial.html"

func (s *shell) trial() *cobra.Command {
	var f trialFlags
	c := &cobra.Command{
		Use: "trial [NAME] [PATH...]", Short: "Replay your own conversations with and without Skald, and compare",
		Long: `Play the conversations that you have, as they are, once as OpenClaw handles them without an engine and once with Skald, and compare
what the model would have been given: tokens, cacheable share, what went out of view, which facts you had to say again and what the
agent read again although it stood in the history. NAME and PATH are those of 'skald import'; openclaw is the default.

The conversations are only read. Nothing leaves this machine, and nothing is written but the report (` + trialPage + `, or --out) and a
temporary folder that is removed at the end. With --json the report goes to standard output, and to a page only with --out.`,
		ValidArgs: importNames(),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return oneOf("name", args[0], importNames()...)
		},
		Example: "  skald trial\n  skald trial claude-code --out trial.html",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"openclaw"}
			}
			if f.out == "" && !s.json {
				f.out = trialPage
			}
			if err := canWrite(f.out); err != nil {
				return err
			}
			report, err := s.runTrial(c.Context(), args[0], args[1:], f)
			if err != nil {
				return err
			}
			if err := writePage("out", f.out, report); err != nil {
				return err
			}
			return s.print(report, func(w io.Writer) { showTrial(w, report, f.out) })
		},
	}
	flags := c.Flags()
	flags.IntVar(&f.Limit, "limit", 0, "take the newest sessions only, so many; 0: all")
	flags.IntVar(&f.Window, "window", trial.DefaultWindow, "tokens of your model's context window")
	flags.IntVar(&f.Budget, "budget", 0, "tokens of it for messages (default: the window less OpenClaw's reserve and system prompt)")
	flags.StringVar(&f.out, "out", "", "file of the report (default "+trialPage+")")
	flags.StringVar(&f.since, "since", "", "leave out messages before this date, 2026-01-31 or 2026-01-31T08:00:00Z")
	flags.StringVar(&f.state, "openclaw-state", "", "OpenClaw's state folder (default OPENCLAW_STATE_DIR, else ~/.openclaw)")
	flags.StringVar(&f.config, "openclaw-config", "", "OpenClaw's openclaw.json (default OPENCLAW_CONFIG_PATH, else in the state folder)")
	return c
}

func (f *trialFlags) check() (err error) {
	if err := within("limit", int64(f.Limit), 0, 1<<40); err != nil {
		return err
	}
	if err := within("window", int64(f.Window), 1000, maxBudget); err != nil {
		return err
	}
	if err := within("budget", int64(f.Budget), 0, maxBudget); err != nil {
		return err
	}
	f.Since, err = parseDate("since", f.since)
	return err
}

func (s *shell) runTrial(ctx context.Context, name string, paths []string, f trialFlags) (report trial.Report, err error) {
	if err := f.check(); err != nil {
		return report, err
	}
	source, err := importers[name](ctx, paths, ingest.OpenOptions{State: f.state, Config: f.config})
	if err != nil {
		return report, err
	}
	dir, err := os.MkdirTemp("", "skald-trial-")
	if err != nil {
		return report, skald.Invalid("", "TMPDIR", "no temporary folder can be made: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var ways trial.Ways
	for strategy, way := range map[string]*replay.Target{"legacy": &ways.Legacy, "viking": &ways.Skald} {
		a, target, err := openWay(ctx, filepath.Join(dir, strategy), strategy)
		if err != nil {
			return report, err
		}
		defer func() { err = errors.Join(err, a.Close()) }()
		*way = target
	}
	bar := s.trialBar()
	defer bar.end()
	f.Identity, f.Progress = skald.DefaultIdentity, bar.show
	return trial.Run(ctx, ways, source, f.Options)
}

// trialRecall is when a recall is given up. A busy machine shall not change the outcome, so it is longer than what the engine allows itself.
const trialRecall = 2 * time.Second

// openWay opens one engine over an empty store. The user's configuration does not count: it may name a model on the network.
func openWay(ctx context.Context, dir, strategy string) (*app.App, replay.Target, error) {
	c := config.Default()
	c.Data, c.RecallMillis = dir, int(trialRecall.Milliseconds())
	if err := c.Finish(); err != nil {
		return nil, replay.Target{}, err
	}
	clock := &replayClock{}
	a, err := app.Open(ctx, app.Options{Config: c, Clock: clock.now, Strategy: strategy, Fleeting: true})
	if err != nil {
		return nil, replay.Target{}, err
	}
	return a, replay.Target{Engine: a.Engine, Inspector: a.Engine, SetClock: clock.set, Settle: a.Engine.RunJobs}, nil
}

// canWrite fails where no page could be written, before minutes of work are done for it. It leaves nothing.
func canWrite(path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return skald.Invalid("", "out", "the report cannot be written: %s is a folder: name a file in it", path)
	}
	probe := path
	if err != nil { // there is no such file yet
		probe = filepath.Join(filepath.Dir(path), ".skald-trial-probe")
	}
	f, err := os.OpenFile(probe, os.O_WRONLY|os.O_CREATE, 0o600)
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err // the probe's name means nothing to the user
	}
	if err != nil {
		return skald.Invalid("", "out", "the report cannot be written to %s: %w", path, err)
	}
	_ = f.Close()
	if probe != path {
		_ = os.Remove(probe)
	}
	return nil
}

// writePage writes a report's page as a whole or not at all; flag names the path in an error.
func writePage(flag, path string, r interface{ WriteHTML(io.Writer) error }) error {
	if path == "" {
		return nil
	}
	var page bytes.Buffer
	if err := r.WriteHTML(&page); err != nil {
		return err
	}
	if err := os.WriteFile(path, page.Bytes(), 0o600); err != nil {
		return skald.Invalid("", flag, "the report cannot be written: %w", err)
	}
	return nil
}

// trialBar shows how far a trial is, on a terminal only.
type trialBar struct {
	shell *shell
	bar   *progressbar.ProgressBar // nil until there is something to show
	quiet bool
}

func (s *shell) trialBar() *trialBar {
	return &trialBar{shell: s, quiet: s.json || s.quiet || !s.look(s.err).tty}
}

func (b *trialBar) show(done, total int) {
	if b.quiet {
		return
	}
	if b.bar == nil {
		b.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(b.shell.err), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetDescription("exchanges"), progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetWidth(30), progressbar.OptionUseANSICodes(b.shell.env("TERM") != "dumb"))
	}
	_ = b.bar.Set(done)
}

func (b *trialBar) end() {
	if b.bar != nil {
		_ = b.bar.Finish()
	}
}

func showTrial(w io.Writer, r trial.Report, page string) {
	fmt.Fprintf(w, "%d sessions, %d exchanges, %d messages from %s, %s to %s, in %.1f s; %d tokens for messages in a window of %d\n\n",
		len(r.Sessions), r.Exchanges, r.Messages, r.Source, day(r.From), day(r.To), r.Seconds, r.Budget, r.Window)
	row := func(what string, of func(trial.Figures) string) []string {
		return []string{what, of(r.Legacy), of(r.Skald)}
	}
	table(w, [][]string{
		{"", "LEGACY", "SKALD"},
		row("tokens of all requests", func(f trial.Figures) string { return fmt.Sprint(f.Tokens) }),
		row("tokens of a request, mean", func(f trial.Figures) string { return fmt.Sprintf("%.0f", f.Mean) }),
		row("cacheable share", func(f trial.Figures) string { return fmt.Sprintf("%.1f %%", 100*f.Cacheable) }),
		row("over the window, or refused", func(f trial.Figures) string { return fmt.Sprint(f.OverWindow) }),
		{"turns out of view at the end", fmt.Sprintf("%d gone", r.Legacy.OutOfView), fmt.Sprintf("%d expandable", r.Skald.OutOfView)},
		row("referred to, and in the request", func(f trial.Figures) string { return fmt.Sprintf("%d of %d", f.InView, f.References) }),
	})
	fmt.Fprintf(w, "\nWould have been avoided: %d facts said again, %d files and commands read again (%d tokens)\n",
		r.Avoided.Facts, r.Avoided.Rereads, r.Avoided.RereadTokens)
	for _, rep := range firstCounted(r, shownRepetitions) {
		fmt.Fprintf(w, "  session %d, turn %d: %s (had stood at session %d, turn %d)\n", rep.Now.Session, rep.Now.Turn,
			line(strings.Join(rep.What, ", "), 60), rep.Earlier.Session, rep.Earlier.Turn)
	}
	if page != "" {
		fmt.Fprintf(w, "\nEach of them with its turns, charts, and what all this rests on: %s\n", page)
	}
}

const shownRepetitions = 5

func firstCounted(r trial.Report, n int) (list []trial.Repetition) {
	for _, all := range [][]trial.Repetition{r.Facts, r.Rereads} {
		for _, rep := range all {
			if rep.Counted && len(list) < n {
				list = append(list, rep)
			}
		}
	}
	return list
}
