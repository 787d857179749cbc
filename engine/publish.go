package engine

import (
	"context"
	"strconv"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/strategy"
)

// publish moves the published point in one transaction: from one assemble to the next the model sees either the old view or the new
// one. Recalls before the point leave with the turns that they stood before.
func (e *Engine) publish(ctx context.Context, s *skald.Session, in strategy.Input, target strategy.Target) (strategy.Publication, error) {
	var p strategy.Publication
	err := e.store.Update(ctx, func(tx skald.Tx) error {
		fresh, err := tx.Session(s.Ref)
		if err != nil {
			return err
		}
		in.Session = fresh
		if p, err = e.strategy.Publish(tx, in, target); err != nil || p.Through <= fresh.Published {
			return err
		}
		fresh.Published, fresh.Head, fresh.HeadSet = p.Through, p.Head, true
		fresh.Publication++
		fresh.ReportedInput, fresh.ViewTokens, fresh.Unviewed = 0, p.After, 0 // older counts are worth nothing now (CMP-01, TOK-03)
		*s = fresh
		return tx.PutSession(fresh)
	})
	if err == nil && p.Through > 0 {
		e.opts.Metrics.Count("publications", 1)
	}
	return p, err
}

// projection names what the model sees before the raw turns; it changes on publication and reset only.
func projection(s skald.Session) string {
	return s.Ref.ID + "." + strconv.Itoa(s.Epoch) + "." + strconv.Itoa(s.Publication)
}
