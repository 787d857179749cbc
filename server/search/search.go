// Package search finds what is stored, for /api/v1: memories, files, folders' texts, archives and turns. It turns a request into one search
// of recall and one filter, and what was found into OpenViking's hits (Search) or into a brief within a budget of tokens (Brief).
package search

import (
	"context"
	"slices"
	"strconv"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/recall"
	"github.com/skald-engine/skald/server/api"
)

// Engine is what searches need of the engine.
type Engine interface {
	Policy() skald.Policy
	Now() time.Time
}

// Searcher implements api.Searcher.
type Searcher struct {
	engine Engine
	store  skald.Store
}

var _ api.Searcher = (*Searcher)(nil)

// New makes a searcher of an engine and the store that it works on.
func New(e Engine, store skald.Store) *Searcher { return &Searcher{engine: e, store: store} }

// Search implements api.Searcher.
func (s *Searcher) Search(ctx context.Context, id skald.Identity, q api.SearchQuery) (out api.SearchResult, err error) {
	p, err := s.plan(id, q)
	if err != nil {
		return out, err
	}
	err = s.store.View(ctx, func(tx skald.Tx) error {
		if err := p.ask(tx); err != nil {
			return err
		}
		found, err := p.run(ctx, tx, q.Limit, nil)
		if err != nil {
			return err
		}
		out = api.SearchResult{Hits: make([]api.SearchHit, 0, len(found))}
		for _, m := range found {
			h := hit(m)
			if q.Content {
				text := content(tx, m)
				h.Content = &text
			}
			out.Hits = append(out.Hits, h)
			if q.Provenance {
				out.Provenance = append(out.Provenance, provenance(m))
			}
		}
		return nil
	})
	return out, err
}

// plan is a search with everything canonical.
type plan struct {
	query  api.SearchQuery
	id     skald.Identity
	scopes []skald.Scope
	now    time.Time
	below  []skald.URI
	filter *api.Filter
	asking skald.Session // of the user's direct session when none asks
	window []string
	kinds  []skald.DocKind      // nil: those of the types
	admit  func(skald.Doc) bool // nil: all
}

func (s *Searcher) plan(id skald.Identity, q api.SearchQuery) (*plan, error) {
	policy := s.engine.Policy()
	parse := func(raw string) (skald.URI, error) { return skald.ParseURI(raw, id, policy) }
	p := &plan{query: q, id: id, scopes: policy.Readable(id), now: s.engine.Now()}
	p.asking = skald.Session{Ref: skald.SessionRef{Scope: p.scopes[0], ID: q.Session}, Audience: skald.AudienceDirect}
	var err error
	if p.below, err = s.canonical(id, q.Targets); err != nil {
		return nil, err
	}
	if slices.Contains(p.below, skald.Root) {
		p.below = nil
	}
	if err := q.Filter.Resolve(parse); err != nil {
		return nil, err
	}
	var levels []string
	for _, n := range q.Levels {
		levels = append(levels, strconv.Itoa(n))
	}
	p.filter = api.All(api.OneOf(api.FieldType, q.Types...), api.OneOf(api.FieldLevel, levels...), q.Filter)
	return p, nil
}

func (s *Searcher) canonical(id skald.Identity, given []string) (out []skald.URI, err error) {
	for _, raw := range given {
		uri, err := skald.ParseURI(raw, id, s.engine.Policy())
		if err != nil {
			return nil, err
		}
		out = append(out, uri)
	}
	return out, nil
}

// windowTurns is how many of a session's newest user turns say more about a query; windowReach how far back they are looked for.
const (
	windowTurns = 5
	windowReach = 40
)

// ask reads the session that asks: who hears the answer, and what was said last. One that is not stored has no history.
func (p *plan) ask(tx skald.Tx) error {
	if p.query.Session == "" {
		return nil
	}
	s, err := tx.Session(p.asking.Ref)
	if skald.KindOf(err) == skald.KindNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	p.asking = s
	turns, err := tx.Turns(s.Ref, skald.TurnQuery{Desc: true, Limit: windowReach})
	for _, t := range turns {
		if t.Role != skald.RoleUser || t.Forgotten || t.Purged || len(p.window) == windowTurns {
			continue
		}
		if m, err := message.Parse(t.Raw); err == nil && m.Text() != "" {
			p.window = append(p.window, m.Text())
		}
	}
	slices.Reverse(p.window)
	return err
}

