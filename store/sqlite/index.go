package sqlite

import (
	"database/sql/driver"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
)

// group is what one group commit changes in the lexical index. FTS5 writes a segment of its own for every savepoint that
// follows an insert, so the rows are gathered and written together just before the commit, or earlier when the same transaction
// searches or deletes.
type group struct {
	entries []entry
	vectors []change
	flushed int   // how many of them are written
	deleted int64 // documents
	docs    int64 // documents in the scopes that something was deleted from
}

// entry is one row of the index.
type entry struct {
	id     int64
	tokens string // with spaces between
}

func (t *tx) PutDocs(docs []skald.Doc) error {
	if err := t.writing("store.put_docs"); err != nil {
		return err
	}
	type sum struct{ docs, length int64 }
	added := map[int64]sum{}
	for _, d := range docs {
		scope, err := t.putDoc(d)
		if err != nil {
			return err
		}
		s := added[scope]
		added[scope] = sum{s.docs + 1, s.length + int64(d.Length)}
	}
	for scope, s := range added {
		const query = `UPDATE scope SET docs = docs + ?, length = length + ? WHERE id = ?`
		if err := t.exec("scope.docs", query, s.docs, s.length, scope); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) putDoc(d skald.Doc) (scope int64, err error) {
	if scope, err = t.needScope(d.Scope); err != nil {
		return 0, err
	}
	var ref any
	if d.Session != "" {
		if ref, err = t.needRef(skald.SessionRef{Scope: d.Scope, ID: d.Session}); err != nil {
			return 0, err
		}
	}
	id := docID(t.writer.nextDoc, d.Length)
	t.writer.nextDoc++
	const query = `INSERT INTO doc (id, scope, kind, ref, seq, uri, start, stop, time, role, origin, audience, type, length, vector, model)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	err = t.exec("doc.insert", query, id, scope, kinds.code(string(d.Kind)), ref, d.Seq, optional(string(d.URI)), d.Start, d.End,
		millis(d.Time), roles.code(string(d.Role)), origins.code(string(d.Origin)), audiences.code(string(d.Audience)),
		types.code(string(d.Type)), d.Length, blob(d.Vector), modelValue(d.Model))
	t.writer.index.entries = append(t.writer.index.entries, entry{id, docTokens(scope, d)})
	if len(d.Vector) > 0 {
		t.writer.index.vectors = append(t.writer.index.vectors, change{scope, id, d.Kind, modelCode(d.Model), slices.Clone(d.Vector)})
	}
	return scope, err
}

// docTokens are the tokens of a document, each once: how often a term occurs in a passage tells little, and leaving it out
// halves the index.
func docTokens(scope int64, d skald.Doc) string {
	terms := slices.Clone(d.Terms)
	slices.Sort(terms)
	prefix := " " + termToken(scope, "")
	var b strings.Builder
	b.Grow(64 + len(terms)*(len(prefix)+8))
	b.WriteString(kindToken(scope, d.Kind))
	if d.Session != "" {
		b.WriteString(" " + sessionToken(scope, d.Session))
	}
	for _, term := range slices.Compact(terms) {
		b.WriteString(prefix)
		b.WriteString(escape(term))
	}
	return b.String()
}

// flush writes the gathered rows of the index.
func (w *writer) flush() error {
	g := &w.index
	for _, e := range g.entries[g.flushed:] {
		const query = `INSERT INTO term (rowid, token) VALUES (?, ?)`
		if _, err := w.c.exec("term.insert", query, e.id, text(e.tokens)); err != nil {
			return err
		}
	}
	g.flushed = len(g.entries)
	return nil
}

func (t *tx) DeleteTurnDocs(ref skald.SessionRef, from, to int64) error {
	return t.deleteRefDocs("store.delete_turn_docs", ref, skald.DocTurn, from, to)
}

func (t *tx) DeleteArchiveDocs(ref skald.SessionRef, index int) error {
	return t.deleteRefDocs("store.delete_archive_docs", ref, skald.DocArchive, int64(index), int64(index))
}

func (t *tx) deleteRefDocs(op string, ref skald.SessionRef, kind skald.DocKind, from, to int64) error {
	if err := t.writing(op); err != nil {
		return err
	}
	id, err := t.refID(ref)
	if err != nil || id == 0 {
		return err
	}
	const query = `SELECT id, length FROM doc WHERE ref = ? AND seq BETWEEN ? AND ? AND kind = ?`
	return t.deleteDocs(ref.Scope, query, id, from, to, kinds.code(string(kind)))
}

func (t *tx) DeleteURIDocs(scope skald.Scope, uri skald.URI) error {
	if err := t.writing("store.delete_uri_docs"); err != nil || uri == "" {
		return err
	}
	id, err := t.scopeID(scope)
	if err != nil || id == 0 {
		return err
	}
	return t.deleteDocs(scope, `SELECT id, length FROM doc WHERE scope = ? AND uri = ?`, id, string(uri))
}

// deleteDocs deletes the documents that the query names, which all belong to the scope.
func (t *tx) deleteDocs(scope skald.Scope, query string, args ...any) error {
	if err := t.fail("flush", t.writer.flush()); err != nil {
		return err
	}
	var ids []int64
	var length int64
	err := t.rows("doc.find", query, args, func(row []driver.Value) error {
		var id, n int64
		err := scan(row, &id, &n)
		ids, length = append(ids, id), length+n
		return err
	})
	if err != nil || len(ids) == 0 {
		return err
	}
	owner, err := t.scopeID(scope)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := t.exec("doc.delete", `DELETE FROM doc WHERE id = ?`, id); err != nil {
			return err
		}
		if err := t.exec("term.delete", `DELETE FROM term WHERE rowid = ?`, id); err != nil {
			return err
		}
		t.writer.index.vectors = append(t.writer.index.vectors, change{scope: owner, id: id})
	}
	return t.countDeleted(scope, int64(len(ids)), length)
}

func (t *tx) countDeleted(scope skald.Scope, docs, length int64) error {
	id, err := t.scopeID(scope)
	if err != nil {
		return err
	}
	var left int64
	const query = `UPDATE scope SET docs = docs - ?, length = length - ? WHERE id = ? RETURNING docs`
	_, err = t.row("scope.docs", query, docs, length, id)(&left)
	g := &t.writer.index
	g.deleted, g.docs = g.deleted+docs, g.docs+left
	return err
}
