package sqlite

import (
	"context"
	"database/sql/driver"
	"sync"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/internal/near"
)

// vectors keeps the vectors of all documents in memory, by scope: reading them from the file for each search would take a hundred times as
// long. They are loaded with the first search, and commits keep them up to date; for 100,000 documents they take 15 MB. A document that a
// view's snapshot does not have yet falls out when its row is read.
type vectors struct {
	loading sync.Mutex // held by the one that loads
	mu      sync.RWMutex
	state   int
	scopes  map[int64]*near.Flat
	missed  []change // what was committed while they were loaded
}

// The states of vectors.
const (
	unloaded = iota
	underWay
	loaded
)

// change is a vector that was added, or, with none, the end of one.
type change struct {
	scope, id int64
	kind      skald.DocKind
	vector    []int8
}

// commit takes over what a group has changed.
func (v *vectors) commit(changes []change) {
	if len(changes) == 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch v.state {
	case underWay:
		v.missed = append(v.missed, changes...)
	case loaded:
		v.apply(changes)
	}
}

func (v *vectors) apply(changes []change) {
	for _, c := range changes {
		f := v.scopes[c.scope]
		if f == nil {
			f = &near.Flat{}
			v.scopes[c.scope] = f
		}
		if c.vector == nil {
			f.Delete(c.id)
		} else {
			f.Put(c.id, c.kind, c.vector)
		}
	}
}

// ready loads the vectors when nobody has. The snapshot that they are read from begins after the state says so: what is committed before it
// is in it, what is committed later is remembered.
func (v *vectors) ready(ctx context.Context, s *Store) error {
	v.loading.Lock()
	defer v.loading.Unlock()
	v.mu.Lock()
	if v.state == loaded {
		v.mu.Unlock()
		return nil
	}
	v.state, v.missed = underWay, nil
	v.mu.Unlock()
	var scopes map[int64]*near.Flat
	err := s.View(ctx, func(t skald.Tx) (err error) {
		scopes, err = t.(*tx).vectors()
		return err
	})
	v.mu.Lock()
	defer v.mu.Unlock()
	if err != nil {
		v.state, v.missed = unloaded, nil
		return err
	}
	v.state, v.scopes = loaded, scopes
	v.apply(v.missed)
	v.missed = nil
	return nil
}

// vectors reads all vectors of the file.
func (t *tx) vectors() (map[int64]*near.Flat, error) {
	v := vectors{scopes: map[int64]*near.Flat{}}
	const query = `SELECT id, scope, kind, vector FROM doc WHERE vector IS NOT NULL ORDER BY id`
	err := t.rows("doc.vectors", query, nil, func(row []driver.Value) error {
		var id, scope int64
		var kind driver.Value
		var b []byte
		if err := scan(row, &id, &scope, &kind, &b); err != nil {
			return err
		}
		v.apply([]change{{scope, id, skald.DocKind(kinds.word(kind)), numbers(b)}})
		return nil
	})
	return v.scopes, err
}

// Near scans the vectors of the scopes and reads the rows of the nearest.
func (t *tx) Near(q skald.NearQuery) (skald.NearResult, error) {
	if err := t.reading("store.near"); err != nil {
		return skald.NearResult{}, err
	}
	s := &search{tx: t, q: skald.SearchQuery{Scopes: q.Scopes, Kinds: q.Kinds, Limit: q.Limit}}
	var err error
	if s.scopes, err = t.known(q.Scopes); err != nil || len(q.Vector) == 0 || len(s.scopes) == 0 {
		return skald.NearResult{}, err
	}
	found, err := t.scan(s.scopes, q)
	if err != nil {
		return skald.NearResult{}, err
	}
	spare := 2 * q.Limit // some may be too new for the view
	var best []candidate
	for _, h := range found.Best(spare) {
		best = append(best, candidate{h.ID, h.Score})
	}
	if err := s.read(best); err != nil {
		return skald.NearResult{}, err
	}
	res := skald.NearResult{Hits: s.result.Hits}
	res.Docs, res.Mean, res.Deviation = found.Spread()
	return res, nil
}

// scan scores the vectors of the scopes, with those of the update that asks.
func (t *tx) scan(scopes []numbered, q skald.NearQuery) (*near.Found, error) {
	if t.store.writer == nil { // beside a process that writes: nobody tells of its commits
		all, err := t.vectors()
		if err != nil {
			return nil, err
		}
		return scanned(all, scopes, q), nil
	}
	v := &t.store.near
	if err := v.ready(t.ctx, t.store); err != nil {
		return nil, err
	}
	if t.writer != nil && len(t.writer.index.vectors) > 0 {
		own, err := t.vectors()
		if err != nil {
			return nil, err
		}
		return scanned(own, scopes, q), nil
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	return scanned(v.scopes, scopes, q), nil
}

func scanned(all map[int64]*near.Flat, scopes []numbered, q skald.NearQuery) *near.Found {
	var out near.Found
	for _, s := range scopes {
		if f := all[s.id]; f != nil {
			f.Scan(q.Vector, q.Kinds, &out)
		}
	}
	return &out
}

// blob and numbers turn a vector into its form in the file and back.
func blob(v []int8) any {
	if len(v) == 0 {
		return nil
	}
	b := make([]byte, len(v))
	for i, x := range v {
		b[i] = byte(x)
	}
	return b
}

func numbers(b []byte) []int8 {
	v := make([]int8, len(b))
	for i, x := range b {
		v[i] = int8(x)
	}
	return v
}
