package trial

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/bench/replay"
	"github.com/skald-engine/skald/ingest"
)

// Options of a trial.
type Options struct {
	Identity skald.Identity
	Window   int                   // tokens of the model's context window; 0: DefaultWindow
	Budget   int                   // tokens for messages; 0: BudgetOf(Window)
	Since    time.Time             // older messages are left out
	Limit    int                   // the newest sessions; 0: all
	Progress func(done, total int) // exchanges; nil: nobody is told
}

// DefaultWindow is the context window, in tokens, that is assumed.
const DefaultWindow = 200_000

// hostPrompt is what the host's own system prompt takes, in tokens: measured on OpenClaw 2026.9.6.
const hostPrompt = 6_300

// BudgetOf is what a window leaves for messages: less the host's reserve (docs/openclaw.md, 27) and its system prompt.
func BudgetOf(window int) int {
	return max(window-min(20_000, window/4)-hostPrompt, window/4)
}

// Ways are the two engines to compare, each over an empty store of its own.
type Ways struct{ Legacy, Skald replay.Target }

// Run plays what a source holds both ways and compares.
func Run(ctx context.Context, w Ways, src ingest.Source, o Options) (Report, error) {
	started := time.Now()
	o.Window = cmp.Or(o.Window, DefaultWindow)
	o.Budget = cmp.Or(o.Budget, BudgetOf(o.Window))
	r, err := load(ctx, src, o.Since, o.Limit)
	if err != nil {
		return Report{}, err
	}
	if len(r.sessions) == 0 {
		return Report{}, &skald.Error{Op: "trial", Kind: skald.KindNotFound, Field: "source", Err: noSessions(src, o)}
	}
	t := &trial{ways: w, options: o, judge: newJudge(r.notes)}
	if err := t.play(ctx, r.sessions); err != nil {
		return Report{}, err
	}
	report := t.report(src.Name(), r)
	report.Seconds = time.Since(started).Seconds()
	return report, nil
}

// trial is one run on its way.
type trial struct {
	ways    Ways
	options Options
	judge   *judge
	lanes   []*lane
}

// lane is a session with its two players.
type lane struct {
	session       *session
	legacy, skald side
	points        []Point
	exchanges     int      // played
	asked         []repeat // facts that the exchange under way repeats
}

// side is one way of one session.
type side struct {
	player  *replay.Player
	calls   []replay.Call // of the exchange under way
	budget  int
	before  int // tokens before the prompt of the newest request
	figures Figures
}

// play takes the exchanges of all sessions in the order of their time, as they happened: sessions that overlap do so again.
func (t *trial) play(ctx context.Context, sessions []*session) error {
	total, done := 0, 0
	for _, s := range sessions {
		total += countExchanges(s)
	}
	waiting, running := sessions, []*lane(nil)
	for len(waiting) > 0 || len(running) > 0 {
		at, next := earliest(running)
		if len(waiting) > 0 && (next == nil || waiting[0].started.Before(at)) {
			l, err := t.start(ctx, waiting[0])
			if err != nil {
				return err
			}
			waiting, running = waiting[1:], append(running, l)
			continue
		}
		if err := t.step(ctx, next); err != nil {
			return err
		}
		done++
		if t.options.Progress != nil {
			t.options.Progress(done, max(done, total))
		}
		if _, more := next.legacy.player.Next(); !more {
			if err := t.end(ctx, next); err != nil {
				return err
			}
			running = slices.DeleteFunc(running, func(l *lane) bool { return l == next })
		}
	}
	return nil
}

// earliest is the lane whose next exchange comes first; the oldest session of equals.
func earliest(running []*lane) (at time.Time, first *lane) {
	for _, l := range running {
		if next, _ := l.legacy.player.Next(); first == nil || next.Time.Before(at) {
			at, first = next.Time, l
		}
	}
	return at, first
}

func countExchanges(s *session) (n int) {
	answered := true
	for _, m := range s.parsed {
		user := m.SkaldRole() == skald.RoleUser
		if n == 0 || user && answered {
			n++
		}
		answered = !user
	}
	return n
}

func (t *trial) start(ctx context.Context, s *session) (*lane, error) {
	l := &lane{session: s}
	t.lanes = append(t.lanes, l)
	o := replay.Options{
		Identity: t.options.Identity, Session: s.id(), Key: s.key, Budget: t.options.Budget, Compact: replay.CompactAuto, RecallForm: "tool",
	}
	if skald.SafeID(s.agent) {
		o.Identity.Agent = s.agent
	}
	o.Observe = func(c replay.Call) { l.legacy.calls = append(l.legacy.calls, c) }
	l.legacy.budget, l.skald.budget = o.Budget, o.Budget
	var err error
	if l.legacy.player, err = replay.Start(ctx, t.ways.Legacy, s.messages, o); err != nil {
		return nil, err
	}
	o.Observe = func(c replay.Call) {
		l.skald.calls = append(l.skald.calls, c)
		if c.First {
			l.asked = t.judge.ask(ctx, prober{t.ways.Skald.Engine, o}, s, c)
		}
	}
	l.skald.player, err = replay.Start(ctx, t.ways.Skald, s.messages, o)
	return l, err
}

// step plays one exchange both ways, at once, and compares what was shown.
func (t *trial) step(ctx context.Context, l *lane) error {
	l.legacy.calls, l.skald.calls = nil, nil
	x, _ := l.legacy.player.Next()
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() { failed = l.legacy.player.Step(ctx) })
	err := l.skald.player.Step(ctx)
	wg.Wait()
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	l.exchanges++
	t.judge.exchange(l, x)
	return nil
}

func (t *trial) end(ctx context.Context, l *lane) error {
	for _, s := range []*side{&l.legacy, &l.skald} {
		if _, err := s.player.End(ctx); err != nil {
			return err
		}
		s.player, s.calls = nil, nil
	}
	return nil
}
