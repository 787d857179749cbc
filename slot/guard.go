package slot

import (
	"context"
	"sync"
	"time"

	"github.com/skald-engine/skald"
)

// The guard tries a failing engine again after firstPause, twice as long after each further fault up to longestPause, and leaves it alone
// after quarantineFaults in a row.
const (
	firstPause       = time.Second
	longestPause     = 5 * time.Minute
	quarantineFaults = 5
	keptFaults       = 50
)

// The states of a slot.
const (
	StateRunning     = "running"
	StateWaiting     = "waiting"     // turns run on legacy until RetryAt
	StateQuarantined = "quarantined" // turns run on legacy until Release or a restart
)

// Status says how the engine in the slot fares.
type Status struct {
	Engine  string
	State   string
	RetryAt time.Time     // of the next try
	Faults  []skald.Fault // the newest, oldest first, each with its operation
	Legacy  int           // calls that legacy answered
}

// guard decides whether the engine is called, and counts what it did wrong.
type guard struct {
	clock  func() time.Time
	mu     sync.Mutex
	failed int // in a row
	retry  time.Time
	off    bool
	faults []skald.Fault
	legacy int
}

// open reports that the engine may be called now.
func (g *guard) open() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.off && !g.clock().Before(g.retry)
}

func (g *guard) succeeded() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.off { // a late success of a call that was given up opens nothing
		g.failed, g.retry = 0, time.Time{}
	}
}

func (g *guard) fault(op, session string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.clock()
	g.faults = append(g.faults, skald.Fault{Time: now, Op: op, Session: session, Error: err.Error()})
	g.faults = g.faults[max(0, len(g.faults)-keptFaults):]
	g.failed++
	g.retry = now.Add(min(firstPause<<min(g.failed-1, 20), longestPause))
	g.off = g.failed >= quarantineFaults
}

func (g *guard) fellBack() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.legacy++
}

// release lets the engine be tried at once.
func (g *guard) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.off, g.failed, g.retry = false, 0, time.Time{}
}

func (g *guard) status(id string) Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := Status{Engine: id, State: StateRunning, RetryAt: g.retry, Faults: append([]skald.Fault{}, g.faults...), Legacy: g.legacy}
	switch {
	case g.off:
		s.State, s.RetryAt = StateQuarantined, time.Time{}
	case g.clock().Before(g.retry):
		s.State = StateWaiting
	}
	return s
}

// guarded calls the engine in a goroutine of its own, so that neither a panic nor a call that never ends reaches the host. ok is false when
// the engine is not to be called now, or when it failed: then the fault is on record, unless the host itself gave up.
func guarded[T any](ctx context.Context, s *Slot, op, session string, within time.Duration, call func(context.Context) (T, error), check func(T) error) (out T, ok bool) {
	if !s.guard.open() {
		return out, false
	}
	got, err := timed(ctx, within, call)
	if err == nil && check != nil {
		err = check(got)
	}
	switch {
	case err == nil:
		s.guard.succeeded()
		return got, true
	case ctx.Err() != nil || skald.KindOf(err) == skald.KindBudget: // the host gave up; or the budget is too small for any engine
		return out, false
	}
	s.guard.fault(op, session, err)
	s.host.Log.Warn("context engine fault", "engine", s.id, "op", op, "session", session, "error", err)
	return out, false
}

func timed[T any](ctx context.Context, within time.Duration, call func(context.Context) (T, error)) (T, error) {
	type answer struct {
		out T
		err error
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a.err = skald.E("", skald.KindInternal, "panic: %v", p)
			}
			done <- a
		}()
		a.out, a.err = call(ctx)
	}()
	select {
	case a := <-done:
		return a.out, a.err
	case <-ctx.Done():
		var none T
		return none, skald.E("", skald.KindDeadline, "no answer within %s", within)
	}
}
