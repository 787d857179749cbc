package memory

import (
	"cmp"
	"math"
	"slices"

	"github.com/skald-engine/skald"
)

// doc is an indexed passage with the number of times each term occurs in it.
type doc struct {
	skald.Doc
	freq   map[string]int
	vector []int8
	model  string
}

func (t *tx) PutDocs(docs []skald.Doc) error {
	if err := t.writing("store.put_docs"); err != nil {
		return err
	}
	t.docs = copied(t.docs)
	for _, d := range docs {
		t.nextDoc++
		d.ID, d.Time = t.nextDoc, millis(d.Time)
		freq := map[string]int{}
		for _, term := range d.Terms {
			freq[term]++
		}
		full := doc{d, freq, slices.Clone(d.Vector), d.Model}
		full.Terms, full.Text, full.Vector, full.Model = nil, "", nil, ""
		t.docs[d.Scope] = append(t.docs[d.Scope], full)
	}
	return nil
}

func (t *tx) DeleteTurnDocs(ref skald.SessionRef, from, to int64) error {
	return t.deleteDocs("store.delete_turn_docs", ref.Scope, func(d doc) bool {
		return d.Kind == skald.DocTurn && d.Session == ref.ID && d.Seq >= from && d.Seq <= to
	})
}

func (t *tx) DeleteURIDocs(scope skald.Scope, uri skald.URI) error {
	return t.deleteDocs("store.delete_uri_docs", scope, func(d doc) bool { return uri != "" && d.URI == uri })
}

func (t *tx) DeleteArchiveDocs(ref skald.SessionRef, index int) error {
	return t.deleteDocs("store.delete_archive_docs", ref.Scope, func(d doc) bool {
		return d.Kind == skald.DocArchive && d.Session == ref.ID && d.Seq == int64(index)
	})
}

func (t *tx) deleteDocs(op string, scope skald.Scope, gone func(doc) bool) error {
	if err := t.writing(op); err != nil {
		return err
	}
	t.docs = copied(t.docs)
	t.docs[scope] = slices.DeleteFunc(slices.Clone(t.docs[scope]), gone)
	return nil
}

// Search looks at every document of the scopes, so MaxPostings has no meaning here.
func (t *tx) Search(q skald.SearchQuery) (skald.SearchResult, error) {
	if err := t.reading("store.search"); err != nil {
		return skald.SearchResult{}, err
	}
	res := skald.SearchResult{DF: map[string]int64{}}
	terms := distinct(q.Terms)
	for _, term := range terms {
		res.DF[term] = 0
	}
	var all []doc
	for _, scope := range distinct(q.Scopes) {
		all = append(all, t.docs[scope]...)
	}
	res.Docs = int64(len(all))
	var length int
	for _, d := range all {
		length += d.Length
		for _, term := range terms {
			if d.freq[term] > 0 {
				res.DF[term]++
			}
		}
	}
	average := float64(length) / max(1, float64(len(all)))
	for _, d := range all {
		if hit := admitted(d, q, terms); hit {
			res.Hits = append(res.Hits, skald.Hit{Doc: d.Doc, Score: score(d, terms, res, average)})
		}
	}
	slices.SortFunc(res.Hits, func(a, b skald.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc.ID, b.Doc.ID))
	})
	res.Hits = limited(res.Hits, q.Limit)
	return res, nil
}

// admitted reports whether the document passes the filters and holds any term, or every one of them.
func admitted(d doc, q skald.SearchQuery, terms []string) bool {
	if q.Session != "" && d.Session != q.Session || len(q.Kinds) > 0 && !slices.Contains(q.Kinds, d.Kind) {
		return false
	}
	has := func(term string) bool { return d.freq[term] > 0 }
	if slices.ContainsFunc(q.Must, func(term string) bool { return !has(term) }) || q.Admit != nil && !q.Admit(d.Doc) {
		return false
	}
	if q.All {
		return len(terms) > 0 && !slices.ContainsFunc(terms, func(term string) bool { return !has(term) })
	}
	return slices.ContainsFunc(terms, has)
}

// score is BM25 with the usual k1 = 1.2 and b = 0.75.
func score(d doc, terms []string, res skald.SearchResult, average float64) float64 {
	var sum float64
	for _, term := range terms {
		df, tf := float64(res.DF[term]), float64(d.freq[term])
		idf := math.Log(1 + (float64(res.Docs)-df+0.5)/(df+0.5))
		sum += idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*float64(d.Length)/max(1, average)))
	}
	return sum
}

// distinct drops repeats and keeps the order.
func distinct[T comparable](list []T) []T {
	var out []T
	for _, v := range list {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}
