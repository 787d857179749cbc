package engine

import (
	"context"

	"github.com/skald-engine/skald"
)

// Event takes hints from the host. A reset is known for sure only when assemble shows it; a restart or shutdown never ends a
// session (CRS-08).
func (e *Engine) Event(ctx context.Context, r skald.EventRequest) error {
	switch r.Event {
	case "gateway_stop":
		return e.flushUser(ctx, r.Request)
	case "bypassed":
		return e.wentPast(r)
	case "before_reset":
		return e.commitSession(ctx, r.Request, "reset")
	case "session_end":
		if r.Reason == "new" || r.Reason == "reset" || r.Reason == "deleted" {
			return e.commitSession(ctx, r.Request, "reset")
		}
	}
	return nil
}

// flushUser commits what the sessions of one user have open: their gateway stops, not the daemon, which others may use too.
func (e *Engine) flushUser(ctx context.Context, r skald.Request) error {
	id := identity(r)
	_, err := e.commitOpen(ctx, e.now(r), func(s skald.Session) string {
		if s.Ref.Scope.Account == id.Account && s.Ref.Scope.User == id.User {
			return stopping(s)
		}
		return ""
	})
	return err
}

// commitSession commits what one session has open.
func (e *Engine) commitSession(ctx context.Context, r skald.Request, cause string) error {
	ref, err := e.ref(r, e.settings(r.Settings))
	if err != nil {
		return err
	}
	_, err = e.commitOpen(ctx, e.now(r), func(s skald.Session) string {
		if s.Ref == ref {
			return cause
		}
		return ""
	})
	return err
}
