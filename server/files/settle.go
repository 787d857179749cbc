package files

import (
	"context"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/tree"
)

const (
	pause     = 500 * time.Millisecond // after a change, for more of them to come
	atOnce    = 64                     // folders in one transaction
	sweepTime = 10 * time.Second       // looks for what other rooms changed
)

// changed tells Run that folders are out of date. It never blocks.
func (f *Files) changed() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Run brings the texts of folders up to date after changes, many changes at a time, until ctx ends. What a killed daemon left is done at
// the start. report is told of failures, which are tried again.
func (f *Files) Run(ctx context.Context, report func(error)) {
	sweep := time.NewTicker(sweepTime)
	defer sweep.Stop()
	for {
		if err := f.settle(ctx, nil); err != nil && ctx.Err() == nil {
			report(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-sweep.C:
			continue
		case <-f.wake:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// Settle implements api.Files.
func (f *Files) Settle(ctx context.Context, id skald.Identity) error {
	return f.settle(ctx, f.engine.Policy().Readable(id))
}

// Waiting counts the folders, of all tenants, whose texts are out of date.
func (f *Files) Waiting(ctx context.Context) (n int, err error) {
	err = f.store.View(ctx, func(tx skald.Tx) error {
		n, err = tree.Waiting(tx, nil)
		return err
	})
	return n, err
}

// settle works until no folder is out of date. It asks first on a snapshot: mostly there is nothing to do.
func (f *Files) settle(ctx context.Context, scopes []skald.Scope) error {
	for {
		waiting := 0
		err := f.store.View(ctx, func(tx skald.Tx) (err error) {
			waiting, err = tree.Waiting(tx, scopes)
			return err
		})
		if err != nil || waiting == 0 {
			return err
		}
		err = f.store.Update(ctx, func(tx skald.Tx) error {
			_, err := tree.Refresh(tx, scopes, atOnce, f.engine.Now())
			return err
		})
		if err != nil {
			return err
		}
	}
}
