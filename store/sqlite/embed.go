package sqlite

import (
	"database/sql/driver"
	"encoding/json"
	"slices"

	"github.com/skald-engine/skald"
)

func (t *tx) PutVectors(model string, list []skald.DocVector) error {
	if err := t.writing("store.put_vectors"); err != nil {
		return err
	}
	code := modelValue(model)
	for _, v := range list {
		c := change{id: v.ID, model: modelCode(model), vector: slices.Clone(v.Vector)}
		var kind driver.Value
		const query = `UPDATE doc SET vector = ?, model = ? WHERE id = ? RETURNING scope, kind`
		found, err := t.row("doc.vector", query, blob(v.Vector), code, v.ID)(&c.scope, &kind)
		if err != nil {
			return err
		}
		if found {
			c.kind = skald.DocKind(kinds.word(kind))
			t.writer.index.vectors = append(t.writer.index.vectors, c)
		}
	}
	return nil
}

func (t *tx) Unembedded(models []string, after int64, most int) (out []skald.Doc, err error) {
	if err := t.reading("store.unembedded"); err != nil {
		return nil, err
	}
	codes := make([]int64, len(models))
	for i, m := range models {
		codes[i] = modelCode(m)
	}
	done, err := json.Marshal(codes)
	if err != nil {
		return nil, err
	}
	const query = `SELECT s.account, s.kind, s.user, s.agent, d.id, d.scope, d.kind, r.sid, d.seq, d.uri, d.start, d.stop, d.time, d.role,
		d.origin, d.audience, d.type, d.length FROM doc d JOIN scope s ON s.id = d.scope LEFT JOIN ref r ON r.id = d.ref
		WHERE d.id > ? AND coalesce(d.model, 0) NOT IN (SELECT value FROM json_each(?)) ORDER BY d.id LIMIT ?`
	err = t.rows("doc.unembedded", query, []any{after, text(done), limit(most)}, func(row []driver.Value) error {
		const ofScope = 4
		var scope skald.Scope
		var kind string
		if err := scan(row[:ofScope], &scope.Account, &kind, &scope.User, &scope.Agent); err != nil {
			return err
		}
		d, _, err := scanDoc(row[ofScope:])
		scope.Kind = skald.ScopeKind(kind)
		d.Scope = scope
		out = append(out, d)
		return err
	})
	return out, err
}

func (t *tx) Embedded(model string) (of, all int64, err error) {
	if err := t.reading("store.embedded"); err != nil {
		return 0, 0, err
	}
	if _, err := t.row("scope.docs_sum", `SELECT coalesce(sum(docs), 0) FROM scope`)(&all); err != nil {
		return 0, 0, err
	}
	if model == "" {
		_, err = t.row("doc.unmodelled", `SELECT count(*) FROM doc WHERE model IS NULL`)(&of)
		return of, all, err
	}
	_, err = t.row("doc.modelled", `SELECT count(*) FROM doc WHERE model = ?`, modelCode(model))(&of)
	return of, all, err
}
