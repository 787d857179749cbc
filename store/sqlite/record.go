package sqlite

import (
	"cmp"
	"slices"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/internal/record"
)

func (t *tx) PutRecord(r skald.Record) error {
	if err := t.writing("store.put_record"); err != nil {
		return err
	}
	scope, err := t.needScope(r.Scope)
	if err != nil {
		return err
	}
	const query = `INSERT INTO record (scope, kind, rid, body) VALUES (?, ?, ?, ?)
		ON CONFLICT (scope, kind, rid) DO UPDATE SET body = excluded.body`
	return t.exec("record.put", query, scope, r.Kind, r.ID, record.Encode(r))
}

func (t *tx) Record(scope skald.Scope, kind, rid string) (skald.Record, error) {
	const op = "store.record"
	if err := t.reading(op); err != nil {
		return skald.Record{}, err
	}
	id, err := t.scopeID(scope)
	if err != nil {
		return skald.Record{}, err
	}
	const query = `SELECT body FROM record WHERE scope = ? AND kind = ? AND rid = ?`
	r, found, err := body[skald.Record](t, "record.get", query, id, kind, rid)
	if err == nil && !found {
		err = skald.NotFound(op, kind+" "+rid)
	}
	return r, err
}

func (t *tx) DeleteRecord(scope skald.Scope, kind, rid string) error {
	if err := t.writing("store.delete_record"); err != nil {
		return err
	}
	id, err := t.scopeID(scope)
	if err != nil || id == 0 {
		return err
	}
	return t.exec("record.delete", `DELETE FROM record WHERE scope = ? AND kind = ? AND rid = ?`, id, kind, rid)
}

func (t *tx) Records(q skald.RecordQuery) (out []skald.Record, err error) {
	if err := t.reading("store.records"); err != nil {
		return nil, err
	}
	if len(q.Scopes) == 0 {
		out, err = bodies[skald.Record](t, "record.all", `SELECT body FROM record WHERE kind = ?`, q.Kind)
	} else {
		out, err = t.recordsOf(q)
	}
	slices.SortFunc(out, func(a, b skald.Record) int {
		return cmp.Or(cmp.Compare(a.Scope.Key(), b.Scope.Key()), cmp.Compare(a.ID, b.ID))
	})
	return limited(out, q.Limit), err
}

func (t *tx) recordsOf(q skald.RecordQuery) ([]skald.Record, error) {
	scopes, err := t.known(q.Scopes)
	if err != nil {
		return nil, err
	}
	var out []skald.Record
	for _, scope := range scopes {
		list, err := bodies[skald.Record](t, "record.list", `SELECT body FROM record WHERE scope = ? AND kind = ?`, scope.id, q.Kind)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}
