package engine

import (
	"strconv"

	"github.com/skald-engine/skald"
)

// deduplicate returns the messages of d that the store lacks, in order. Identity is the host's entry id first, then the
// advancement key with the channel, then content with position (I2). What is known already is completed: entry ids, positions,
// and originals in the place of what was only seen in a view.
func (e *Engine) deduplicate(tx skald.Tx, s *skald.Session, d delivery) ([]incoming, error) {
	known, err := candidates(tx, s, d)
	if err != nil {
		return nil, err
	}
	var fresh []incoming
	used := map[int64]bool{}
	after := int64(0)
	for _, in := range d.messages {
		t, ok := match(in, known, used, after)
		if !ok || (t.EntryID == "" || in.entryID == "") && repeated(tx, s.Ref, d.by, t) {
			fresh = append(fresh, in)
			continue
		}
		used[t.Seq], after = true, t.Seq
		if err := e.complete(tx, s, d.by, t, in); err != nil {
			return nil, err
		}
	}
	return fresh, nil
}

// candidates reads the stored turns that could be one of the delivered messages.
func candidates(tx skald.Tx, s *skald.Session, d delivery) ([]skald.Turn, error) {
	if s.LastSeq == 0 || len(d.messages) == 0 {
		return nil, nil
	}
	q := skald.TurnQuery{NoRaw: true}
	for _, in := range d.messages {
		q.MatchKeys = append(q.MatchKeys, in.matchKey)
	}
	byKey, err := tx.Turns(s.Ref, q)
	if err != nil {
		return nil, err
	}
	q = skald.TurnQuery{NoRaw: true}
	for _, in := range d.messages {
		if in.entryID != "" {
			q.EntryIDs = append(q.EntryIDs, in.entryID)
		}
	}
	if len(q.EntryIDs) == 0 {
		return byKey, nil
	}
	byEntry, err := tx.Turns(s.Ref, q)
	if err != nil {
		return nil, err
	}
	return merge(byKey, byEntry), nil
}

// merge joins two lists in order of sequence without doubles.
func merge(a, b []skald.Turn) []skald.Turn {
	var out []skald.Turn
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Seq < b[0].Seq:
			out, a = append(out, a[0]), a[1:]
		case len(a) == 0 || b[0].Seq < a[0].Seq:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	return out
}

// match finds the stored turn that in is, among known (in order), not before the turn matched last.
func match(in incoming, known []skald.Turn, used map[int64]bool, after int64) (skald.Turn, bool) {
	for _, t := range known {
		if in.entryID != "" && t.EntryID == in.entryID {
			return t, true
		}
	}
	for _, t := range known {
		if used[t.Seq] || t.Seq <= after || t.MatchKey != in.matchKey {
			continue
		}
		if in.entryID != "" && t.EntryID != "" { // two entries of the host, however alike (CAP-08)
			continue
		}
		if in.position >= 0 && t.Position >= 0 && in.position != t.Position {
			continue
		}
		return t, true
	}
	return skald.Turn{}, false
}

// repeated reports that t already came by this channel: an equal message by the same channel is a genuine repeat.
func repeated(tx skald.Tx, ref skald.SessionRef, by channel, t skald.Turn) bool {
	switch by {
	case byCommit:
		return t.AdvancementKey != ""
	case byAfterTurn, byClient:
		_, ok, err := tx.TurnKey(ref, channelKey(by, t.Seq))
		return err == nil && ok
	}
	return false
}

func channelKey(by channel, seq int64) string { return string(by) + ":" + strconv.FormatInt(seq, 10) }

// markChannel remembers that the turns came by a channel which has no keys of its own.
func markChannel(tx skald.Tx, ref skald.SessionRef, by channel, turns []skald.Turn) error {
	if by != byAfterTurn && by != byClient {
		return nil
	}
	for _, t := range turns {
		if err := tx.PutTurnKey(ref, channelKey(by, t.Seq), skald.TurnRange{StartSequence: t.Seq, EndSequence: t.Seq}); err != nil {
			return err
		}
	}
	return nil
}

// complete adds to a stored turn what the second delivery knows.
func (e *Engine) complete(tx skald.Tx, s *skald.Session, by channel, t skald.Turn, in incoming) error {
	if err := markChannel(tx, s.Ref, by, []skald.Turn{t}); err != nil {
		return err
	}
	full, err := tx.Turns(s.Ref, skald.TurnQuery{From: t.Seq, To: t.Seq})
	if err != nil || len(full) == 0 {
		return err
	}
	t = full[0]
	if t.Source == skald.SourceView && by != byView && !t.Purged {
		t.Raw, t.Source, t.Salt = in.raw, skald.SourceHost, newSalt()
		if err := tx.ReplaceRaw(s.Ref, t); err != nil {
			return err
		}
	}
	if in.entryID == "" || t.EntryID != "" {
		return nil
	}
	t.EntryID = in.entryID
	if in.position >= 0 {
		t.Position = in.position
	}
	return tx.UpdateTurn(s.Ref, t)
}
