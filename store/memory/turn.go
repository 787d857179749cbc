package memory

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/skald-engine/skald"
)

func (t *tx) AppendTurns(ref skald.SessionRef, turns []skald.Turn) error {
	const op = "store.append_turns"
	if err := t.writing(op); err != nil {
		return err
	}
	last := int64(len(t.read(ref).turns))
	for i, turn := range turns {
		if want := last + int64(i) + 1; turn.Seq != want {
			return &skald.Error{Op: op, URI: string(ref.URI()), Kind: skald.KindConflict, Err: seqError(turn.Seq, want)}
		}
	}
	s := t.change(ref)
	for _, turn := range turns {
		s.turns = append(s.turns, cloneTurn(turn, false))
	}
	return nil
}

func (t *tx) Turns(ref skald.SessionRef, q skald.TurnQuery) ([]skald.Turn, error) {
	if err := t.reading("store.turns"); err != nil {
		return nil, err
	}
	var out []skald.Turn
	for _, turn := range t.read(ref).turns {
		if wanted(turn, q) {
			out = append(out, cloneTurn(turn, q.NoRaw))
		}
	}
	if q.Desc {
		slices.Reverse(out)
	}
	return limited(out, q.Limit), nil
}

func wanted(t skald.Turn, q skald.TurnQuery) bool {
	return t.Seq >= q.From && (q.To == 0 || t.Seq <= q.To) && (q.Epoch == 0 || t.Epoch == q.Epoch) &&
		(len(q.EntryIDs) == 0 || t.EntryID != "" && slices.Contains(q.EntryIDs, t.EntryID)) &&
		(len(q.MatchKeys) == 0 || t.MatchKey != "" && slices.Contains(q.MatchKeys, t.MatchKey)) &&
		(q.Source == nil || t.Source == *q.Source)
}

func (t *tx) UpdateTurn(ref skald.SessionRef, turn skald.Turn) error {
	const op = "store.update_turn"
	old, err := t.stored(op, ref, turn.Seq)
	if err != nil {
		return err
	}
	if old.Purged && !turn.Purged {
		return skald.E(op, skald.KindConflict, "turn %d is purged for good", turn.Seq)
	}
	turn.Raw, turn.Salt = old.Raw, old.Salt
	if turn.Leaf == nil || old.Purged {
		turn.Leaf = old.Leaf
	}
	if turn.Link == nil {
		turn.Link = old.Link
	}
	if turn.Purged {
		turn.Raw, turn.Salt = nil, nil
	}
	t.replace(ref, turn)
	return nil
}

func (t *tx) ReplaceRaw(ref skald.SessionRef, turn skald.Turn) error {
	const op = "store.replace_raw"
	old, err := t.stored(op, ref, turn.Seq)
	if err != nil {
		return err
	}
	if old.Source != skald.SourceView || old.Purged {
		return skald.E(op, skald.KindConflict, "turn %d is no view of a turn: its payload is immutable", turn.Seq)
	}
	turn.Purged = false
	t.replace(ref, turn)
	return nil
}

func (t *tx) stored(op string, ref skald.SessionRef, seq int64) (skald.Turn, error) {
	if err := t.writing(op); err != nil {
		return skald.Turn{}, err
	}
	turns := t.read(ref).turns
	if seq < 1 || seq > int64(len(turns)) {
		return skald.Turn{}, skald.NotFound(op, named(ref, "/turns/%d", seq))
	}
	return turns[seq-1], nil
}

func (t *tx) replace(ref skald.SessionRef, turn skald.Turn) {
	s := t.change(ref)
	s.turns = slices.Clone(s.turns)
	s.turns[turn.Seq-1] = cloneTurn(turn, false)
}

func (t *tx) LastLink(ref skald.SessionRef) ([]byte, int64, error) {
	if err := t.reading("store.last_link"); err != nil {
		return nil, 0, err
	}
	turns := t.read(ref).turns
	if len(turns) == 0 {
		return nil, 0, nil
	}
	return bytes.Clone(turns[len(turns)-1].Link), int64(len(turns)), nil
}

func (t *tx) TurnKey(ref skald.SessionRef, key string) (skald.TurnRange, bool, error) {
	if err := t.reading("store.turn_key"); err != nil {
		return skald.TurnRange{}, false, err
	}
	r, ok := t.read(ref).keys[key]
	return r, ok, nil
}

func (t *tx) PutTurnKey(ref skald.SessionRef, key string, r skald.TurnRange) error {
	if err := t.writing("store.put_turn_key"); err != nil {
		return err
	}
	t.change(ref).keys[key] = r
	return nil
}

func (t *tx) PutRecall(ref skald.SessionRef, r skald.PlacedRecall) error {
	if err := t.writing("store.put_recall"); err != nil {
		return err
	}
	t.change(ref).recalls[r.AfterSeq] = cloneRecall(r)
	return nil
}

func (t *tx) Recalls(ref skald.SessionRef, from int64) ([]skald.PlacedRecall, error) {
	if err := t.reading("store.recalls"); err != nil {
		return nil, err
	}
	var out []skald.PlacedRecall
	for _, r := range sortedValues(t.read(ref).recalls) {
		if r.AfterSeq >= from {
			out = append(out, cloneRecall(r))
		}
	}
	return out, nil
}

func (t *tx) PutDeadLetter(d skald.DeadLetter) error {
	if err := t.writing("store.put_dead_letter"); err != nil {
		return err
	}
	t.dead = append(slices.Clip(t.dead), cloneDead(d))
	return nil
}

// DeadLetters lists the newest first.
func (t *tx) DeadLetters(scopes []skald.Scope, limit int) ([]skald.DeadLetter, error) {
	if err := t.reading("store.dead_letters"); err != nil {
		return nil, err
	}
	var out []skald.DeadLetter
	for _, d := range slices.Backward(t.dead) {
		if inScopes(scopes, d.Session.Scope, false) {
			out = append(out, cloneDead(d))
		}
	}
	return limited(out, limit), nil
}

func sortedValues[K cmp.Ordered, V any](m map[K]V) []V {
	var out []V
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[k])
	}
	return out
}
