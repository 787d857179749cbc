package sqlite

import (
	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/internal/record"
)

func (t *tx) TurnKey(ref skald.SessionRef, key string) (r skald.TurnRange, found bool, err error) {
	if err := t.reading("store.turn_key"); err != nil {
		return r, false, err
	}
	id, err := t.refID(ref)
	if err != nil {
		return r, false, err
	}
	const query = `SELECT first_seq, last_seq FROM turn_key WHERE ref = ? AND key = ?`
	found, err = t.row("turn_key.get", query, id, key)(&r.StartSequence, &r.EndSequence)
	return r, found, err
}

func (t *tx) PutTurnKey(ref skald.SessionRef, key string, r skald.TurnRange) error {
	if err := t.writing("store.put_turn_key"); err != nil {
		return err
	}
	id, err := t.needRef(ref)
	if err != nil {
		return err
	}
	const query = `INSERT OR REPLACE INTO turn_key (ref, key, first_seq, last_seq) VALUES (?, ?, ?, ?)`
	return t.exec("turn_key.put", query, id, key, r.StartSequence, r.EndSequence)
}

func (t *tx) PutRecall(ref skald.SessionRef, r skald.PlacedRecall) error {
	if err := t.writing("store.put_recall"); err != nil {
		return err
	}
	id, err := t.needRef(ref)
	if err != nil {
		return err
	}
	return t.exec("recall.put", `INSERT OR REPLACE INTO recall (ref, after, body) VALUES (?, ?, ?)`, id, r.AfterSeq, record.Encode(r))
}

func (t *tx) Recalls(ref skald.SessionRef, from int64) ([]skald.PlacedRecall, error) {
	if err := t.reading("store.recalls"); err != nil {
		return nil, err
	}
	id, err := t.refID(ref)
	if err != nil {
		return nil, err
	}
	return bodies[skald.PlacedRecall](t, "recall.list", `SELECT body FROM recall WHERE ref = ? AND after >= ? ORDER BY after`, id, from)
}
