package meaning

import (
	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index"
	"github.com/skald-engine/skald/message"
)

// reader finds the texts of documents again. The passages of one thing follow each other, so it keeps the newest thing's text.
type reader struct {
	tx    skald.Tx
	of    skald.Doc // whose text it is, without its place in it
	whole string
}

// text is the passage that a document was made of; "" when it is gone.
func (r *reader) text(d skald.Doc) (string, error) {
	thing := skald.Doc{Scope: d.Scope, Kind: d.Kind, Session: d.Session, Seq: d.Seq, URI: d.URI}
	if !same(thing, r.of) {
		whole, err := read(r.tx, d)
		if err != nil && skald.KindOf(err) != skald.KindNotFound {
			return "", err
		}
		r.of, r.whole = thing, whole
	}
	if d.Start < 0 || d.Start > d.End || d.End > len(r.whole) {
		return "", nil
	}
	return r.whole[d.Start:d.End], nil
}

func same(a, b skald.Doc) bool {
	return a.Scope == b.Scope && a.Kind == b.Kind && a.Session == b.Session && a.Seq == b.Seq && a.URI == b.URI
}

func read(tx skald.Tx, d skald.Doc) (string, error) {
	ref := skald.SessionRef{Scope: d.Scope, ID: d.Session}
	switch d.Kind {
	case skald.DocTurn:
		return ofTurn(tx, ref, d.Seq)
	case skald.DocArchive:
		a, err := tx.Archive(ref, int(d.Seq))
		return index.ArchiveText(a), err
	case skald.DocMemory:
		m, err := tx.Memory(d.Scope, d.URI)
		return m.Text, err
	}
	f, err := tx.File(d.Scope, index.FileURI(d.URI))
	return index.FileText(f, d.URI), err
}

func ofTurn(tx skald.Tx, ref skald.SessionRef, seq int64) (string, error) {
	list, err := tx.Turns(ref, skald.TurnQuery{From: seq, To: seq})
	if err != nil || len(list) == 0 || list[0].Forgotten || list[0].Purged {
		return "", err
	}
	m, err := message.Parse(list[0].Raw)
	if err != nil {
		return "", nil // it cannot be read: it has no text
	}
	return m.Text(), nil
}
