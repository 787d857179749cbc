package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/skald-engine/skald"
)

type counter struct{ n atomic.Int64 }

func (c *counter) add()     { c.n.Add(1) }
func (c *counter) get() int { return int(c.n.Load()) }

// faultLog keeps the newest failures that a host survived, for status and doctor (I8).
type faultLog struct {
	mu   sync.Mutex
	list []skald.Fault
}

const keptFaults = 20

func (l *faultLog) add(f skald.Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, f)
	if len(l.list) > keptFaults {
		l.list = l.list[1:]
	}
}

func (l *faultLog) all() []skald.Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]skald.Fault{}, l.list...)
}

// note records a failure for status; the caller still returns it.
func (e *Engine) note(op, session string, err error) {
	if err == nil {
		return
	}
	e.faults.add(skald.Fault{Time: e.opts.Clock().UTC(), Op: op, Session: session, Error: err.Error()})
	e.opts.Metrics.Count("faults", 1)
	e.opts.Log.Warn("engine fault", "op", op, "session", session, "kind", skald.KindOf(err), "error", err)
}

// breaker skips recall for a minute after three misses of its deadline in a row (I7).
type breaker struct {
	mu     sync.Mutex
	misses int
	until  time.Time
	total  int
}

const (
	breakerMisses = 3
	breakerPause  = time.Minute
)

func (b *breaker) open(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return now.Before(b.until)
}

func (b *breaker) record(now time.Time, missed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !missed {
		b.misses = 0
		return
	}
	b.misses++
	b.total++
	if b.misses >= breakerMisses {
		b.misses, b.until = 0, now.Add(breakerPause)
	}
}

func (b *breaker) skips() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total
}
