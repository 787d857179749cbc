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
		for _, h := range res.Hits {
			k := &candidate{doc: h.Doc, time: h.Doc.Time, parts: map[string]float64{"store": h.Score}}
			c.found = append(c.found, k)
			switch {
			case !c.r.allowed(h.Doc):
				k.drop("another audience")
			case c.r.Visible != nil && c.r.Visible(h.Doc):
				k.drop("visible already")
			}
		}
	}
	if c.late() {
		return skald.E("recall.search", skald.KindDeadline, "the search took too long")
	}
	return nil
}

func (c *course) wanted(kinds []skald.DocKind) []skald.DocKind {
	if len(c.r.Kinds) == 0 {
		return kinds
	}
	return slices.DeleteFunc(slices.Clone(kinds), func(k skald.DocKind) bool { return !slices.Contains(c.r.Kinds, k) })
}
