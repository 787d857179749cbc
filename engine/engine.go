// Package engine is the context engine: one file per lifecycle call, each reading as the steps of the design page. It keeps no
// state of its own beyond counters; everything lives in the store.
package engine

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/memory"
	"github.com/skald-engine/skald/strategy"
)

// Options configure an engine. The zero value works: defaults, the real clock, no log.
type Options struct {
	Version    string
	Policy     skald.Policy
	Accounts   func(account string) *skald.Policy // an account's own policy where no identity brings it along: in the background; nil: none
	Settings   skald.Settings                     // defaults for what a request leaves open
	Strategy   string                             // "" is "viking"
	Clock      func() time.Time
	Log        *slog.Logger
	Summariser archive.Summariser // nil: the builtin one
	Metrics    Metrics            // nil: none
	Recall     time.Duration      // when a recall is given up, counted from the start of assemble; 0: 150 ms (I7)
	MaxMessage int                // bytes of one message; more becomes a dead letter; 0: 256 MB
}

// Metrics receives counts. A sink that fails must not be felt here (CAP-14).
type Metrics interface {
	Count(name string, n int)
	Observe(name string, d time.Duration)
}

// Engine implements skald.Engine and skald.Inspector over a store.
type Engine struct {
	store    skald.Store
	opts     Options
	strategy strategy.Strategy
	runner   *archive.Runner
	started  time.Time
	faults   faultLog
	bypasses bypassLog
	recall   breaker
	workers  atomic.Int32 // background workers running
	skipped  counter      // exchanges acknowledged but not stored at the user's wish
}

var (
	_ skald.Engine    = (*Engine)(nil)
	_ skald.Inspector = (*Engine)(nil)
)

// New makes an engine. It fails with KindInvalid when the strategy is not known.
func New(store skald.Store, opts Options) (*Engine, error) {
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if opts.Summariser == nil {
		opts.Summariser = archive.Builtin{}
	}
	if opts.Metrics == nil {
		opts.Metrics = noMetrics{}
	}
	opts.Metrics = safeMetrics{opts.Metrics}
	if opts.Recall <= 0 {
		opts.Recall = recallDeadline
	}
	if opts.MaxMessage <= 0 {
		opts.MaxMessage = defaultMaxMessage
	}
	s, err := strategy.ByName(opts.Strategy)
	if err != nil {
		return nil, err
	}
	e := &Engine{store: store, opts: opts, strategy: s, started: opts.Clock()}
	e.runner = archive.New(store, opts.Summariser, memory.Builtin{Policy: opts.Policy, Accounts: opts.Accounts}, opts.Clock, opts.Log)
	return e, nil
}

// Run works on the background jobs and commits sessions that have been idle (trigger 4, 000-047) until ctx ends.
func (e *Engine) Run(ctx context.Context, workers int, sweep time.Duration) {
	var wg sync.WaitGroup
	e.workers.Add(1)
	wg.Go(func() { defer e.workers.Add(-1); e.runner.Run(ctx, workers) })
	wg.Go(func() { e.sweepLoop(ctx, sweep) })
	wg.Wait()
}

// Resume frees the jobs that a killed process held. Call it before Run where the store is this process's alone.
func (e *Engine) Resume(ctx context.Context) error { return e.runner.ReleaseLeases(ctx) }

// RunJobs runs the jobs that are due until none is left, for callers without a background loop.
func (e *Engine) RunJobs(ctx context.Context) error {
	for {
		ran, err := e.runner.RunOne(ctx)
		if err != nil || !ran {
			return err
		}
	}
}

func (e *Engine) now(r skald.Request) time.Time {
	if r.Now > 0 {
		return time.UnixMilli(r.Now).UTC()
	}
	return e.opts.Clock().UTC().Truncate(time.Millisecond)
}

// safeMetrics keeps a sink's panic away from the turn (CAP-14).
type safeMetrics struct{ sink Metrics }

func (m safeMetrics) Count(name string, n int) {
	defer func() { _ = recover() }()
	m.sink.Count(name, n)
}

func (m safeMetrics) Observe(name string, d time.Duration) {
	defer func() { _ = recover() }()
	m.sink.Observe(name, d)
}

type noMetrics struct{}

func (noMetrics) Count(string, int)             {}
func (noMetrics) Observe(string, time.Duration) {}
