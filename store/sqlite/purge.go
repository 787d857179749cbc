package sqlite

import (
	"database/sql/driver"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/internal/record"
)

// DeleteSession removes a session with all that stands under its number, which stays: memories may name it.
func (t *tx) DeleteSession(ref skald.SessionRef) error {
	if err := t.writing("store.delete_session"); err != nil {
		return err
	}
	id, err := t.refID(ref)
	if err != nil {
		return err
	}
	if err := t.deleteLetters(ref); err != nil || id == 0 {
		return err
	}
	const docs = `SELECT id, length FROM doc WHERE ref = ? AND kind IN (?, ?)`
	if err := t.deleteDocs(ref.Scope, docs, id, kinds.code(string(skald.DocTurn)), kinds.code(string(skald.DocArchive))); err != nil {
		return err
	}
	const uncount = `UPDATE scope SET turns = turns - (SELECT count(*) FROM turn WHERE ref = ?1) WHERE id = (SELECT scope FROM ref WHERE id = ?1)`
	if err := t.exec("scope.turns", uncount, id); err != nil {
		return err
	}
	for _, table := range []string{"turn", "turn_key", "recall", "archive", "checkpoint", "trace", "job", "session"} {
		if err := t.exec(table+".purge", `DELETE FROM `+table+` WHERE ref = ?`, id); err != nil {
			return err
		}
	}
	return nil
}

// deleteLetters removes the session's dead letters, which are kept by scope.
func (t *tx) deleteLetters(ref skald.SessionRef) error {
	scope, err := t.scopeID(ref.Scope)
	if err != nil || scope == 0 {
		return err
	}
	var ids []int64
	err = t.rows("dead_letter.scope", `SELECT id, body FROM dead_letter WHERE scope = ?`, []any{scope}, func(row []driver.Value) error {
		var id int64
		var body []byte
		if err := scan(row, &id, &body); err != nil {
			return err
		}
		var d skald.DeadLetter
		if err := record.Decode(body, &d); err != nil {
			return err
		}
		if d.Session == ref {
			ids = append(ids, id)
		}
		return nil
	})
	for _, id := range ids {
		if err := t.exec("dead_letter.delete", `DELETE FROM dead_letter WHERE id = ?`, id); err != nil {
			return err
		}
	}
	return err
}
