package recall

import (
	"slices"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
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
	{[]skald.DocKind{skald.DocResource, skald.DocSkill}, 40},
}

// library reports the share of files, which is searched and weighed by itself: what a tree of a hundred thousand files says about a word
// must not change what the word tells in a conversation.
func (s share) library() bool { return s.kinds[0] == skald.DocResource }

// scopes are those that a share is searched in.
func (c *course) scopes(s share) []skald.Scope {
	if s.library() {
		return c.r.Scopes
	}
	return slices.DeleteFunc(slices.Clone(c.r.Scopes), func(o skald.Scope) bool {
		return o.Kind == skald.ScopeResources || o.Kind == skald.ScopeSkills
	})
}

// search collects the candidates that the asking session may see and does not see already. Of files only leaves are candidates.
func (c *course) search() error {
	leaf := func(d skald.Doc) bool { return index.Level(d.URI) == 2 && (c.r.Admit == nil || c.r.Admit(d)) }
	for _, s := range shares {
		if _, err := c.searchShare(s, skald.SearchQuery{Limit: s.limit, Admit: leaf}); err != nil {
			return err
		}
	}
	if c.late() {
		return skald.E("recall.search", skald.KindDeadline, "the search took too long")
	}
	return nil
}

// searchShare collects the candidates of one share; q says how many and what restricts them. more reports that there may be others.
func (c *course) searchShare(s share, q skald.SearchQuery) (more bool, err error) {
	q.Scopes, q.Kinds, q.Terms = c.scopes(s), c.wanted(s.kinds), c.terms()
	if len(q.Kinds) == 0 || len(q.Scopes) == 0 {
		return false, nil
	}
	if c.late() {
		return false, skald.E("recall.search", skald.KindDeadline, "the search took too long")
	}
	res, err := c.tx.Search(q)
	if err != nil {
		return false, err
	}
	c.lexicon(s.library()).learn(res)
	known := map[int64]*candidate{}
	for _, h := range res.Hits {
		known[h.Doc.ID] = c.candidate(h.Doc)
		known[h.Doc.ID].parts["store"] = h.Score
	}
	near, err := c.near(q)
	for _, n := range near {
		k := known[n.doc.ID]
		if k == nil {
			k = c.candidate(n.doc)
		}
		k.z = n.z
	}
	return len(res.Hits) == q.Limit, err
}

// candidate takes a document up; what the asking session must not or need not see is dropped at once.
func (c *course) candidate(d skald.Doc) *candidate {
	k := &candidate{doc: d, time: d.Time, parts: map[string]float64{}, without: c.without}
	c.found = append(c.found, k)
	switch {
	case !c.r.Allowed(d):
		k.drop("another audience")
	case c.r.Visible != nil && c.r.Visible(d):
		k.drop("visible already")
	}
	return k
}

// wanted are those of the kinds that were asked for.
func (c *course) wanted(kinds []skald.DocKind) []skald.DocKind {
	if !c.has(StageNotes) && (kinds[0] == skald.DocMemory || kinds[0] == skald.DocArchive) {
		return nil
	}
	if len(c.r.Kinds) == 0 {
		return kinds
	}
	return slices.DeleteFunc(slices.Clone(kinds), func(k skald.DocKind) bool { return !slices.Contains(c.r.Kinds, k) })
}
