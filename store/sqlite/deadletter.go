package sqlite

import (
	"cmp"
	"database/sql/driver"
	"slices"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/internal/record"
)

func (t *tx) PutDeadLetter(d skald.DeadLetter) error {
	if err := t.writing("store.put_dead_letter"); err != nil {
		return err
	}
	scope, err := t.needScope(d.Session.Scope)
	if err != nil {
		return err
	}
	return t.exec("dead_letter.put", `INSERT INTO dead_letter (scope, body) VALUES (?, ?)`, scope, record.Encode(d))
}

// DeadLetters lists the newest first.
func (t *tx) DeadLetters(scopes []skald.Scope, most int) ([]skald.DeadLetter, error) {
	if err := t.reading("store.dead_letters"); err != nil {
		return nil, err
	}
	list, err := t.known(scopes)
	if err != nil {
		return nil, err
	}
	type letter struct {
		id   int64
		body []byte
	}
	var found []letter
	for _, scope := range list {
		const query = `SELECT id, body FROM dead_letter WHERE scope = ? ORDER BY id DESC LIMIT ?`
		err := t.rows("dead_letter.list", query, []any{scope.id, limit(most)}, func(row []driver.Value) error {
			var l letter
			err := scan(row, &l.id, &l.body)
			found = append(found, l)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(found, func(a, b letter) int { return cmp.Compare(b.id, a.id) })
	var out []skald.DeadLetter
	for _, l := range limited(found, most) {
		var d skald.DeadLetter
		if err := record.Decode(l.body, &d); err != nil {
			return nil, t.fail("dead_letters", err)
		}
		out = append(out, d)
	}
	return out, nil
}
