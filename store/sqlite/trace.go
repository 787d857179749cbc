package sqlite

import (
	"database/sql/driver"
	"time"

	"github.com/skald-engine/skald"
)

// keptTraces is how many traces a session keeps.
const keptTraces = 200

func (t *tx) PutTrace(ref skald.SessionRef, tr skald.Trace) error {
	if err := t.writing("store.put_trace"); err != nil {
		return err
	}
	id, err := t.needRef(ref)
	if err != nil {
		return err
	}
	const query = `INSERT INTO trace (ref, exchange, after, time, json) VALUES (?, ?, ?, ?, ?)`
	if err := t.exec("trace.put", query, id, tr.TurnID, tr.AfterSeq, nanos(tr.Time), append([]byte{}, tr.JSON...)); err != nil {
		return err
	}
	const old = `DELETE FROM trace WHERE ref = ?1 AND id <= (SELECT id FROM trace WHERE ref = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`
	return t.exec("trace.trim", old, id, keptTraces)
}

func (t *tx) Traces(ref skald.SessionRef, q skald.TraceQuery) ([]skald.Trace, error) {
	if err := t.reading("store.traces"); err != nil {
		return nil, err
	}
	id, err := t.refID(ref)
	if err != nil {
		return nil, err
	}
	query, args := `SELECT exchange, after, time, json FROM trace WHERE ref = ?`, []any{id}
	if q.TurnID != "" {
		query, args = query+` AND exchange = ?`, append(args, q.TurnID)
	}
	if q.AfterSeq != 0 {
		query, args = query+` AND after = ?`, append(args, q.AfterSeq)
	}
	var out []skald.Trace
	err = t.rows("trace.list", query+` ORDER BY id DESC LIMIT ?`, append(args, limit(q.Limit)), func(row []driver.Value) error {
		var tr skald.Trace
		var at int64
		err := scan(row, &tr.TurnID, &tr.AfterSeq, &at, &tr.JSON)
		if at != nanos(time.Time{}) {
			tr.Time = time.Unix(0, at).UTC()
		}
		out = append(out, tr)
		return err
	})
	return out, err
}

func (t *tx) DeleteTraces(ref skald.SessionRef, naming string) error {
	if err := t.writing("store.delete_traces"); err != nil {
		return err
	}
	id, err := t.refID(ref)
	if err != nil || id == 0 {
		return err
	}
	return t.exec("trace.delete", `DELETE FROM trace WHERE ref = ? AND instr(json, CAST(? AS BLOB)) > 0`, id, naming)
}
