package sqlite

import (
	"context"
	"database/sql/driver"
	"hash/fnv"
	"slices"
	"sync"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/internal/near"
)

// vectors keeps the vectors of all documents in memory, apart by scope, kind and model, so that a search looks at none that is not asked for:
// reading them from the file for each would take a hundred times as long. They are loaded with the first search, and commits keep them up to
// date. A document that a view's snapshot does not have yet falls out when its row is read.
type vectors struct {
	loading sync.Mutex // held by the one that loads
	mu      sync.RWMutex
	state   int
	scopes  map[int64]parts
	missed  []change // what was committed while they were loaded
}

// parts are the vectors of one scope.
type parts map[part]*near.Flat

type part struct {
	kind  skald.DocKind
	model int64
	dim   int
}

// The states of vectors.
const (
	unloaded = iota
	underWay
	loaded
)

// change is the vector that a document has from now on, or, with none, the end of it.
type change struct {
	scope, id int64
	kind      skald.DocKind
	model     int64
	vector    []int8
}

// modelCode is the number of a model in the file. Names are many bytes for each of many rows; two of one number are as likely as a wrong
// checksum.
func modelCode(name string) int64 {
	if name == "" {
		return 0
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return int64(h.Sum32())
}

// modelValue is the code as the column holds it.
func modelValue(name string) any {
	if name == "" {
		return nil
	}
	return modelCode(name)
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
		of := v.scopes[c.scope]
		for _, f := range of {
			f.Delete(c.id)
		}
		if len(c.vector) == 0 {
			continue
		}
		if of == nil {
			of = parts{}
			v.scopes[c.scope] = of
		}
		p := part{c.kind, c.model, len(c.vector)}
		if of[p] == nil {
			of[p] = &near.Flat{}
		}
		of[p].Put(c.id, c.vector)
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
	var scopes map[int64]parts
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
func (t *tx) vectors() (map[int64]parts, error) {
	v := vectors{scopes: map[int64]parts{}}
	const query = `SELECT id, scope, kind, coalesce(model, 0), vector FROM doc WHERE vector IS NOT NULL ORDER BY id`
	err := t.rows("doc.vectors", query, nil, func(row []driver.Value) error {
		var c change
		var kind driver.Value
		var b []byte
		if err := scan(row, &c.id, &c.scope, &kind, &c.model, &b); err != nil {
			return err
		}
		c.kind, c.vector = skald.DocKind(kinds.word(kind)), numbers(b)
		v.apply([]change{c})
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
	best := make([]candidate, len(found.Hits))
	for i, h := range found.Hits {
		best[i] = candidate{h.ID, h.Score}
	}
	if err := s.read(best); err != nil {
		return skald.NearResult{}, err
	}
	return skald.NearResult{Hits: s.result.Hits, Docs: found.Docs, Mean: found.Mean, Deviation: found.Deviation}, nil
}

// scan scores the vectors of the scopes, with those of the update that asks.
func (t *tx) scan(scopes []numbered, q skald.NearQuery) (near.Found, error) {
	if t.store.writer == nil { // beside a process that writes: nobody tells of its commits
		all, err := t.vectors()
		return scanned(all, scopes, q), err
	}
	v := &t.store.near
	if err := v.ready(t.ctx, t.store); err != nil {
		return near.Found{}, err
	}
	if t.writer != nil && len(t.writer.index.vectors) > 0 {
		own, err := t.vectors()
		return scanned(own, scopes, q), err
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	return scanned(v.scopes, scopes, q), nil
}

func scanned(all map[int64]parts, scopes []numbered, q skald.NearQuery) near.Found {
	var sets []*near.Flat
	model := modelCode(q.Model)
	for _, s := range scopes {
		for p, f := range all[s.id] {
			if p.model == model && p.dim == len(q.Vector) && (len(q.Kinds) == 0 || slices.Contains(q.Kinds, p.kind)) {
				sets = append(sets, f)
			}
		}
	}
	return near.Scan(sets, q.Vector, 2*q.Limit) // some may be too new for the view
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
