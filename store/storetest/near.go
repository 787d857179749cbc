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
	"NearByModel": func(t *testing.T, s skald.Store) {
		east := []int8{127, 0}
		update(t, s, func(tx skald.Tx) error {
			return tx.PutDocs([]skald.Doc{
				turnDoc(chat, 1, "x"), of("old", pointing(turnDoc(chat, 2, "x"), 127, 0)), of("new", pointing(turnDoc(chat, 3, "x"), 127, 0)),
				of("new", turnDoc(chat, 4, "x")), of("old", pointing(memoryDoc(bob, "viking://b", "x"), 0, 127)),
			})
		})
		byNew, byOld := skald.NearQuery{Vector: east, Model: "new"}, skald.NearQuery{Vector: east, Model: "old"}
		same(t, "of the new", nearest(t, s, byNew), []string{"turn 3"})
		same(t, "of the old", nearest(t, s, byOld), []string{"turn 2"})
		same(t, "a text is for others", nearest(t, s, skald.NearQuery{Text: "x", Limit: 1}), none)
		same(t, "not of the new", unembedded(t, s, 0, 0, "new"), []string{"turn 1", "turn 2", "viking://b"})
		same(t, "of neither", unembedded(t, s, 0, 0, "new", "old"), []string{"turn 1"})
		same(t, "of none", unembedded(t, s, 0, 2), []string{"turn 1", "turn 2"})
		list := read(t, s, func(tx skald.Tx) ([]skald.Doc, error) { return tx.Unembedded([]string{"new"}, 0, 0) })
		same(t, "beyond the second", unembedded(t, s, list[1].ID, 0, "new"), []string{"viking://b"})
		if list[2].Scope != bob || list[1].Scope != alice || list[1].End != 99 {
			t.Errorf("they should come back whole: %+v", list)
		}
		counted(t, s, "new", 2, 5)
		err := s.Update(t.Context(), func(tx skald.Tx) error {
			if err := tx.PutVectors("new", []skald.DocVector{{ID: list[0].ID, Vector: []int8{60, 60}}}); err != nil {
				return err
			}
			inside := byNew
			inside.Scopes = []skald.Scope{alice}
			res, err := tx.Near(inside)
			same(t, "inside", names(res), []string{"turn 3", "turn 1"})
			if err != nil {
				return err
			}
			return errUndo
		})
		if err == nil {
			t.Error("the update should have failed")
		}
		same(t, "after the rollback", nearest(t, s, byNew), []string{"turn 3"})
		update(t, s, func(tx skald.Tx) error {
			return tx.PutVectors("new", []skald.DocVector{{ID: list[0].ID, Vector: []int8{60, 60}}, {ID: list[1].ID, Vector: east}, {ID: list[2].ID}, {ID: 1 << 40, Vector: east}})
		})
		same(t, "all of the new", nearest(t, s, byNew), []string{"turn 2", "turn 3", "turn 1"})
		same(t, "none of the old", nearest(t, s, byOld), none)
		same(t, "one that means nothing", nearest(t, s, skald.NearQuery{Vector: east, Model: "old", Scopes: []skald.Scope{bob}}), none)
		same(t, "all embedded", unembedded(t, s, 0, 0, "new"), none)
		counted(t, s, "new", 5, 5)
		update(t, s, func(tx skald.Tx) error { return tx.DeleteTurnDocs(chat, 1, 3) })
		same(t, "deleted", nearest(t, s, byNew), none)
		counted(t, s, "new", 2, 2)
		counted(t, s, "", 0, 2)
	},
}

// of says which model a document's vector is of.
func of(model string, d skald.Doc) skald.Doc {
	d.Model, d.Text = model, "what it says"
	return d
}

// unembedded names the documents of none of the models.
func unembedded(t *testing.T, s skald.Store, after int64, limit int, models ...string) (out []string) {
	t.Helper()
	list := read(t, s, func(tx skald.Tx) ([]skald.Doc, error) { return tx.Unembedded(models, after, limit) })
	for _, d := range list {
		out = append(out, name(d))
		if d.Text != "" || d.Model != "" || d.Vector != nil || d.Terms != nil {
			t.Errorf("kept what is written only: %+v", d)
		}
	}
	return out
}

func counted(t *testing.T, s skald.Store, model string, of, all int64) {
	t.Helper()
	view(t, s, func(tx skald.Tx) error {
		gotOf, gotAll, err := tx.Embedded(model)
		same(t, "of "+model, gotOf, of)
		same(t, "all", gotAll, all)
		return err
	})
}

func about(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 0.001 {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
