package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/skald-engine/skald"
)

// deletedKind is the kind of the records that stay of deleted sessions: their receipts.
const deletedKind = "deleted_session"

// DeleteSession implements skald.Inspector. Nothing of the session's words stays in the store but what became a memory: it says then where
// it came from, and when that was deleted.
func (e *Engine) DeleteSession(ctx context.Context, id skald.Identity, session string) (d skald.SessionDeletion, err error) {
	var ref skald.SessionRef
	var jobs []int64
	err = e.store.Update(ctx, func(tx skald.Tx) error {
		s, err := e.find(tx, id, session)
		if err != nil {
			return err
		}
		ref = s.Ref
		d, jobs, err = e.purge(tx, id, s)
		return err
	})
	if err != nil {
		return skald.SessionDeletion{}, err
	}
	e.bypasses.end(ref)
	for _, j := range jobs {
		e.runner.Stop(j)
	}
	return d, nil
}

// purge deletes a session within the caller's transaction, and names the jobs that went with it.
func (e *Engine) purge(tx skald.Tx, id skald.Identity, s skald.Session) (d skald.SessionDeletion, jobs []int64, err error) {
	d = skald.SessionDeletion{Session: s.Ref.ID, URI: s.Ref.URI(), Deleted: e.Now().UTC(), Turns: s.LastSeq, Archives: s.Archives}
	if jobs, err = jobsOf(tx, s.Ref); err != nil {
		return d, nil, err
	}
	if d.Memories, err = e.orphan(tx, id, s, d.Deleted); err != nil {
		return d, nil, err
	}
	if d.Recalls, err = emptyRecalls(tx, s.Ref); err != nil {
		return d, nil, err
	}
	body, err := json.Marshal(d)
	if err != nil {
		return d, nil, skald.E("engine.delete_session", skald.KindInternal, "%w", err)
	}
	receipt := skald.Record{Scope: s.Ref.Scope, Kind: deletedKind, ID: s.Ref.ID, Body: body, Updated: d.Deleted}
	shown := tx.DeleteRecord(s.Ref.Scope, skald.RecordShown, s.Ref.ID)
	return d, jobs, errors.Join(tx.DeleteSession(s.Ref), shown, tx.PutRecord(receipt))
}

func jobsOf(tx skald.Tx, ref skald.SessionRef) (ids []int64, err error) {
	list, err := tx.Jobs([]skald.Scope{ref.Scope}, 0)
	for _, j := range list {
		if j.Session == ref {
			ids = append(ids, j.ID)
		}
	}
	return ids, err
}

// orphan marks the sources of the memories that were made of the session. Another session may take its id and must not be taken for
// their source.
func (e *Engine) orphan(tx skald.Tx, id skald.Identity, s skald.Session, at time.Time) (int, error) {
	agent := id
	agent.Agent = s.Agent
	scopes := append(e.opts.Policy.Readable(id), e.opts.Policy.AgentScope(agent))
	list, err := tx.Memories(skald.MemoryQuery{Scopes: scopes, Source: &s.Ref})
	for _, m := range list {
		for i := range m.Sources {
			if m.Sources[i].Session == s.Ref && m.Sources[i].Deleted.IsZero() {
				m.Sources[i].Deleted = at
			}
		}
		if err := tx.PutMemory(m); err != nil {
			return 0, err
		}
	}
	return len(list), err
}

// emptyRecalls takes the session's words out of what other sessions were shown, and out of the traces of how it was found.
func emptyRecalls(tx skald.Tx, ref skald.SessionRef) (n int, err error) {
	sessions, err := tx.Sessions(skald.SessionQuery{Scopes: []skald.Scope{ref.Scope}})
	for _, s := range sessions {
		if err := tx.DeleteTraces(s.Ref, string(ref.URI())+"/"); err != nil {
			return n, err
		}
		placed, err := tx.Recalls(s.Ref, 0)
		if err != nil {
			return n, err
		}
		changed := false
		for _, r := range placed {
			if s.Ref == ref || len(r.Messages) == 0 || !shows(r, ref) {
				continue
			}
			if err := tx.PutRecall(s.Ref, skald.PlacedRecall{AfterSeq: r.AfterSeq, TurnID: r.TurnID, Time: r.Time}); err != nil {
				return n, err
			}
			changed = true
			n++
		}
		if !changed {
			continue
		}
		s.Publication++ // what the model saw has changed
		if err := tx.PutSession(s); err != nil {
			return n, err
		}
	}
	return n, err
}

// shows reports a recall of something of the session.
func shows(r skald.PlacedRecall, ref skald.SessionRef) bool {
	folder := string(ref.URI())
	for _, u := range r.URIs {
		if u == folder || strings.HasPrefix(u, folder+"/") {
			return true
		}
	}
	return false
}

// Gone says of a session that is not found whether it was deleted, and when.
func Gone(tx skald.Tx, ref skald.SessionRef, err error) error {
	if skald.KindOf(err) != skald.KindNotFound {
		return err
	}
	r, missing := tx.Record(ref.Scope, deletedKind, ref.ID)
	if missing != nil {
		return err
	}
	var d skald.SessionDeletion
	if bad := json.Unmarshal(r.Body, &d); bad != nil {
		return err
	}
	return &skald.Error{Op: "session", URI: string(ref.URI()), Field: "deleted", Kind: skald.KindNotFound,
		Err: fmt.Errorf("deleted on %s; it had %d turns, and %d memories made of it stay", d.Deleted.UTC().Format(time.RFC3339), d.Turns, d.Memories)}
}
