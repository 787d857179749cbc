package backend

import (
	"context"
	"errors"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
)

// Run commits idle sessions and removes expired tasks, now and then, until ctx ends.
func (b *Backend) Run(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_, err := b.Sweep(ctx)
			b.report("sweep", "", errors.Join(err, b.expire(ctx)))
		}
	}
}

// Sweep commits the sessions that have been quiet for as long as their own policy says, and tells how many. Nothing of them is kept open:
// whoever comes back finds the summary. One that fails does not keep the others waiting.
func (b *Backend) Sweep(ctx context.Context) (n int, err error) {
	var open []skald.Session
	err = b.store.View(ctx, func(tx skald.Tx) (err error) {
		open, err = tx.Sessions(skald.SessionQuery{Open: true})
		return err
	})
	failed := []error{err}
	for _, s := range open {
		if ctx.Err() != nil {
			return n, errors.Join(append(failed, ctx.Err())...)
		}
		if len(s.Policy) == 0 || string(s.Policy) == string(noPolicy) {
			continue
		}
		done, err := b.commitIdle(ctx, s.Ref)
		if done {
			n++
		}
		failed = append(failed, err)
	}
	if n > 0 {
		b.engine.Committed()
	}
	return n, errors.Join(failed...)
}

func (b *Backend) commitIdle(ctx context.Context, ref skald.SessionRef) (done bool, err error) {
	err = b.store.Update(ctx, func(tx skald.Tx) error {
		done = false
		s, err := load(tx, ref)
		if err != nil {
			return err
		}
		p, err := s.policy()
		now := b.engine.Now()
		if err != nil || p == nil || !idle(&s, *p, now) {
			return err
		}
		c, err := commit(tx, &s, api.CommitOptions{}, "interval", now)
		if err != nil || !c.Archived {
			return err
		}
		s.note.LastAuto, s.note.LastIdle, done = now, now, true
		return s.save(tx)
	})
	return done && err == nil, err
}

// idle reports a session whose newest message is old enough. A timeout of 0 is off.
func idle(s *state, p api.AutoCommitPolicy, now time.Time) bool {
	wait := time.Duration(p.IdleSeconds) * time.Second
	return wait > 0 && s.LastSeq >= s.OpenFrom && now.Sub(s.LastCommitTurn) >= wait && !paused(s, p, now)
}

// paused reports that a commit failed, or an automatic one was made, too recently for the next one.
func paused(s *state, p api.AutoCommitPolicy, now time.Time) bool {
	pause := time.Duration(p.MinInterval) * time.Second
	return now.Before(s.RetryAt) || !s.note.LastAuto.IsZero() && now.Sub(s.note.LastAuto) < pause
}
