package memory

import (
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
		if len(d.vector) == len(q.Vector) {
			flat.Put(d.ID, d.Kind, d.vector)
			docs[d.ID] = d.Doc
		}
	}
	var found near.Found
	flat.Scan(q.Vector, q.Kinds, &found)
	var res skald.NearResult
	res.Docs, res.Mean, res.Deviation = found.Spread()
	for _, h := range limited(found.Best(q.Limit), q.Limit) {
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
