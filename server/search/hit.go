package search

import (
	"strings"
	"unicode/utf8"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/index"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/recall"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/server/wire"
)

// abstractChars is the length up to which a memory is its own abstract.
const abstractChars = 1000

func hit(m recall.Match) api.SearchHit {
	return api.SearchHit{
		Type: contextType(m.Kind), URI: m.URI, Level: m.Level, Score: m.Score, Abstract: abstract(m), Tags: wire.List(m.Tags()),
	}
}

// abstract is what a hit shows: the passage that matched, or the whole memory when it is short.
func abstract(m recall.Match) string {
	if m.Memory != nil && utf8.RuneCountInString(m.Memory.Text) <= abstractChars {
		return strings.TrimSpace(m.Memory.Text)
	}
	return strings.TrimSpace(m.Text)
}

// content is the whole text of what was found.
func content(tx skald.Tx, m recall.Match) string {
	ref := skald.SessionRef{Scope: m.Doc.Scope, ID: m.Doc.Session}
	switch {
	case m.Memory != nil:
		return m.Memory.Text
	case m.File != nil:
		return index.FileText(*m.File, m.URI)
	case m.Kind == skald.DocArchive:
		if a, err := tx.Archive(ref, int(m.Doc.Seq)); err == nil {
			return archive.Text(a)
		}
	case m.Kind == skald.DocTurn:
		if turns, err := tx.Turns(ref, skald.TurnQuery{From: m.Doc.Seq, To: m.Doc.Seq}); err == nil && len(turns) == 1 {
			if parsed, err := message.Parse(turns[0].Raw); err == nil {
				return parsed.Text()
			}
		}
	}
	return m.Text
}

// provenance leads from a hit to the turns that it was made of, or to where a file was imported from.
func provenance(m recall.Match) api.Provenance {
	out := api.Provenance{URI: m.URI, Sources: []api.Origin{}}
	ref := skald.SessionRef{Scope: m.Doc.Scope, ID: m.Doc.Session}
	switch {
	case m.File != nil:
		out.Source = m.File.Source
		return out
	case m.Kind == skald.DocTurn:
		out.Sources = append(out.Sources, api.Origin{Session: ref.URI(), Turns: m.URI})
	}
	for _, s := range m.Sources {
		o := api.Origin{Session: s.Session.URI(), Turns: s.Session.TurnsURI(s.From, s.To), Deleted: !s.Deleted.IsZero()}
		switch {
		case m.Kind == skald.DocArchive:
			o.Archive = ref.ArchiveURI(int(m.Doc.Seq))
		case m.Memory != nil && m.Memory.Archive > 0 && s.Session.ID == m.Memory.Session:
			o.Archive = s.Session.ArchiveURI(m.Memory.Archive)
		}
		out.Sources = append(out.Sources, o)
	}
	return out
}
