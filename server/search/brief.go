package search

import (
	"cmp"
	"context"
	"slices"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
	"github.com/skald-engine/skald/recall"
	"github.com/skald-engine/skald/server/api"
)

// Brief implements api.Searcher: search wide, leave out what the session has been shown or what says the same, and give each entry as much
// text as the budget allows, the best first.
//
// A brief is made of all that is the user's, other peers' memories too, set back; acting on behalf of a peer tells whose memories are not.
func (s *Searcher) Brief(ctx context.Context, id skald.Identity, q api.BriefQuery) (out api.Brief, err error) {
	actor := id.Peer
	id.Peer = ""
	p, err := s.plan(id, q.SearchQuery)
	if err != nil {
		return out, err
	}
	exclude, err := s.canonical(id, q.Exclude)
	if err != nil {
		return out, err
	}
	work := func(tx skald.Tx) error {
		b := &briefing{plan: p, q: q, actor: actor, ctx: ctx, tx: tx, exclude: exclude}
		if err := b.make(); err != nil {
			return err
		}
		out = b.brief()
		return nil
	}
	if q.DedupTurns > 0 && q.Session != "" {
		return out, s.store.Update(ctx, work)
	}
	return out, s.store.View(ctx, work)
}

// briefing is a brief that is being made.
type briefing struct {
	*plan
	q       api.BriefQuery
	actor   string // the peer on whose behalf the user acts, or ""
	ctx     context.Context
	tx      skald.Tx
	exclude []skald.URI
	shown   ledger
	cooled  map[skald.URI]bool

	entries []*entry
	left    int // tokens
	stats   api.BriefStats
}

// entry is one entry under way.
type entry struct {
	match    recall.Match
	uri      skald.URI
	category string
	origin   string
	rank     float64 // the score, less the penalty
	tiers    []tier  // least first
	at       int     // index of the tier that is shown; -1 the URI alone
	tokens   int
}

func (b *briefing) make() error {
	if err := b.ask(b.tx); err != nil {
		return err
	}
	if !b.q.Expand {
		b.window = nil
	}
	b.stats = api.BriefStats{
		Searched: map[string]int{}, Origins: map[string]int{"self": 0, "actor_peer": 0, "other_peer": 0}, TierCounts: map[string]int{},
		Expansion: "off", Queries: append([]string{b.q.Query}, b.window...),
	}
	if len(b.window) > 0 {
		b.stats.Expansion = "ok"
	}
	if err := b.remember(); err != nil {
		return err
	}
	if err := b.gather(); err != nil {
		return err
	}
	b.stats.Candidates = len(b.entries)
	b.distinct()
	if err := b.fill(); err != nil {
		return err
	}
	return b.note()
}

// gather finds the candidates: a quota for each category, or the best of all. Twice as many are looked at, since penalties and repeats
// change the order.
func (b *briefing) gather() error {
	if b.q.Quotas == nil {
		return b.find("", b.q.Limit)
	}
	for _, category := range api.Categories {
		quota, given := b.q.Quotas[category]
		if !given {
			continue
		}
		b.stats.Searched[category] = 0
		if quota == 0 {
			continue
		}
		if err := b.find(category, quota); err != nil {
			return err
		}
	}
	b.sort(b.entries)
	return nil
}

// kindsOf are the kinds of document that a category has.
func kindsOf(category string) []skald.DocKind {
	switch category {
	case "":
		return nil
	case api.CategoryEvents:
		return []skald.DocKind{skald.DocMemory, skald.DocTurn, skald.DocArchive}
	case api.CategoryResources:
		return []skald.DocKind{skald.DocResource}
	case api.CategorySkills:
		return []skald.DocKind{skald.DocSkill}
	}
	return []skald.DocKind{skald.DocMemory}
}

