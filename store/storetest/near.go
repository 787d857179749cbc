package storetest

import (
	"math"
	"testing"

	"github.com/skald-engine/skald"
)

// pointing is a document with a vector.
func pointing(d skald.Doc, v ...int8) skald.Doc {
	d.Vector = v
	return d
}

// nearest names the hits in their order.
func nearest(t *testing.T, s skald.Store, q skald.NearQuery) []string {
	t.Helper()
	if q.Scopes == nil {
		q.Scopes = []skald.Scope{alice}
	}
	return names(read(t, s, func(tx skald.Tx) (skald.NearResult, error) { return tx.Near(q) }))
}

// none is what a search that finds nothing finds.
var none []string

func names(res skald.NearResult) (out []string) {
	for _, h := range res.Hits {
		out = append(out, name(h.Doc))
	}
	return out
}

var nearTests = map[string]func(*testing.T, skald.Store){
	"Near": func(t *testing.T, s skald.Store) {
		update(t, s, func(tx skald.Tx) error {
			return tx.PutDocs([]skald.Doc{
				pointing(turnDoc(chat, 1, "x"), 0, 127), pointing(turnDoc(chat, 2, "x"), 127, 0), pointing(turnDoc(chat, 3, "x"), 60, 60),
				turnDoc(chat, 4, "x"), pointing(turnDoc(chat, 5, "x"), 1, 2, 3), pointing(memoryDoc(alice, "viking://m", "x"), 127, 20),
				pointing(archiveDoc(chat, 1, "x"), -128, 0), pointing(memoryDoc(bob, "viking://b", "x"), 127, 0),
			})
		})
		turns := []skald.DocKind{skald.DocTurn}
		east := []int8{127, 0}
		same(t, "all", nearest(t, s, skald.NearQuery{Vector: east}), []string{"turn 2", "viking://m", "turn 3", "turn 1", "archive 1"})
		same(t, "limit", nearest(t, s, skald.NearQuery{Vector: east, Limit: 2}), []string{"turn 2", "viking://m"})
		same(t, "kind", nearest(t, s, skald.NearQuery{Vector: east, Kinds: turns}), []string{"turn 2", "turn 3", "turn 1"})
		same(t, "the other way", nearest(t, s, skald.NearQuery{Vector: []int8{0, 5}, Kinds: turns, Limit: 1}), []string{"turn 1"})
		same(t, "another length", nearest(t, s, skald.NearQuery{Vector: []int8{1, 2, 3, 4}}), none)
		same(t, "no vector", nearest(t, s, skald.NearQuery{}), none)
		same(t, "another scope", nearest(t, s, skald.NearQuery{Vector: east, Scopes: []skald.Scope{bob}}), []string{"viking://b"})
		same(t, "no scope", nearest(t, s, skald.NearQuery{Vector: east, Scopes: []skald.Scope{}}), none)
		res := read(t, s, func(tx skald.Tx) (skald.NearResult, error) {
			return tx.Near(skald.NearQuery{Scopes: []skald.Scope{alice}, Vector: east, Kinds: turns, Limit: 1})
		})
		half := math.Sqrt(0.5)
		mean := (0 + 1 + half) / 3
		same(t, "of how many", res.Docs, int64(3))
		about(t, "score", res.Hits[0].Score, 1)
		about(t, "mean", res.Mean, mean)
		about(t, "deviation", res.Deviation, math.Sqrt((0+1+0.5)/3-mean*mean))
		if res.Hits[0].Doc.Vector != nil || res.Hits[0].Doc.End != 99 {
			t.Errorf("the document should come back whole, without its vector: %+v", res.Hits[0].Doc)
		}
	},
	"NearFollowsWrites": func(t *testing.T, s skald.Store) {
		q := skald.NearQuery{Scopes: []skald.Scope{alice}, Vector: []int8{127, 0}}
		same(t, "empty", nearest(t, s, q), none)
		update(t, s, func(tx skald.Tx) error {
			return tx.PutDocs([]skald.Doc{pointing(turnDoc(chat, 1, "x"), 127, 0), pointing(turnDoc(chat, 2, "x"), 127, 0)})
		})
		same(t, "added", nearest(t, s, q), []string{"turn 1", "turn 2"})
		err := s.Update(t.Context(), func(tx skald.Tx) error {
			if err := tx.DeleteTurnDocs(chat, 1, 1); err != nil {
				return err
			}
			if err := tx.PutDocs([]skald.Doc{pointing(turnDoc(chat, 3, "x"), 127, 0)}); err != nil {
				return err
			}
			res, err := tx.Near(q)
			same(t, "inside", names(res), []string{"turn 2", "turn 3"})
			if err != nil {
				return err
			}
			return errUndo
		})
		if err == nil {
			t.Error("the update should have failed")
		}
		same(t, "after the rollback", nearest(t, s, q), []string{"turn 1", "turn 2"})
		update(t, s, func(tx skald.Tx) error { return tx.DeleteTurnDocs(chat, 1, 1) })
		same(t, "deleted", nearest(t, s, q), []string{"turn 2"})
		update(t, s, func(tx skald.Tx) error { return tx.PutDocs([]skald.Doc{pointing(turnDoc(chat, 4, "x"), 127, 0)}) })
		same(t, "added again", nearest(t, s, q), []string{"turn 2", "turn 4"})
	},
}

func about(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 0.001 {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