// run finds what the filter and keep let through, best first; keep may be nil.
func (p *plan) run(ctx context.Context, tx skald.Tx, limit int, keep func(recall.Match) bool) ([]recall.Match, error) {
	lets := func(m recall.Match) bool { return p.filter.Judge(ofMatch(m)) == api.Yes && (keep == nil || keep(m)) }
	if p.query.Query == "" {
		return p.list(ctx, tx, limit, lets)
	}
	return recall.Find(ctx, tx, recall.FindRequest{
		Query: p.query.Query, Window: p.window, Keywords: p.query.Keywords, Scopes: p.scopes, Session: p.asking.Ref, Audience: p.asking.Audience,
		Owner: p.asking.Audience == skald.AudienceDirect, Kinds: p.allKinds(), Below: p.below, Tags: p.query.Tags, Threshold: p.query.Threshold,
		Limit: limit, Now: p.now,
		Admit: func(d skald.Doc) bool {
			return (p.admit == nil || p.admit(d)) && p.id.Sees(recall.Place(d)) && p.filter.Judge(ofDoc(d)) != api.No
		},
		Keep: lets,
	})
}

// allKinds are those of the asked context types. Turns and archives are resources in OpenViking's eyes.
func (p *plan) allKinds() []skald.DocKind {
	out := p.kinds
	if out != nil {
		return out // the filter sees to the types
	}
	for _, t := range p.query.Types {
		switch t {
		case "memory":
			out = append(out, skald.DocMemory)
		case "resource":
			out = append(out, skald.DocResource, skald.DocTurn, skald.DocArchive)
		case "skill":
			out = append(out, skald.DocSkill)
		}
	}
	return out
}

// contextType is OpenViking's type of a kind.
func contextType(k skald.DocKind) string {
	switch k {
	case skald.DocMemory:
		return "memory"
	case skald.DocSkill:
		return "skill"
	}
	return "resource"
}

// ofDoc reads what a document says of its thing. A memory's times and tags stand in the memory alone.
func ofDoc(d skald.Doc) api.Fields {
	uri := recall.Place(d)
	library := d.Kind == skald.DocResource || d.Kind == skald.DocSkill
	return func(field string) (any, bool) {
		switch field {
		case api.FieldTags:
			return []string(nil), d.Kind == skald.DocTurn || d.Kind == skald.DocArchive
		case api.FieldUpdated:
			return d.Time, d.Kind != skald.DocMemory
		case api.FieldCreated:
			return d.Time, d.Kind != skald.DocMemory && !library
		case api.FieldUses:
			return 0, d.Kind != skald.DocMemory
		case api.FieldText:
			return nil, false
		}
		return common(field, uri, d)
	}
}

func ofMatch(m recall.Match) api.Fields {
	return func(field string) (any, bool) {
		switch field {
		case api.FieldTags:
			return m.Tags(), true
		case api.FieldUpdated:
			_, updated := times(m)
			return updated, true
		case api.FieldCreated:
			created, _ := times(m)
			return created, true
		case api.FieldUses:
			if m.Memory != nil {
				return m.Memory.Uses, true
			}
			return 0, true
		case api.FieldText:
			return abstract(m), true
		}
		return common(field, m.URI, m.Doc)
	}
}

func common(field string, uri skald.URI, d skald.Doc) (any, bool) {
	switch field {
	case api.FieldURI:
		return uri, true
	case api.FieldType:
		return contextType(d.Kind), true
	case api.FieldLevel:
		return index.Level(uri), true
	case api.FieldName:
		return index.FileURI(uri).Name(), true
	case api.FieldOwner:
		return d.Scope.User, true
	case api.FieldAccount:
		return d.Scope.Account, true
	}
	return nil, false
}

func times(m recall.Match) (created, updated time.Time) {
	switch {
	case m.Memory != nil:
		return m.Memory.Created, m.Memory.Updated
	case m.File != nil:
		return m.File.Created, m.File.Modified
	}
	return m.Time, m.Time
}
