package engine

import (
	"context"
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
	if set.noCommit || s.OpenTokens == 0 || now.Before(s.RetryAt) {
		return ""
	}
	since := s.LastCommit
	if since.IsZero() {
		since = s.OpenSince
	}
	switch {
	case s.Budget > 0 && float64(s.OpenTokens) >= set.commitThreshold*float64(s.Budget):
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

// Sweep commits the sessions whose open turns have waited for half an hour (000-047). It returns how many it committed.
func (e *Engine) Sweep(ctx context.Context, now time.Time) (int, error) {
	return e.commitOpen(ctx, now, func(s skald.Session) string {
		if cause := trigger(s, e.settings(skald.Settings{}), now); cause == "interval" {
			return cause
		}
		return ""
	})
}

// Flush commits every session with open turns: the daemon or the gateway stops (000-050).
func (e *Engine) Flush(ctx context.Context) (int, error) {
	return e.commitOpen(ctx, e.opts.Clock().UTC(), func(skald.Session) string { return "stop" })
}

func (e *Engine) commitOpen(ctx context.Context, now time.Time, cause func(skald.Session) string) (int, error) {
	var due []skald.Session
	err := e.store.View(ctx, func(tx skald.Tx) (err error) {
		due, err = tx.Sessions(skald.SessionQuery{Open: true})
		return err
	})
	done := 0
	for _, s := range due {
		if err != nil || ctx.Err() != nil {
			break
		}
		if s.OpenTokens == 0 || cause(s) == "" {
			continue
		}
		err = e.store.Update(ctx, func(tx skald.Tx) error {
			fresh, err := tx.Session(s.Ref)
			if err != nil || fresh.OpenTokens == 0 || cause(fresh) == "" {
				return err
			}
			if _, _, err := archive.Close(tx, &fresh, cause(fresh), now); err != nil {
				return err
			}
			return tx.PutSession(fresh)
		})
		done++
	}
	if done > 0 {
		e.opts.Metrics.Count("commits", done)
		e.runner.Wake()
	}
	return done, err
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
