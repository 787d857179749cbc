package engine

import (
	"context"
	"encoding/json"
	"time"

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
		result.LastSeq, result.Epoch, result.Lifecycle, result.Cursor = s.LastSeq, max(1, s.Epoch), s.Lifecycle, s.Cursor
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
	d := delivery{by: byCursor, messages: entries(r.Entries), reset: r.Reset, lifecycle: r.Session.Lifecycle, now: e.now(r.Request)}
	if !set.autoCapture { // the cursor goes on: what was said while the user had opted out is never imported later
		e.skipped.add()
		d.messages = nil
	}
	err = e.store.Update(ctx, func(tx skald.Tx) error {
		s, err := open(tx, ref, r.Request, d.began())
		if err != nil {
			return err
		}
		got, err := e.append(tx, &s, d)
		if err != nil {
			return err
		}
		if len(r.Cursor) > 0 {
			s.Cursor = append(json.RawMessage(nil), r.Cursor...)
		}
		if len(got.stored) > 0 && d.now.After(s.Updated) { // an import tells the time at which it was said
			s.Updated = d.now
		}
		result = skald.ReconcileResult{Imported: len(got.stored), Known: len(d.messages) - len(got.stored) - got.dead, LastSeq: s.LastSeq}
		return tx.PutSession(s)
	})
	if err != nil {
		e.note("reconcile", ref.ID, err)
		return skald.ReconcileResult{}, err
	}
	e.opts.Metrics.Count("turns_stored", result.Imported)
	return result, nil
}

// began is the time of the first message that tells one: a session is as old as what was said in it.
func (d delivery) began() time.Time {
	for _, in := range d.messages {
		if in.timed() && in.msg.Timestamp.Before(d.now) {
			return in.msg.Timestamp
		}
	}
	return d.now
}

// entries reads the entries of the host's transcript.
func entries(list []skald.Entry) []incoming {
	out := make([]incoming, len(list))
	parallel(len(list), func(i int) { out[i] = convert(list[i].Message) })
	for i, entry := range list {
		out[i].entryID, out[i].afterReset = entry.EntryID, entry.Reset
		if entry.Position != nil {
			out[i].position = *entry.Position
		}
	}
	return out
}
