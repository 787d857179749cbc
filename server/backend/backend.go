// Package backend puts OpenViking's API (package api) on Skald's engine and store: it implements api.Backend. Reads and writes are
// transactions of the store; what turns a message into a stored turn is the engine's own write path.
//
// A session that is made through /api/v1 is marked by a Policy, also when that policy is "off": the engine's triggers, its sweep
// and its flush at the end leave such sessions alone. A session that a host made keeps the engine's triggers, whoever writes to it.
package backend

import (
	"context"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/server/api"
)

// Backend implements api.Backend.
type Backend struct {
	engine *engine.Engine
	store  skald.Store
	limits api.ResultLimits
}

var (
	_ api.Backend     = (*Backend)(nil)
	_ api.Settings    = (*Backend)(nil)
	_ api.ToolResults = (*Backend)(nil)
	_ api.Tasks       = (*Backend)(nil)
	_ api.System      = (*Backend)(nil)
)

// New makes a backend of an engine and the store that it works on.
func New(e *engine.Engine, store skald.Store) *Backend {
	return &Backend{engine: e, store: store, limits: api.DefaultResultLimits}
}

// Limit sets which results of tools are shown as stubs.
func (b *Backend) Limit(l api.ResultLimits) { b.limits = l }

// Parts are the parts of /api/v1 that this backend serves.
func (b *Backend) Parts() api.Deps {
	return api.Deps{Backend: b, Settings: b, Results: b, Tasks: b, System: b}
}

func (b *Backend) ref(id skald.Identity, session string) skald.SessionRef {
	return skald.SessionRef{Scope: b.engine.Policy().UserScope(id), ID: session}
}

// scopes are what the identity may read, the user's first.
func (b *Backend) scopes(id skald.Identity) []skald.Scope { return b.engine.Policy().Readable(id) }

// change runs fn on a stored session and stores what became of it.
func (b *Backend) change(ctx context.Context, op string, ref skald.SessionRef, fn func(skald.Tx, *state) error) error {
	err := b.store.Update(ctx, func(tx skald.Tx) error {
		s, err := load(tx, ref)
		if err != nil {
			return err
		}
		if err := fn(tx, &s); err != nil {
			return err
		}
		return s.save(tx)
	})
	b.report(op, ref.ID, err)
	return err
}

// report shows faults of the store in status; a caller's mistake is none.
func (b *Backend) report(op, session string, err error) {
	switch skald.KindOf(err) {
	case skald.KindInternal, skald.KindUnavailable, skald.KindDeadline:
		b.engine.Report(op, session, err)
	}
}
