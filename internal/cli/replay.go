package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/bench/replay"
	"github.com/skald-engine/skald/internal/app"
	"github.com/skald-engine/skald/strategy"
)

func (s *shell) replay() *cobra.Command {
	var o replay.Options
	c := &cobra.Command{
		Use: "replay FILE...", Short: "Play a recorded conversation through the engine as a host would",
		Long: `Play a conversation in OpenClaw's message format (JSON Lines, one message a line; several files are one conversation) through the
engine as the host would, and report what its model would have been given. Without --data and --server a temporary folder is used.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return arguments("FILE")(c, args)
			}
			return readableNames(args)
		},
		Example: "  skald replay talk.jsonl --budget 16000\n  skald replay talk.jsonl --session s1 --data /tmp/try",
		RunE: func(c *cobra.Command, files []string) error {
			if err := checkReplay(o); err != nil {
				return err
			}
			messages, err := replay.Load(files...)
			if err != nil {
				return err
			}
			if o.Session == "" {
				o.Session = replaySession(files[0], messages)
			}
			report, err := s.runReplay(c.Context(), messages, o)
			if err != nil {
				return err
			}
			return s.print(report, func(w io.Writer) { showReplay(w, report) })
		},
	}
	f := c.Flags()
	f.StringVar(&o.Session, "session", "", "session id (default: made from file name and content)")
	f.StringVar(&o.Strategy, "strategy", "", "strategy (default: the engine's)")
	f.IntVar(&o.Budget, "budget", 128_000, "tokens of a request")
	f.StringVar(&o.Compact, "compact", replay.CompactAuto, "auto: triggers and publications; never: none; end: none, then one compact")
	f.StringVar(&o.RecallForm, "recall-form", "auto", "auto, tool or text")
	s.whereFlags(c)
	return c
}

// readableNames refuses names that are no text: shown or stored they would become other names (CLI-03).
func readableNames(files []string) error {
	for _, f := range files {
		if !utf8.ValidString(f) {
			return skald.Invalid("", "FILE", "the name %q is not valid UTF-8: rename the file", f)
		}
	}
	return nil
}

func checkReplay(o replay.Options) error {
	if err := within("budget", int64(o.Budget), 1, maxBudget); err != nil {
		return err
	}
	if err := oneOf("compact", o.Compact, replay.CompactAuto, replay.CompactNever, replay.CompactEnd); err != nil {
		return err
	}
	return oneOf("recall-form", o.RecallForm, "auto", "tool", "text")
}

func oneOf(flag, v string, allowed ...string) error {
	if slices.Contains(allowed, v) {
		return nil
	}
	return skald.Invalid("", flag, "%q is not one of %s", v, strings.Join(allowed, ", "))
}

// replaySession names a session after its conversation, so that a second replay meets the first.
func replaySession(file string, messages []json.RawMessage) string {
	h := sha256.New()
	for _, m := range messages {
		h.Write(m)
		h.Write([]byte{'\n'})
	}
	base := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if !skald.SafeID(base) || len(base) > 64 {
		base = "conversation"
	}
	return "replay-" + base + "-" + hex.EncodeToString(h.Sum(nil))[:8]
}

// runReplay finds a place to play in: the named one, or a temporary folder.
func (s *shell) runReplay(ctx context.Context, messages []json.RawMessage, o replay.Options) (report replay.Report, err error) {
	kept := s.where.data
	if s.where.data == "" && s.where.server == "" {
		if s.where.data, err = os.MkdirTemp("", "skald-replay-"); err != nil {
			return report, err
		}
		defer os.RemoveAll(s.where.data)
	}
	clock := &replayClock{}
	err = s.open(ctx, app.Options{Clock: clock.now, Strategy: o.Strategy}, func(p *place) error {
		plays, err := p.strategyOf(ctx, o.Strategy)
		if err != nil {
			return err
		}
		o.Identity = p.id
		report, err = replay.Play(ctx, p.target(clock), messages, o)
		report.Strategy, report.DataDir = plays, kept
		return err
	})
	return report, err
}

// strategyOf is the strategy that plays: the one that every request names, else the daemon's own.
func (p *place) strategyOf(ctx context.Context, wanted string) (string, error) {
	if wanted != "" {
		_, err := strategy.ByName(wanted)
		return wanted, err
	}
	st, err := p.Status(ctx, p.id)
	return st.Strategy, err
}

// target is the place as a replay sees it.
func (p *place) target(clock *replayClock) replay.Target {
	t := replay.Target{Engine: p.Engine, Inspector: p.Inspector}
	if p.app == nil {
		t.Settle = p.settle
		return t
	}
	t.SetClock, t.Settle, t.Background = clock.set, p.app.Engine.RunJobs, p.app.Background
	return t
}

// settle waits until the daemon has no job left to run.
func (p *place) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		st, err := p.Status(ctx, p.id)
		if err != nil || st.JobsReady == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return skald.E("", skald.KindDeadline, "%d jobs of the daemon did not end within two minutes", st.JobsReady)
		case <-poll.C:
		}
	}
}

// replayClock is the conversation's clock; until the conversation tells a time it is the real one.
type replayClock struct{ at atomic.Pointer[time.Time] }

func (c *replayClock) set(t time.Time) { c.at.Store(&t) }

func (c *replayClock) now() time.Time {
	if t := c.at.Load(); t != nil {
		return *t
	}
	return time.Now()
}

func showReplay(w io.Writer, r replay.Report) {
	table(w, [][]string{
		{"session", r.SessionID},
		{"strategy", fmt.Sprintf("%s, budget %d tokens", r.Strategy, r.Budget)},
		{"turns stored", fmt.Sprintf("%d (%d were there)", r.Stored, r.Duplicates)},
		{"commits, publications", fmt.Sprintf("%d, %d", r.Commits, r.Publications)},
		{"assembles", fmt.Sprintf("%d (%d refused: budget too small)", r.Assembles, r.Refused)},
		{"largest request", fmt.Sprintf("%d tokens, %d over the budget", r.MaxRequest, r.MaxOverBudget)},
		{"broken pairs", fmt.Sprint(r.BrokenPairs)},
		{"prefix kept", fmt.Sprintf("%.4f (between exchanges %.4f)", r.PrefixShare, r.PrefixShareTurns)},
		{"cacheable", fmt.Sprintf("%.4f by longest prefix, %.4f by mark", r.CacheableShare.LongestPrefix, r.CacheableShare.Mark)},
		{"assemble", fmt.Sprintf("p50 %.2f ms, p95 %.2f ms", r.AssembleMS.P50, r.AssembleMS.P95)},
		{"commitTurn", fmt.Sprintf("p50 %.2f ms, p95 %.2f ms", r.CommitTurnMS.P50, r.CommitTurnMS.P95)},
	})
}