// find takes up the best entries of a category; "" means of all.
func (b *briefing) find(only string, most int) error {
	p, excluded := *b.plan, map[skald.URI]bool{}
	p.kinds = kindsOf(only)
	p.admit = func(d skald.Doc) bool { return (only == "" || category(d) == only) && !b.visible(d) }
	found, err := p.run(b.ctx, b.tx, 2*most, func(m recall.Match) bool {
		uri := entryURI(m)
		if b.cooled[uri] || slices.ContainsFunc(b.exclude, func(u skald.URI) bool { return index.Below(uri, u) }) {
			excluded[uri] = true
			return false
		}
		return p.admit(m.Doc) && (!b.q.OwnPeer || b.origin(uri) != "other_peer")
	})
	if err != nil {
		return err
	}
	b.stats.Searched[cmp.Or(only, "all")], b.stats.Excluded = len(found)+len(excluded), b.stats.Excluded+len(excluded)
	var list []*entry
	for _, m := range found {
		e := &entry{match: m, uri: entryURI(m), category: category(m.Doc), at: -1}
		e.origin = b.origin(e.uri)
		if e.rank = m.Score; e.origin == "other_peer" {
			e.rank -= b.q.Penalties[e.category]
		}
		b.stats.Origins[e.origin]++
		list = append(list, e)
	}
	b.sort(list)
	b.entries = append(b.entries, list[:min(len(list), most)]...)
	return nil
}

func (b *briefing) sort(list []*entry) {
	slices.SortStableFunc(list, func(x, y *entry) int { return cmp.Compare(y.rank, x.rank) })
}

// visible reports turns that no archive covers of the session that asks: its host shows them anyway.
func (b *briefing) visible(d skald.Doc) bool {
	return d.Kind == skald.DocTurn && d.Scope == b.asking.Ref.Scope && d.Session == b.asking.Ref.ID && d.Seq >= b.asking.OpenFrom
}

// distinct drops entries that say what one before them says: the same thing or text, or a turn beside the memory made of it.
func (b *briefing) distinct() {
	seen := map[string]bool{}
	b.entries = slices.DeleteFunc(b.entries, func(e *entry) bool {
		for _, key := range e.says() {
			if seen[key] {
				b.stats.Deduped++
				return true
			}
		}
		for _, key := range e.says() {
			seen[key] = true
		}
		return false
	})
}

// says lists what an entry stands for: itself, its words, and the one or two turns that it was made of.
func (e *entry) says() []string {
	out := []string{string(e.uri), strings.ToLower(strings.Join(strings.Fields(abstract(e.match)), " "))}
	if e.match.Kind == skald.DocTurn {
		out = append(out, string(e.match.URI))
	}
	for _, s := range e.match.Sources {
		for seq := s.From; e.match.Kind == skald.DocMemory && len(e.match.Sources) == 1 && s.To-s.From < 2 && seq <= s.To; seq++ {
			out = append(out, string(s.Session.TurnsURI(seq, seq)))
		}
	}
	return slices.Compact(out)
}

// entryURI is a thing's own URI: of a folder's text the folder, of a line of an archive the archive.
func entryURI(m recall.Match) skald.URI { return index.FileURI(m.URI) }

// category is a brief's category of a document. What was said is an event; what an agent learnt is an experience.
func category(d skald.Doc) string {
	switch d.Kind {
	case skald.DocTurn, skald.DocArchive:
		return api.CategoryEvents
	case skald.DocResource:
		return api.CategoryResources
	case skald.DocSkill:
		return api.CategorySkills
	}
	switch d.Type {
	case skald.MemoryEvent, skald.MemoryEntity, skald.MemoryPreference:
		return string(d.Type)
	case skald.MemoryCase, skald.MemoryPattern, "experiences", "trajectories":
		return api.CategoryExperiences
	}
	return api.CategoryMemories
}

// origin says whose a URI is: the user's, the peer's on whose behalf the user acts, or another peer's.
func (b *briefing) origin(uri skald.URI) string {
	_, rest, ok := strings.Cut(string(uri), "/peers/")
	switch peer, _, _ := strings.Cut(rest, "/"); {
	case !ok || !strings.HasPrefix(string(uri), "viking://user/"):
		return "self"
	case peer == b.actor:
		return "actor_peer"
	}
	return "other_peer"
}

// brief is the answer.
func (b *briefing) brief() api.Brief {
	out := api.Brief{Entries: []api.BriefEntry{}, Rendered: b.render()}
	for _, e := range b.entries {
		t := e.shown()
		b.stats.TierCounts[t.name]++
		out.Entries = append(out.Entries, api.BriefEntry{
			URI: e.uri, Category: e.category, Score: e.match.Score, Detail: t.name, Text: t.text, Origin: e.origin,
		})
	}
	b.stats.Returned = len(out.Entries)
	out.Stats = b.stats
	return out
}
