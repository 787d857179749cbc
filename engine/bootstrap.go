package engine

import (
	"context"
	"encoding/json"

	"github.com/skald-engine/skald"
)

// Bootstrap tells where the store stands, so that the adapter can deliver through Reconcile what the host has and the store lacks.
func (e *Engine) Bootstrap(ctx context.Context, r skald.BootstrapRequest) (skald.BootstrapResult, error) {
	ref, err := e.ref(r.Request, e.settings(r.Settings))
	if err != nil {
		return skald.BootstrapResult{}, err
	}
	result := skald.BootstrapResult{SessionID: ref.ID, Epoch: 1}
	err = e.store.View(ctx, func(tx skald.Tx) error {
		s, err := tx.Session(ref)
		if skald.KindOf(err) == skald.KindNotFound {
			return nil
		}
		result.LastSeq, result.Epoch, result.Cursor = s.LastSeq, max(1, s.Epoch), s.Cursor
		return err
	})
	return result, err
}

// Reconcile stores what the host's transcript has and the store lacks: aborted, failed and retried runs, announcements, turns that
// ran on legacy, and the history before Skald. The cursor is stored in the same transaction, so that it never runs ahead of what
// is stored (CAP-09, CRS-04).
func (e *Engine) Reconcile(ctx context.Context, r skald.ReconcileRequest) (skald.ReconcileResult, error) {
	set := e.settings(r.Settings)
	ref, err := e.ref(r.Request, set)
	if err != nil {
		return skald.ReconcileResult{}, err
	}
	result := skald.ReconcileResult{}
	if !set.autoCapture {
		return result, nil
	}
	now := e.now(r.Request)
	err = e.store.Update(ctx, func(tx skald.Tx) error {
		s, err := open(tx, ref, r.Request, now)
		if err != nil {
			return err
		}
		stored := 0
		for _, exchange := range exchanges(r.Entries) {
			turns, err := e.append(tx, &s, delivery{by: byCursor, messages: exchange, now: now})
			if err != nil {
				return err
			}
			stored += len(turns)
		}
		if len(r.Cursor) > 0 {
			s.Cursor = append(json.RawMessage(nil), r.Cursor...)
		}
		if stored > 0 {
			s.Updated = now
		}
		result = skald.ReconcileResult{Imported: stored, Known: len(r.Entries) - stored, LastSeq: s.LastSeq}
		return tx.PutSession(s)
	})
	if err != nil {
		e.note("reconcile", ref.ID, err)
	}
	e.opts.Metrics.Count("turns_stored", result.Imported)
	return result, err
}

// exchanges cuts transcript entries before each user message, so that every exchange gets its own purpose and id.
func exchanges(entries []skald.Entry) [][]incoming {
	var out [][]incoming
	for _, entry := range entries {
		in := convert(entry.Message)
		in.entryID = entry.EntryID
		if entry.Position != nil {
			in.position = *entry.Position
		}
		if len(out) == 0 || in.msg != nil && in.msg.SkaldRole() == skald.RoleUser {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], in)
	}
	return out
}
