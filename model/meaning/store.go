// Package meaning puts the meaning of texts into a store: documents are embedded as they are written, or in the background where the model
// is behind a network, and what is searched for is embedded when it is searched for.
package meaning

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/skald-engine/skald"
)

// Options of a Store. Model is needed.
type Options struct {
	Model skald.Embedder
	// Meanwhile is a local model that serves until Model, which is not, has embedded everything; nil: words alone serve.
	Meanwhile skald.Embedder
	Log       *slog.Logger // nil: nothing is logged

	Pause    time.Duration // after a first failure in the background, doubled after each further one; 0: a second
	MaxPause time.Duration // 0: five minutes
}

// Store is a skald.Store over another one. Run embeds what is not embedded yet; without it only what is written is.
type Store struct {
	skald.Store
	o       Options
	queries queries
	wake    chan struct{}
	waiting atomic.Bool // some documents may not be of the model yet
	failed  atomic.Pointer[string]
}

var _ skald.Store = (*Store)(nil)

// New puts meaning into a store, which Close closes.
func New(inner skald.Store, o Options) *Store {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Pause <= 0 {
		o.Pause = time.Second
	}
	if o.MaxPause <= 0 {
		o.MaxPause = 5 * time.Minute
	}
	if o.Model.Local() {
		o.Meanwhile = nil
	}
	s := &Store{Store: inner, o: o, wake: make(chan struct{}, 1)}
	s.queries.model = o.Model
	s.waiting.Store(true)
	return s
}

// View implements skald.Store.
func (s *Store) View(ctx context.Context, fn func(skald.Tx) error) error {
	return s.Store.View(ctx, func(inner skald.Tx) error { return fn(&tx{Tx: inner, ctx: ctx, store: s}) })
}

// Update implements skald.Store.
func (s *Store) Update(ctx context.Context, fn func(skald.Tx) error) error {
	left := false
	err := s.Store.Update(ctx, func(inner skald.Tx) error {
		t := &tx{Tx: inner, ctx: ctx, store: s}
		err := fn(t)
		left = t.left
		return err
	})
	if err == nil && left {
		s.waiting.Store(true)
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
	return err
}

// Health implements skald.Store, with how many documents still wait for the model.
func (s *Store) Health(ctx context.Context) (skald.StoreHealth, error) {
	h, err := s.Store.Health(ctx)
	if err != nil {
		return h, err
	}
	m := skald.MeaningHealth{Model: s.o.Model.Name()}
	if text := s.failed.Load(); text != nil {
		m.Error = *text
	}
	err = s.Store.View(ctx, func(tx skald.Tx) error {
		of, all, err := tx.Embedded(m.Model)
		m.Docs, m.Waiting = all, max(0, all-of)
		return err
	})
	h.Meaning = &m
	return h, err
}

// atOnce is the model that embeds what is written; nil: none is quick enough.
func (s *Store) atOnce() skald.Embedder {
	if s.o.Model.Local() {
		return s.o.Model
	}
	return s.o.Meanwhile
}
