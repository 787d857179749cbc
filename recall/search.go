package recall

import (
	"maps"
	"slices"

	"github.com/skald-engine/skald"
)

// share is how many candidates a group of kinds may bring. Each group is searched by itself, so that raw turns, which are many, cannot crowd
// out memories, which are few (SRC-04).
type share struct {
	kinds []skald.DocKind
	limit int
}

var shares = []share{
	{[]skald.DocKind{skald.DocMemory}, 60},
	{[]skald.DocKind{skald.DocArchive}, 40},
	{[]skald.DocKind{skald.DocTurn}, 240},
}

// search collects the candidates that the asking session may see and does not see already.
func (c *course) search() error {
	c.df = map[string]int64{}
	terms := c.terms()
	for _, s := range shares {
		kinds := c.wanted(s.kinds)
		if len(kinds) == 0 {
			continue
		}
		if c.late() {
			return skald.E("recall.search", skald.KindDeadline, "the search took too long")
		}
		res, err := c.tx.Search(skald.SearchQuery{Scopes: c.r.Scopes, Kinds: kinds, Terms: terms, Limit: s.limit})
		if err != nil {
			return err
		}
		c.docs = max(c.docs, res.Docs)
		maps.Copy(c.df, res.DF)
		known := map[int64]*candidate{}
		for _, h := range res.Hits {
			known[h.Doc.ID] = c.candidate(h.Doc)
			known[h.Doc.ID].parts["store"] = h.Score
		}
		near, err := c.near(s, kinds)
		if err != nil {
			return err
		}
		for _, n := range near {
			k := known[n.doc.ID]
			if k == nil {
				k = c.candidate(n.doc)
			}
			k.z = n.z
		}
	}
	if c.late() {
		return skald.E("recall.search", skald.KindDeadline, "the search took too long")
	}
	return nil
}

// candidate takes a document up; what the asking session must not or need not see is dropped at once.
func (c *course) candidate(d skald.Doc) *candidate {
	k := &candidate{doc: d, time: d.Time, parts: map[string]float64{}}
	c.found = append(c.found, k)
	switch {
	case !c.r.allowed(d):
		k.drop("another audience")
	case c.r.Visible != nil && c.r.Visible(d):
		k.drop("visible already")
	}
	return k
}

func (c *course) wanted(kinds []skald.DocKind) []skald.DocKind {
	if len(c.r.Kinds) == 0 {
		return kinds
	}
	return slices.DeleteFunc(slices.Clone(kinds), func(k skald.DocKind) bool { return !slices.Contains(c.r.Kinds, k) })
}
