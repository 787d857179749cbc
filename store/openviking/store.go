package openviking

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client/openviking"
)

// Options of a store. Client and Identity are needed.
type Options struct {
	Client   *openviking.Client
	Identity skald.Identity // whose sessions go to the server; those of other accounts and users stay here
	Policy   skald.Policy
	Clock    func() time.Time // nil: the real clock
	Log      *slog.Logger     // nil: nothing is logged

	Pause    time.Duration // after a first failure, doubled after each further one; 0: a second
	MaxPause time.Duration // 0: five minutes
	Poll     time.Duration // how often an unfinished task of the server is asked for; 0: three seconds
	Hold     time.Duration // how long a turn that was only seen in the host's view waits for its original; 0: ten minutes
}

// Store is a skald.Store over a local one. Run delivers; without it nothing leaves the machine.
type Store struct {
	local  skald.Store
	o      Options
	wake   chan struct{}
	serial atomic.Int64 // the newest journal entry's number
	health health
	// Of the courier alone (Run's goroutine):
	server  server
	certain map[skald.SessionRef]bool // nothing that was sent for the session has an unclear fate
}

var _ skald.Store = (*Store)(nil)

// New wraps a local store, which Close closes.
func New(local skald.Store, o Options) *Store {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	for _, d := range []struct {
		to  *time.Duration
		def time.Duration
	}{{&o.Pause, time.Second}, {&o.MaxPause, 5 * time.Minute}, {&o.Poll, 3 * time.Second}, {&o.Hold, 10 * time.Minute}} {
		if *d.to <= 0 {
			*d.to = d.def
		}
	}
	s := &Store{local: local, o: o, wake: make(chan struct{}, 1), certain: map[skald.SessionRef]bool{}}
	s.health.rebuilt.done, s.health.tried.done = make(chan struct{}), make(chan struct{})
	return s
}

// View implements skald.Store: the local store alone answers.
func (s *Store) View(ctx context.Context, fn func(skald.Tx) error) error {
	return s.local.View(ctx, fn)
}

// Update implements skald.Store. What the server lacks afterwards is written down in the same transaction.
func (s *Store) Update(ctx context.Context, fn func(skald.Tx) error) error {
	marked := false
	err := s.local.Update(ctx, func(inner skald.Tx) error {
		w := &tx{Tx: inner, store: s}
		if err := fn(w); err != nil {
			return err
		}
		marked = w.lacks()
		return w.mark()
	})
	if err == nil && marked {
		s.awake()
	}
	return err
}

// Close closes the local store. End Run before.
func (s *Store) Close() error { return s.local.Close() }

func (s *Store) awake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Store) now() time.Time { return s.o.Clock().UTC() }

// mine reports whether things of a scope go to the server: those of one user, who is the server's user.
func (s *Store) mine(scope skald.Scope) bool {
	id := s.o.Identity
	switch {
	case scope.Account != id.Account:
		return false
	case scope.Kind == skald.ScopeUser:
		return scope.User == id.User
	case scope.Kind == skald.ScopeAgent:
		return scope.User == "" || scope.User == id.User
	}
	return false
}
