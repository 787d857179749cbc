package meaning

import (
	"context"
	"time"

	"github.com/skald-engine/skald"
)

// batch is how many documents are embedded in one transaction.
const batch = 256

// Run embeds in the background what the model has not embedded yet: documents of an older store, of another model, and those that were
// written while a model behind a network serves. What is done is in the store, so that a run goes on where one that was killed ended. It
// returns when ctx ends.
func (s *Store) Run(ctx context.Context) {
	s.warm(ctx)
	pause := s.o.Pause
	for ctx.Err() == nil {
		err := s.embedAll(ctx)
		if err == nil {
			s.failed.Store(nil)
			pause = s.o.Pause
			select {
			case <-ctx.Done():
			case <-s.wake:
			}
			continue
		}
		if ctx.Err() != nil {
			return
		}
		text := err.Error()
		s.failed.Store(&text)
		s.o.Log.Warn("documents wait to be embedded", "model", s.o.Model.Name(), "again_in", pause, "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, s.o.MaxPause)
	}
}

// warm has the store and the local model load what they keep in memory, so that the first search need not wait for it.
func (s *Store) warm(ctx context.Context) {
	m := s.atOnce()
	if m == nil {
		return
	}
	err := s.Store.View(ctx, func(tx skald.Tx) error {
		v, err := m.Query(ctx, "warm")
		if err == nil && len(v) > 0 {
			_, err = tx.Near(skald.NearQuery{Vector: v, Model: m.Name(), Limit: 1})
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		s.o.Log.Warn("the vectors are not loaded yet", "error", err)
	}
}

// embedAll embeds everything: first by the model that is at hand, where that is another one, for what no model serves yet.
func (s *Store) embedAll(ctx context.Context) error {
	if m := s.o.Meanwhile; m != nil {
		if err := s.pass(ctx, m, []string{m.Name(), s.o.Model.Name()}); err != nil {
			return err
		}
	}
	err := s.pass(ctx, s.o.Model, []string{s.o.Model.Name()})
	if err == nil {
		s.waiting.Store(false) // what was written meanwhile has woken the next pass
	}
	return err
}

// pass embeds the documents that are of none of the models of done.
func (s *Store) pass(ctx context.Context, m skald.Embedder, done []string) error {
	var after int64
	for first := true; ; first = false {
		list, err := s.next(ctx, done, after)
		if err != nil || len(list) == 0 {
			return err
		}
		if first {
			s.waiting.Store(true)
			s.o.Log.Info("documents are being embedded", "model", m.Name())
		}
		if err := s.embedSome(ctx, m, list); err != nil {
			return err
		}
		after = list[len(list)-1].ID
	}
}

// next reads a batch of documents with their texts.
func (s *Store) next(ctx context.Context, done []string, after int64) (list []skald.Doc, err error) {
	err = s.Store.View(ctx, func(tx skald.Tx) error {
		if list, err = tx.Unembedded(done, after, batch); err != nil {
			return err
		}
		r := &reader{tx: tx}
		for i := range list {
			if list[i].Text, err = r.text(list[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}

// embedSome embeds a batch. A document without a text is said to mean nothing.
func (s *Store) embedSome(ctx context.Context, m skald.Embedder, list []skald.Doc) error {
	if err := embed(ctx, m, list); err != nil {
		return err
	}
	vectors := make([]skald.DocVector, len(list))
	for i, d := range list {
		vectors[i] = skald.DocVector{ID: d.ID, Vector: d.Vector}
	}
	return s.Store.Update(ctx, func(tx skald.Tx) error { return tx.PutVectors(m.Name(), vectors) })
}
