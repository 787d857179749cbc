package engine

import (
	"context"
	"errors"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
)

// count adds a stored turn to the open turns. Turns that never count leave the numbers alone.
func count(s *skald.Session, t skald.Turn, purpose skald.Purpose) {
	s.Unviewed += t.Tokens
	if purpose != skald.PurposeTalk {
		return
	}
	s.OpenTokens += t.Tokens
	if t.Role == skald.RoleUser {
		s.OpenUserTurns++
	}
	if s.OpenSince.IsZero() {
		s.OpenSince = t.Time
	}
}

// trigger evaluates the four triggers in their order (000-044 to 000-048) and returns the cause of the first hit, or "".
func trigger(s skald.Session, set settings, now time.Time) string {
	if set.noCommit || s.OpenTokens == 0 || now.Before(s.RetryAt) || ownPolicy(s) {
		return ""
	}
	since := s.LastCommit
	if since.IsZero() {
		since = s.OpenSince
	}
	switch {
	case !set.patient && (s.Budget > 0 && float64(s.OpenTokens) >= set.commitThreshold*float64(s.Budget) || pressed(s)):
		return "budget"
	case s.OpenTokens >= set.commitTokens:
		return "tokens"
	case s.OpenUserTurns >= commitUserTurns:
		return "turns"
	case s.OpenUserTurns >= 1 && now.Sub(since) >= commitMinutes*time.Minute:
		return "interval"
	}
	return ""
}

// pressed reports that a publication is near while a good part of what is shown is not archived yet. In a small window, or behind a large
// set of tools, the host's own compaction comes before the open turns alone reach their share; and what an earlier commit left open would
// otherwise not leave with the rest. What is archived now can be published in time.
func pressed(s skald.Session) bool {
	view, near := s.ViewTokens+s.Unviewed, s.Budget/8
	if s.Budget == 0 || 4*s.OpenTokens < view {
		return false
	}
	archived := s.OpenFrom > s.EpochFrom
	return s.ReportedInput >= preflight(s.Budget)-near || archived && float64(view) >= highWater*float64(s.Budget)-float64(near)
}

// ownPolicy reports a session written through /api/v1, which commits by its own policy only.
func ownPolicy(s skald.Session) bool { return len(s.Policy) > 0 }

// Sweep commits the sessions whose open turns have waited for half an hour (000-047), and those whose trigger hit while a back-off
// lasted. It returns how many it committed.
func (e *Engine) Sweep(ctx context.Context, now time.Time) (int, error) {
	return e.commitOpen(ctx, now, func(s skald.Session) string { return trigger(s, e.settings(skald.Settings{}), now) })
}

// Flush commits every session with open turns: the daemon or the gateway stops (000-050).
func (e *Engine) Flush(ctx context.Context) (int, error) {
	return e.commitOpen(ctx, e.opts.Clock().UTC(), stopping)
}

func stopping(s skald.Session) string {
	if ownPolicy(s) {
		return ""
	}
	return "stop"
}

// commitOpen commits the sessions with open turns for which there is a cause. One that fails does not keep the others waiting.
func (e *Engine) commitOpen(ctx context.Context, now time.Time, cause func(skald.Session) string) (int, error) {
	var due []skald.Session
	err := e.store.View(ctx, func(tx skald.Tx) (err error) {
		due, err = tx.Sessions(skald.SessionQuery{Open: true})
		return err
	})
	done, failed := 0, []error{err}
	for _, s := range due {
		if ctx.Err() != nil {
			failed = append(failed, ctx.Err())
			break
		}
		if s.OpenTokens == 0 || cause(s) == "" {
			continue
		}
		closed, err := e.commitOne(ctx, s.Ref, now, cause)
		if closed {
			done++
		}
		if err != nil {
			e.note("commit", s.Ref.ID, err)
			failed = append(failed, err)
		}
	}
	if done > 0 {
		e.opts.Metrics.Count("commits", done)
		e.runner.Wake()
	}
	return done, errors.Join(failed...)
}

func (e *Engine) commitOne(ctx context.Context, ref skald.SessionRef, now time.Time, cause func(skald.Session) string) (closed bool, err error) {
	err = e.store.Update(ctx, func(tx skald.Tx) error {
		closed = false
		s, err := tx.Session(ref)
		if err != nil || s.OpenTokens == 0 || cause(s) == "" {
			return err
		}
		if _, closed, err = archive.Close(tx, &s, cause(s), now); err != nil {
			return err
		}
		return tx.PutSession(s)
	})
	return closed && err == nil, err
}

func (e *Engine) sweepLoop(ctx context.Context, every time.Duration) {
	if every <= 0 {
		return
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if _, err := e.Sweep(ctx, e.opts.Clock().UTC()); err != nil {
				e.note("sweep", "", err)
			}
		}
	}
}
