package memory

import (
	"maps"
	"slices"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/internal/near"
)

// Near looks at every document of the scopes.
func (t *tx) Near(q skald.NearQuery) (skald.NearResult, error) {
	if err := t.reading("store.near"); err != nil {
		return skald.NearResult{}, err
	}
	var flat near.Flat
	docs := map[int64]skald.Doc{}
	for _, d := range t.ofScopes(q.Scopes) {
		if d.model == q.Model && len(d.vector) == len(q.Vector) && (len(q.Kinds) == 0 || slices.Contains(q.Kinds, d.Kind)) {
			flat.Put(d.ID, d.vector)
			docs[d.ID] = d.Doc
		}
	}
	found := near.Scan([]*near.Flat{&flat}, q.Vector, 0)
	res := skald.NearResult{Docs: found.Docs, Mean: found.Mean, Deviation: found.Deviation}
	for _, h := range limited(found.Hits, q.Limit) {
		res.Hits = append(res.Hits, skald.Hit{Doc: docs[h.ID], Score: h.Score})
	}
	return res, nil
}

// ofScopes lists the documents of the scopes in order of id.
func (t *tx) ofScopes(scopes []skald.Scope) []doc {
	var all []doc
	for _, scope := range distinct(scopes) {
		all = append(all, t.docs[scope]...)
	}
	slices.SortFunc(all, func(a, b doc) int { return int(a.ID - b.ID) })
	return all
}

func (t *tx) PutVectors(model string, list []skald.DocVector) error {
	if err := t.writing("store.put_vectors"); err != nil {
		return err
	}
	vectors := map[int64][]int8{}
	for _, v := range list {
		vectors[v.ID] = v.Vector
	}
	t.docs = copied(t.docs)
	for scope, docs := range t.docs {
		docs = slices.Clone(docs)
		for i := range docs {
			if v, ok := vectors[docs[i].ID]; ok {
				docs[i].vector, docs[i].model = slices.Clone(v), model
			}
		}
		t.docs[scope] = docs
	}
	return nil
}

func (t *tx) Unembedded(models []string, after int64, limit int) ([]skald.Doc, error) {
	if err := t.reading("store.unembedded"); err != nil {
		return nil, err
	}
	var out []skald.Doc
	for _, d := range t.ofScopes(slices.Collect(maps.Keys(t.docs))) {
		if d.ID > after && !slices.Contains(models, d.model) {
			out = append(out, d.Doc)
		}
	}
	return limited(out, limit), nil
}

func (t *tx) Embedded(model string) (of, all int64, err error) {
	if err := t.reading("store.embedded"); err != nil {
		return 0, 0, err
	}
	for _, docs := range t.docs {
		for _, d := range docs {
			all++
			if d.model == model {
				of++
			}
		}
	}
	return of, all, nil
}
