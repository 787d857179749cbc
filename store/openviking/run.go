package openviking

import (
	"context"
	"encoding/json"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client/openviking"
)

// Run delivers what the server lacks until ctx ends. One process runs it for a data folder, which the local store's lock sees to. A failure
// leaves everything where it is; the next round reads back what the server has before it sends anything again.
func (s *Store) Run(ctx context.Context) {
	failures := 0
	for ctx.Err() == nil {
		wait, err := s.round(ctx)
		if err == nil {
			failures = 0
			s.rest(ctx, wait, s.wake)
			continue
		}
		if ctx.Err() != nil {
			return
		}
		if failures == 0 {
			s.o.Log.Warn("the OpenViking server cannot be used; turns wait in the local store", "error", err)
		}
		s.server.checked = time.Time{}
		s.health.failed(err)
		s.health.tried.set()
		s.rest(ctx, s.pause(failures), nil) // a turn that is stored meanwhile must not hurry a server that is down
		failures++
	}
}

// pause grows with failures in a row.
func (s *Store) pause(failures int) time.Duration {
	d := s.o.Pause
	for range failures {
		if d *= 2; d >= s.o.MaxPause {
			return s.o.MaxPause
		}
	}
	return d
}

func (s *Store) rest(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-wake:
	}
}

// round does everything that is due and says when to look again. Its error is about the server as a whole, or the local store.
func (s *Store) round(ctx context.Context) (time.Duration, error) {
	for _, step := range []func(context.Context) error{s.probe, s.rebuild, s.deliverJournal} {
		if err := step(ctx); err != nil {
			return 0, err
		}
	}
	return s.deliverDue(ctx)
}

// deliverDue delivers each due session. One that fails by itself waits longer each time and keeps no other waiting.
func (s *Store) deliverDue(ctx context.Context) (time.Duration, error) {
	list, err := s.records(ctx, skald.RecordQuery{Kind: kindDue})
	if err != nil {
		return 0, err
	}
	wait := checkEvery
	for _, r := range list {
		var d due
		if err := json.Unmarshal(r.Body, &d); err != nil {
			return 0, skald.E("openviking.due", skald.KindInternal, "session %s: %w", r.ID, err)
		}
		if in := d.RunAt.Sub(s.now()); in > 0 {
			wait = min(wait, in)
			continue
		}
		again, err := s.deliver(ctx, skald.SessionRef{Scope: r.Scope, ID: r.ID})
		if err != nil {
			if openviking.Down(err) || ctx.Err() != nil {
				return 0, err
			}
			again = s.pause(d.Attempts)
			s.o.Log.Warn("a session cannot be delivered", "session", r.ID, "attempt", d.Attempts+1, "error", err)
		}
		if again > 0 {
			wait = min(wait, again)
		}
		if err := s.settle(ctx, r, again, err); err != nil {
			return 0, err
		}
	}
	return wait, nil
}

// settle takes a session's mark away when the server lacks nothing any more, and sets the next look at it otherwise.
func (s *Store) settle(ctx context.Context, r skald.Record, again time.Duration, failure error) error {
	return s.local.Update(ctx, func(tx skald.Tx) error {
		var d due
		ref := skald.SessionRef{Scope: r.Scope, ID: r.ID}
		if found, err := readRecord(tx, r.Scope, kindDue, r.ID, &d); err != nil || !found {
			return err
		}
		switch {
		case failure != nil:
			d.Attempts, d.Error = d.Attempts+1, failure.Error()
		case again == 0:
			done, err := s.complete(tx, ref)
			if err != nil {
				return err
			}
			if done {
				return tx.DeleteRecord(r.Scope, kindDue, r.ID)
			}
			s.awake()
			d = due{Since: s.now()}
		default:
			d.Attempts, d.Error = 0, ""
		}
		d.RunAt = s.now().Add(again)
		return putRecord(tx, r.Scope, kindDue, r.ID, d, s.now())
	})
}

// complete reports whether the server has all of a session.
func (s *Store) complete(tx skald.Tx, ref skald.SessionRef) (bool, error) {
	st, err := readState(tx, ref)
	if err != nil {
		return false, err
	}
	_, last, err := tx.LastLink(ref)
	if err != nil {
		return false, err
	}
	archives, err := tx.Archives(ref, st.Commits+1)
	return st.Pushed >= last && len(archives) == 0 && len(st.Waiting) == 0, err
}
