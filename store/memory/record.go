package memory

import (
	"cmp"
	"slices"

	"github.com/skald-engine/skald"
)

type recordKey struct {
	scope    skald.Scope
	kind, id string
}

func (t *tx) PutRecord(r skald.Record) error {
	if err := t.writing("store.put_record"); err != nil {
		return err
	}
	t.records = copied(t.records)
	r.Body = slices.Clone(r.Body)
	t.records[recordKey{r.Scope, r.Kind, r.ID}] = r
	return nil
}

func (t *tx) Record(scope skald.Scope, kind, id string) (skald.Record, error) {
	const op = "store.record"
	if err := t.reading(op); err != nil {
		return skald.Record{}, err
	}
	r, ok := t.records[recordKey{scope, kind, id}]
	if !ok {
		return skald.Record{}, skald.NotFound(op, kind+" "+id)
	}
	r.Body = slices.Clone(r.Body)
	return r, nil
}

func (t *tx) DeleteRecord(scope skald.Scope, kind, id string) error {
	if err := t.writing("store.delete_record"); err != nil {
		return err
	}
	t.records = copied(t.records)
	delete(t.records, recordKey{scope, kind, id})
	return nil
}

func (t *tx) Records(q skald.RecordQuery) ([]skald.Record, error) {
	if err := t.reading("store.records"); err != nil {
		return nil, err
	}
	var out []skald.Record
	for _, r := range t.records {
		if r.Kind == q.Kind && inScopes(q.Scopes, r.Scope, true) {
			r.Body = slices.Clone(r.Body)
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b skald.Record) int {
		return cmp.Or(cmp.Compare(a.Scope.Key(), b.Scope.Key()), cmp.Compare(a.ID, b.ID))
	})
	return limited(out, q.Limit), nil
}
