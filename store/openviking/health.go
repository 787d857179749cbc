package openviking

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/skald-engine/skald"
)

// health is what the courier last saw of the server.
type health struct {
	mu      sync.Mutex
	version string
	ok      bool
	last    time.Time // of the newest answer
	err     string
	refusal string
	rebuilt latch // the server's sessions were read
	tried   latch // the first round is over, well or not
}

func (h *health) reached(version string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.version, h.ok, h.err, h.last = version, true, "", time.Now().UTC()
}

func (h *health) failed(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ok, h.err = false, err.Error()
}

func (h *health) refused(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refusal = err.Error()
}

// latch is something that happens once.
type latch struct {
	once sync.Once
	done chan struct{}
}

func (l *latch) set() { l.once.Do(func() { close(l.done) }) }

func (l *latch) wait(ctx context.Context) error {
	select {
	case <-l.done:
		return nil
	default:
	}
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Health implements skald.Store: the local store's, with what waits for the server. It calls no server.
func (s *Store) Health(ctx context.Context) (skald.StoreHealth, error) {
	out, err := s.local.Health(ctx)
	if err != nil {
		return out, err
	}
	out.Remote = s.health.describe(s.o.Client.URL())
	return out, s.local.View(ctx, func(tx skald.Tx) error { return s.outbox(tx, out.Remote) })
}

func (h *health) describe(url string) *skald.RemoteHealth {
	h.mu.Lock()
	defer h.mu.Unlock()
	return &skald.RemoteHealth{URL: url, Version: h.version, Reachable: h.ok, Seen: h.last, Error: h.err, Refused: h.refusal}
}

// outbox counts what the server lacks.
func (s *Store) outbox(tx skald.Tx, r *skald.RemoteHealth) error {
	list, err := tx.Records(skald.RecordQuery{Kind: kindDue})
	if err != nil {
		return err
	}
	for _, rec := range list {
		var d due
		if err := json.Unmarshal(rec.Body, &d); err != nil {
			return err
		}
		ref := skald.SessionRef{Scope: rec.Scope, ID: rec.ID}
		st, err := readState(tx, ref)
		if err != nil {
			return err
		}
		_, last, err := tx.LastLink(ref)
		if err != nil {
			return err
		}
		if n := last - st.Pushed; n > 0 {
			r.Turns += n
			r.Oldest = older(r.Oldest, d.Since)
		}
		r.Waiting += len(st.Waiting)
		if d.Error != "" && r.Error == "" {
			r.Error = "session " + rec.ID + ": " + d.Error
		}
	}
	changes, err := tx.Records(skald.RecordQuery{Scopes: []skald.Scope{s.home()}, Kind: kindJournal})
	for _, c := range changes {
		r.Changes++
		r.Oldest = older(r.Oldest, c.Updated)
	}
	return err
}

func older(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
