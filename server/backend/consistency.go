package backend

import (
	"context"
	"fmt"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/tree"
)

// CheckIndex implements api.System: everything below a URI that has text must be found by its own words.
func (b *Backend) CheckIndex(ctx context.Context, id skald.Identity, raw string) (out api.Consistency, err error) {
	root, err := skald.ParseURI(raw, id, b.engine.Policy())
	if err != nil {
		return out, err
	}
	err = b.store.View(ctx, func(tx skald.Tx) error {
		c := check{ctx: ctx, tx: tx, root: root, found: map[string]map[string]bool{}}
		for _, step := range []func([]skald.Scope) error{c.memories, c.files, c.sessions} {
			if err := step(b.scopes(id)); err != nil {
				return err
			}
		}
		out = c.Consistency
		return nil
	})
	return out, err
}

// check compares what is stored with what the index finds.
type check struct {
	api.Consistency
	ctx   context.Context
	tx    skald.Tx
	root  skald.URI
	found map[string]map[string]bool // passages by the query that finds them
}

// thing counts a thing, and notes it as missing when one of its passages is not found. A thing without passages has no record.
func (c *check) thing(r api.IndexRecord, docs []skald.Doc) error {
	if len(docs) == 0 {
		return nil
	}
	c.Expected++
	for _, d := range docs {
		ok, err := c.has(d)
		if err != nil {
			return err
		}
		if !ok {
			c.Missing = append(c.Missing, r)
			break
		}
	}
	return c.ctx.Err()
}

// has looks a passage up by all of its words.
func (c *check) has(d skald.Doc) (bool, error) {
	query := fmt.Sprint(d.Scope.Key(), d.Kind, d.Session, d.Terms)
	found, ok := c.found[query]
	if !ok {
		r, err := c.tx.Search(skald.SearchQuery{Scopes: []skald.Scope{d.Scope}, Kinds: []skald.DocKind{d.Kind}, Session: d.Session,
			Terms: d.Terms, All: true, MaxPostings: 1 << 30})
		if err != nil {
			return false, err
		}
		found = map[string]bool{}
		for _, h := range r.Hits {
			found[passage(h.Doc)] = true
		}
		c.found[query] = found
	}
	return found[passage(d)], nil
}

func passage(d skald.Doc) string {
	if d.URI != "" {
		return fmt.Sprint(d.URI, " ", d.Start)
	}
	return fmt.Sprint(d.Session, " ", d.Seq, " ", d.Start)
}

func (c *check) memories(scopes []skald.Scope) error {
	list, err := c.tx.Memories(skald.MemoryQuery{Scopes: scopes})
	for _, m := range list {
		if !within(m.URI, c.root) {
			continue
		}
		docs := index.DocsOfMemory(m)
		for i := range docs {
			docs[i].Session = "" // the first source may have changed since
		}
		if err := c.thing(api.IndexRecord{URI: m.URI, Type: "memory", Level: 2}, docs); err != nil {
			return err
		}
	}
	return err
}

func (c *check) files(scopes []skald.Scope) error {
	list, err := c.tx.Files(skald.FileQuery{Scopes: scopes})
	for _, f := range list {
		if f.Dir || !within(f.URI, c.root) {
			continue
		}
		if f, err = c.tx.File(f.Scope, f.URI); err != nil {
			return err
		}
		docs := index.DocsOfText(skald.Doc{Scope: f.Scope, Kind: tree.KindOf(f.URI), URI: f.URI}, tree.Text(f))
		docs = docs[:min(len(docs), index.MaxFilePassages)]
		if err := c.thing(api.IndexRecord{URI: f.URI, Type: "resource", Level: 2}, docs); err != nil {
			return err
		}
	}
	return err
}

func (c *check) sessions(scopes []skald.Scope) error {
	list, err := c.tx.Sessions(skald.SessionQuery{Scopes: scopes[:1]})
	for _, s := range list {
		if !within(s.Ref.URI(), c.root) && !within(c.root, s.Ref.URI()) {
			continue
		}
		if err := c.archives(s); err != nil {
			return err
		}
		if err := c.turns(s); err != nil {
			return err
		}
	}
	return err
}

func (c *check) archives(s skald.Session) error {
	list, err := c.tx.Archives(s.Ref, 1)
	for _, a := range list {
		if uri := s.Ref.ArchiveURI(a.Index); within(uri, c.root) {
			if err := c.thing(api.IndexRecord{URI: uri, Type: "session", Level: 1}, index.DocsOfArchive(a, s.Audience)); err != nil {
				return err
			}
		}
	}
	return err
}

// turnsAtOnce is how many turns are in memory at a time.
const turnsAtOnce = 500

func (c *check) turns(s skald.Session) error {
	if strings.Contains(strings.TrimPrefix(string(c.root), string(s.Ref.URI())), "/history") {
		return nil
	}
	for from := int64(1); from <= s.LastSeq; from += turnsAtOnce {
		list, err := c.tx.Turns(s.Ref, skald.TurnQuery{From: from, To: from + turnsAtOnce - 1})
		if err != nil {
			return err
		}
		for _, t := range list {
			uri := s.Ref.TurnsURI(t.Seq, t.Seq)
			if t.Forgotten || t.Purged || !within(uri, c.root) {
				continue
			}
			m, err := message.Parse(t.Raw)
			if err != nil {
				continue // what is no message is not indexed
			}
			if err := c.thing(api.IndexRecord{URI: uri, Type: "session", Level: 2}, index.DocsOfTurn(s.Ref, t, m)); err != nil {
				return err
			}
		}
	}
	return nil
}
