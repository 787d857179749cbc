package backend

import (
	"cmp"
	"slices"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/memory"
	"github.com/skald-engine/skald/message"
)

// page is how many turns are read at once.
const page = 200

// walk goes through all that is searched, in the order of the tree.
func (g *grep) walk(tx skald.Tx) error {
	scopes := slices.SortedFunc(slices.Values(g.scopes), func(a, b skald.Scope) int { return cmp.Compare(a.RootURI(), b.RootURI()) })
	for _, scope := range scopes {
		if !g.crosses(scope.RootURI()) {
			continue
		}
		if err := g.memories(tx, scope); err != nil {
			return err
		}
		if err := g.sessions(tx, scope); err != nil {
			return err
		}
	}
	return nil
}

func (g *grep) memories(tx skald.Tx, scope skald.Scope) error {
	if !g.crosses(scope.RootURI().Join("memories")) {
		return nil
	}
	list, err := tx.Memories(skald.MemoryQuery{Scopes: []skald.Scope{scope}})
	if err != nil {
		return err
	}
	for _, m := range list {
		if err := g.text(m.URI, memory.Document(m)); err != nil {
			return err
		}
	}
	return g.ctx.Err()
}

func (g *grep) sessions(tx skald.Tx, scope skald.Scope) error {
	if scope.Kind != skald.ScopeUser || !g.crosses(scope.RootURI().Join("sessions")) {
		return nil
	}
	list, err := tx.Sessions(skald.SessionQuery{Scopes: []skald.Scope{scope}})
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b skald.Session) int { return cmp.Compare(a.Ref.ID, b.Ref.ID) })
	for _, s := range list {
		if !g.crosses(s.Ref.URI()) {
			continue
		}
		if err := g.session(tx, s); err != nil {
			return err
		}
	}
	return nil
}

func (g *grep) session(tx skald.Tx, s skald.Session) error {
	archives, err := tx.Archives(s.Ref, 1)
	if err != nil {
		return err
	}
	for _, a := range archives {
		dir := s.Ref.ArchiveURI(a.Index)
		if !g.crosses(dir) {
			continue
		}
		if err := g.text(dir.Join(overviewFile), archive.Text(a)); err != nil {
			return err
		}
		if err := g.turns(tx, s.Ref, dir.Join(messagesFile), a.From, a.To, a.From); err != nil {
			return err
		}
	}
	return g.turns(tx, s.Ref, s.Ref.URI().Join(messagesFile), s.OpenFrom, s.LastSeq, 1)
}

// turns matches a run of turns, which stand in a file whose first line is the turn first.
func (g *grep) turns(tx skald.Tx, ref skald.SessionRef, uri skald.URI, from, to, first int64) error {
	if from > to || !g.wants(uri) {
		return nil
	}
	for ; from <= to; from += page {
		if err := g.ctx.Err(); err != nil {
			return err
		}
		turns, err := tx.Turns(ref, skald.TurnQuery{From: from, To: min(to, from+page-1)})
		if err != nil {
			return err
		}
		for _, t := range turns {
			if t.Forgotten || t.Purged {
				continue
			}
			for line := range strings.Lines(words(t)) {
				if err := g.line(uri, int(t.Seq-first)+1, line); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// words is what a person reads of a turn.
func words(t skald.Turn) string {
	if m, err := message.Parse(t.Raw); err == nil {
		return m.Text()
	}
	return strings.ToValidUTF8(string(t.Raw), "\uFFFD")
}
