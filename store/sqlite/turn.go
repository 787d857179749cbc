package sqlite

import (
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
)

func (t *tx) AppendTurns(ref skald.SessionRef, turns []skald.Turn) error {
	const op = "store.append_turns"
	if err := t.writing(op); err != nil {
		return err
	}
	id, err := t.refID(ref)
	if err != nil {
		return err
	}
	last, err := t.lastSeq(id)
	if err != nil {
		return err
	}
	for i, turn := range turns {
		if want := last + int64(i) + 1; turn.Seq != want {
			return &skald.Error{Op: op, URI: string(ref.URI()), Kind: skald.KindConflict,
				Err: fmt.Errorf("sequence %d, expected %d", turn.Seq, want)}
		}
	}
	if len(turns) == 0 {
		return nil
	}
	return t.insertTurns(ref, turns)
}

func (t *tx) insertTurns(ref skald.SessionRef, turns []skald.Turn) error {
	id, err := t.needRef(ref)
	if err != nil {
		return err
	}
	const query = `INSERT INTO turn (ref, seq, epoch, time, role, tokens, origin, audience, purpose, source, entry, position,
		advance, match, exchange, speaker, forgotten, purged, salt, leaf, link, raw)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	for _, turn := range turns {
		if err := t.exec("turn.insert", query, append([]any{id, turn.Seq}, turnValues(turn)...)...); err != nil {
			return err
		}
	}
	const count = `UPDATE scope SET turns = turns + ? WHERE id = (SELECT scope FROM ref WHERE id = ?)`
	return t.exec("scope.turns", count, len(turns), id)
}

// turnValues are the columns from epoch on, in the order of turnColumns.
func turnValues(turn skald.Turn) []any {
	raw := any(append([]byte{}, turn.Raw...)) // an empty payload is not nil
	if turn.Purged {
		raw = nil
	}
	return []any{turn.Epoch, millis(turn.Time), roles.code(string(turn.Role)), turn.Tokens, origins.code(string(turn.Origin)),
		audiences.code(string(turn.Audience)), purposes.code(string(turn.Purpose)), sources.code(string(turn.Source)),
		optional(turn.EntryID), turn.Position, optional(turn.AdvancementKey), packMatch(turn.MatchKey), optional(turn.TurnID),
		optional(turn.Speaker), turn.Forgotten, turn.Purged, orNull(turn.Salt), orNull(turn.Leaf), orNull(turn.Link), raw}
}

const turnColumns = `seq, epoch, time, role, tokens, origin, audience, purpose, source, entry, position, advance, match, exchange,
	speaker, forgotten, purged, salt, leaf, link`

func scanTurn(row []driver.Value) (turn skald.Turn, err error) {
	var role, origin, audience, purpose, source, at driver.Value
	var match []byte
	err = scan(row[:20], &turn.Seq, &turn.Epoch, &at, &role, &turn.Tokens, &origin, &audience, &purpose, &source, &turn.EntryID,
		&turn.Position, &turn.AdvancementKey, &match, &turn.TurnID, &turn.Speaker, &turn.Forgotten, &turn.Purged,
		&turn.Salt, &turn.Leaf, &turn.Link)
	turn.Time, turn.MatchKey = fromMillis(at), unpackMatch(match)
	turn.Role, turn.Origin = skald.Role(roles.word(role)), skald.Origin(origins.word(origin))
	turn.Audience, turn.Purpose = skald.Audience(audiences.word(audience)), skald.Purpose(purposes.word(purpose))
	turn.Source = skald.Source(sources.word(source))
	if len(row) > 20 && !turn.Purged {
		if turn.Raw, _ = row[20].([]byte); turn.Raw == nil {
			turn.Raw = []byte{}
		}
	}
	return turn, err
}

// packMatch halves a match key that is hex, as it should be.
func packMatch(key string) any {
	if key == "" {
		return nil
	}
	if b, err := hex.DecodeString(key); err == nil && hex.EncodeToString(b) == key {
		return append([]byte{0}, b...)
	}
	return append([]byte{1}, key...)
}

func unpackMatch(b []byte) string {
	switch {
	case len(b) == 0:
		return ""
	case b[0] == 0:
		return hex.EncodeToString(b[1:])
	}
	return string(b[1:])
}

func (t *tx) lastSeq(ref int64) (seq int64, err error) {
	_, err = t.row("turn.last", `SELECT max(seq) FROM turn WHERE ref = ?`, ref)(&seq)
	return seq, err
}

func (t *tx) LastLink(ref skald.SessionRef) (link []byte, seq int64, err error) {
	if err := t.reading("store.last_link"); err != nil {
		return nil, 0, err
	}
	id, err := t.refID(ref)
	if err != nil {
		return nil, 0, err
	}
	_, err = t.row("turn.link", `SELECT link, seq FROM turn WHERE ref = ? ORDER BY seq DESC LIMIT 1`, id)(&link, &seq)
	return link, seq, err
}

func (t *tx) Turns(ref skald.SessionRef, q skald.TurnQuery) ([]skald.Turn, error) {
	if err := t.reading("store.turns"); err != nil {
		return nil, err
	}
	id, err := t.refID(ref)
	if err != nil || id == 0 {
		return nil, err
	}
	if len(q.EntryIDs) > 0 || len(q.MatchKeys) > 0 {
		return t.turnsByKey(id, q)
	}
	return t.turnRange(id, q, q.From, q.To)
}

// turnRange reads the turns from..to that the rest of the query allows.
func (t *tx) turnRange(ref int64, q skald.TurnQuery, from, to int64) ([]skald.Turn, error) {
	var b strings.Builder
	b.WriteString(`SELECT ` + turnColumns)
	if !q.NoRaw {
		b.WriteString(`, raw`)
	}
	b.WriteString(` FROM turn WHERE ref = ? AND seq >= ?`)
	args := []any{ref, from}
	if to != 0 {
		b.WriteString(` AND seq <= ?`)
		args = append(args, to)
	}
	if q.Epoch != 0 {
		b.WriteString(` AND epoch = ?`)
		args = append(args, q.Epoch)
	}
	if q.Source != nil {
		b.WriteString(` AND source = ?`)
		args = append(args, sources.code(string(*q.Source)))
	}
	b.WriteString(` ORDER BY seq`)
	if q.Desc {
		b.WriteString(` DESC`)
	}
	b.WriteString(` LIMIT ?`)
	var out []skald.Turn
	err := t.rows("turn.list", b.String(), append(args, limit(q.Limit)), func(row []driver.Value) error {
		turn, err := scanTurn(row)
		out = append(out, turn)
		return err
	})
	return out, err
}

// turnsByKey looks up each entry id and match key in its index: there may be thousands of them, of which few are stored.
func (t *tx) turnsByKey(ref int64, q skald.TurnQuery) ([]skald.Turn, error) {
	seqs, err := t.seqsOf(ref, q)
	if err != nil {
		return nil, err
	}
	if q.Desc {
		slices.Reverse(seqs)
	}
	var out []skald.Turn
	for _, r := range runs(seqs, q) {
		found, err := t.turnRange(ref, q, r.from, r.to)
		if err != nil {
			return nil, err
		}
		if out = append(out, found...); q.Limit > 0 && len(out) >= q.Limit {
			return out[:q.Limit:q.Limit], nil
		}
	}
	return out, nil
}

// run is a run of sequences without a gap.
type run struct{ from, to int64 }

// runs joins what the query allows of the sequences, in their order, into runs: turns that were delivered together stand together.
func runs(seqs []int64, q skald.TurnQuery) (out []run) {
	for _, seq := range seqs {
		if seq < q.From || q.To != 0 && seq > q.To {
			continue
		}
		switch n := len(out) - 1; {
		case n >= 0 && seq == out[n].to+1:
			out[n].to = seq
		case n >= 0 && seq == out[n].from-1:
			out[n].from = seq
		default:
			out = append(out, run{seq, seq})
		}
	}
	return out
}

// seqsOf lists the sequences that carry one of the entry ids and one of the match keys, where asked for, in order.
func (t *tx) seqsOf(ref int64, q skald.TurnQuery) ([]int64, error) {
	const byEntry = `SELECT seq FROM turn WHERE ref = ? AND entry = ?`
	const byMatch = `SELECT seq FROM turn WHERE ref = ?1 AND match IS NOT NULL AND substr(match, 1, 9) = substr(?2, 1, 9) AND match = ?2`
	entries, err := t.seqsIn("turn.by_entry", byEntry, ref, q.EntryIDs, optional)
	if err != nil {
		return nil, err
	}
	matches, err := t.seqsIn("turn.by_match", byMatch, ref, q.MatchKeys, packMatch)
	switch {
	case err != nil:
		return nil, err
	case len(q.EntryIDs) == 0:
		return matches, nil
	case len(q.MatchKeys) == 0:
		return entries, nil
	}
	return slices.DeleteFunc(entries, func(seq int64) bool { _, both := slices.BinarySearch(matches, seq); return !both }), nil
}

func (t *tx) seqsIn(op, query string, ref int64, keys []string, pack func(string) any) ([]int64, error) {
	var out []int64
	for _, key := range keys {
		err := t.rows(op, query, []any{ref, pack(key)}, func(row []driver.Value) error {
			var seq int64
			err := scan(row, &seq)
			out = append(out, seq)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

var errPurged = errors.New("the turn is purged for good")

func (t *tx) UpdateTurn(ref skald.SessionRef, turn skald.Turn) error {
	const op = "store.update_turn"
	id, old, err := t.stored(op, ref, turn.Seq)
	if err != nil {
		return err
	}
	if old.Purged && !turn.Purged {
		return &skald.Error{Op: op, URI: string(ref.TurnsURI(turn.Seq, turn.Seq)), Kind: skald.KindConflict, Err: errPurged}
	}
	turn.Salt = old.Salt
	if turn.Leaf == nil || old.Purged {
		turn.Leaf = old.Leaf
	}
	if turn.Link == nil {
		turn.Link = old.Link
	}
	if turn.Purged {
		turn.Salt = nil
	}
	const query = `UPDATE turn SET epoch = ?, time = ?, role = ?, tokens = ?, origin = ?, audience = ?, purpose = ?, source = ?,
		entry = ?, position = ?, advance = ?, match = ?, exchange = ?, speaker = ?, forgotten = ?, purged = ?, salt = ?, leaf = ?,
		link = ? WHERE ref = ? AND seq = ?`
	values := turnValues(turn)
	if err := t.exec("turn.update", query, append(values[:len(values)-1:len(values)-1], id, turn.Seq)...); err != nil {
		return err
	}
	if !turn.Purged {
		return nil
	}
	return t.exec("turn.erase", `UPDATE turn SET raw = NULL WHERE ref = ? AND seq = ?`, id, turn.Seq)
}

func (t *tx) ReplaceRaw(ref skald.SessionRef, turn skald.Turn) error {
	const op = "store.replace_raw"
	id, old, err := t.stored(op, ref, turn.Seq)
	if err != nil {
		return err
	}
	if old.Source != skald.SourceView || old.Purged {
		return skald.E(op, skald.KindConflict, "turn %d is no view of a turn: its payload is immutable", turn.Seq)
	}
	turn.Purged = false
	const query = `UPDATE turn SET epoch = ?, time = ?, role = ?, tokens = ?, origin = ?, audience = ?, purpose = ?, source = ?,
		entry = ?, position = ?, advance = ?, match = ?, exchange = ?, speaker = ?, forgotten = ?, purged = ?, salt = ?, leaf = ?,
		link = ?, raw = ? WHERE ref = ? AND seq = ?`
	return t.exec("turn.replace", query, append(turnValues(turn), id, turn.Seq)...)
}

// stored reads a turn that is to be changed.
func (t *tx) stored(op string, ref skald.SessionRef, seq int64) (id int64, turn skald.Turn, err error) {
	if err := t.writing(op); err != nil {
		return 0, turn, err
	}
	if id, err = t.refID(ref); err != nil {
		return 0, turn, err
	}
	list, err := t.turnRange(id, skald.TurnQuery{NoRaw: true}, seq, max(seq, 1))
	if err == nil && (len(list) == 0 || list[0].Seq != seq) {
		err = skald.NotFound(op, string(ref.TurnsURI(seq, seq)))
	}
	if err != nil {
		return 0, turn, err
	}
	return id, list[0], nil
}
