package search

import (
	"cmp"
	"context"
	"slices"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
	"github.com/skald-engine/skald/recall"
	"github.com/skald-engine/skald/tree"
)

// page is how many things are read at once.
const page = 500

// list answers a search without a query: what the filter lets through, in order of URI and with score 0. Turns and archives have no place
// in it: they are found by their words. A threshold has no meaning. With a tag the index says what to look at; else the tree is read until
// there is enough.
func (p *plan) list(ctx context.Context, tx skald.Tx, limit int, lets func(recall.Match) bool) ([]recall.Match, error) {
	l := listing{plan: p, ctx: ctx, tx: tx, lets: lets, limit: limit, seen: map[skald.URI]bool{}}
	var err error
	if len(p.query.Tags) > 0 {
		err = l.tagged()
	} else {
		err = l.everywhere()
	}
	slices.SortFunc(l.found, func(a, b recall.Match) int { return cmp.Compare(a.URI, b.URI) })
	return l.found[:min(limit, len(l.found))], err
}

// listing is a list that is being made.
type listing struct {
	*plan
	ctx   context.Context
	tx    skald.Tx
	lets  func(recall.Match) bool
	limit int
	seen  map[skald.URI]bool
	found []recall.Match
	n     int // found in the walk under way
}

// add takes a thing up when it is asked for.
func (l *listing) add(m recall.Match) {
	in := len(l.below) == 0 || slices.ContainsFunc(l.below, func(u skald.URI) bool { return index.Below(m.URI, u) })
	if !in || l.seen[m.URI] || !l.id.Sees(m.URI) || !l.hears(m) || !recall.Tagged(m, l.query.Tags) || !l.lets(m) {
		return
	}
	l.seen[m.URI] = true
	l.found, l.n = append(l.found, m), l.n+1
}

// hears reports what the asking session may see (I9).
func (l *listing) hears(m recall.Match) bool {
	r := recall.Request{Session: l.asking.Ref, Audience: l.asking.Audience, Owner: l.asking.Audience == skald.AudienceDirect}
	return r.Allowed(m.Doc)
}

func (l *listing) memory(m skald.Memory) {
	l.add(recall.Match{
		URI: m.URI, Place: m.URI, Kind: skald.DocMemory, Level: 2, Text: m.Text, Time: m.Updated, Sources: m.Sources, Memory: &m,
		Doc: skald.Doc{Scope: m.Scope, Kind: skald.DocMemory, URI: m.URI, Session: m.Session, Audience: m.Audience, Type: m.Type},
	})
}

func (l *listing) file(f skald.File) {
	add := func(uri skald.URI, text string) {
		kind := tree.KindOf(uri)
		l.add(recall.Match{URI: uri, Place: uri, Kind: kind, Level: index.Level(uri), Text: text, Time: f.Modified, File: &f,
			Doc: skald.Doc{Scope: f.Scope, Kind: kind, URI: uri}})
	}
	if !f.Dir {
		add(f.URI, f.Abstract)
		return
	}
	if f.Abstract != "" {
		add(f.URI.Join(index.AbstractName), f.Abstract)
	}
	if f.Overview != "" {
		add(f.URI.Join(index.OverviewName), f.Overview)
	}
}

// wants reports whether things of a context type are asked for.
func (l *listing) wants(types ...string) bool {
	return len(l.query.Types) == 0 || slices.ContainsFunc(types, func(t string) bool { return slices.Contains(l.query.Types, t) })
}

// everywhere reads memories and files in order of URI, each until there is enough of them.
func (l *listing) everywhere() error {
	roots := l.below
	if len(roots) == 0 {
		roots = []skald.URI{""}
	}
	for _, root := range roots {
		if err := l.memories(root); err != nil {
			return err
		}
		if err := l.files(root); err != nil {
			return err
		}
	}
	return nil
}

func (l *listing) memories(root skald.URI) error {
	if l.n = 0; !l.wants("memory") {
		return nil
	}
	if root != "" {
		l.one(root)
	}
	for after := skald.URI(""); ; {
		list, err := l.tx.Memories(skald.MemoryQuery{Scopes: l.scopes, Prefix: root, After: after, Limit: page})
		if err != nil {
			return err
		}
		for _, m := range list {
			l.memory(m)
		}
		if len(list) < page || l.n >= l.limit {
			return l.ctx.Err()
		}
		after = list[len(list)-1].URI
	}
}

func (l *listing) files(root skald.URI) error {
	if l.n = 0; !l.wants("resource", "skill") {
		return nil
	}
	if root != "" {
		l.one(root)
	}
	for after := skald.URI(""); ; {
		list, err := l.tx.Files(skald.FileQuery{Scopes: l.scopes, Under: root, After: after, Limit: page})
		if err != nil {
			return err
		}
		for _, f := range list {
			l.file(f)
		}
		if len(list) < page || l.n >= l.limit {
			return l.ctx.Err()
		}
		after = list[len(list)-1].URI
	}
}

// one takes up what a URI itself names, if anything.
func (l *listing) one(uri skald.URI) {
	for _, scope := range l.scopes {
		if !index.Below(uri, scope.RootURI()) {
			continue
		}
		if m, err := l.tx.Memory(scope, uri); err == nil {
			l.memory(m)
		} else if f, err := l.tx.File(scope, index.FileURI(uri)); err == nil {
			l.file(f)
		}
	}
}

// tagged reads what has the first tag.
func (l *listing) tagged() error {
	q := skald.SearchQuery{Scopes: l.scopes, Kinds: []skald.DocKind{skald.DocMemory, skald.DocResource, skald.DocSkill}, MaxPostings: 1 << 20,
		Terms: []string{index.TagMark(l.query.Tags[0])}}
	for _, t := range l.query.Tags[1:] {
		q.Must = append(q.Must, index.TagMark(t))
	}
	res, err := l.tx.Search(q)
	if err != nil {
		return err
	}
	uris := map[skald.URI]bool{}
	for _, h := range res.Hits {
		if uris[h.Doc.URI] {
			continue
		}
		uris[h.Doc.URI] = true
		if l.one(h.Doc.URI); l.ctx.Err() != nil {
			return l.ctx.Err()
		}
	}
	return nil
}
