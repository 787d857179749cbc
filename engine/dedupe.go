package engine

import (
	"strconv"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

// deduplicated is what a delivery turned out to be.
type deduplicated struct {
	fresh []incoming      // what the store lacks, in order
	known skald.TurnRange // the turns that were recognised; zero when none was
}

// deduplicate finds the messages of d that the store lacks. Identity is the host's entry id first, then the advancement key with
// the channel, the provider's ids, and content with position last (I2). What is known already is completed: entry ids, positions,
// and originals in the place of what was only seen in a view.
func (e *Engine) deduplicate(tx skald.Tx, s *skald.Session, d delivery) (out deduplicated, err error) {
	m := matcher{tx: tx, ref: s.Ref, d: d, used: map[int64]bool{}}
	if m.known, err = candidates(tx, s, d); err != nil {
		return out, err
	}
	byEntry := m.entries()
	again := map[string]bool{}
	var before incoming
	for i, in := range d.messages {
		if d.by == byCursor && in.entryID != "" {
			if again[in.entryID] {
				continue // the same entry of the transcript once more
			}
			again[in.entryID] = true
		}
		t, ok := byEntry[i]
		if !ok {
			t, ok, err = m.find(in, before)
		}
		if err == nil && ok {
			m.used[t.Seq], m.after = true, t.Seq
			out.extend(t.Seq)
			err = e.complete(tx, s, d, t, in)
		}
		if err != nil {
			return out, err
		}
		if !ok && !mirrors(in, before) {
			out.fresh = append(out.fresh, in)
		}
		before = in
	}
	return out, nil
}

func (o *deduplicated) extend(seq int64) {
	if o.known.StartSequence == 0 || seq < o.known.StartSequence {
		o.known.StartSequence = seq
	}
	o.known.EndSequence = max(o.known.EndSequence, seq)
}

// candidates reads the stored turns that could be one of the delivered messages. Where an entry id is stored the message's content
// needs no search.
func candidates(tx skald.Tx, s *skald.Session, d delivery) ([]skald.Turn, error) {
	if s.LastSeq == 0 || len(d.messages) == 0 {
		return nil, nil
	}
	var byEntry, byKey []skald.Turn
	var err error
	if ids := entryIDs(d.messages); len(ids) > 0 {
		if byEntry, err = tx.Turns(s.Ref, skald.TurnQuery{NoRaw: true, EntryIDs: ids}); err != nil {
			return nil, err
		}
	}
	if keys := unsettled(d.messages, byEntry); len(keys) > 0 && !d.named {
		if byKey, err = tx.Turns(s.Ref, skald.TurnQuery{NoRaw: true, MatchKeys: keys}); err != nil {
			return nil, err
		}
	}
	return merge(byKey, byEntry), nil
}

func entryIDs(list []incoming) (ids []string) {
	for _, in := range list {
		if in.entryID != "" {
			ids = append(ids, in.entryID)
		}
	}
	return ids
}

// unsettled are the match keys of the messages whose entry ids are not among the found turns.
func unsettled(list []incoming, found []skald.Turn) (keys []string) {
	known := make(map[string]bool, len(found))
	for _, t := range found {
		known[t.EntryID] = true
	}
	for _, in := range list {
		if in.entryID == "" || !known[in.entryID] {
			keys = append(keys, in.matchKey)
		}
	}
	return keys
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

// matcher gives every delivered message its stored turn. A turn is given once in a delivery.
type matcher struct {
	tx    skald.Tx
	ref   skald.SessionRef
	d     delivery
	known []skald.Turn
	used  map[int64]bool
	after int64 // the turn matched last: hosts deliver in order
}

// entries matches by the host's entry ids, which settle the matter: no other message may take these turns.
func (m *matcher) entries() map[int]skald.Turn {
	at := map[string]skald.Turn{}
	for _, t := range m.known {
		if t.EntryID != "" {
			at[t.EntryID] = t
		}
	}
	out := map[int]skald.Turn{}
	for i, in := range m.d.messages {
		if t, ok := at[in.entryID]; ok && in.entryID != "" {
			out[i], m.used[t.Seq] = t, true
		}
	}
	return out
}

// find looks for the stored turn by content, after the one matched last first, then by the provider's ids and as a delivery copy.
func (m *matcher) find(in, before incoming) (skald.Turn, bool, error) {
	var earlier *skald.Turn
	for i := range m.known {
		t := &m.known[i]
		if m.used[t.Seq] || t.MatchKey != in.matchKey || !m.samePlace(in, *t) {
			continue
		}
		claimed, err := m.claimed(in, *t)
		if err != nil {
			return skald.Turn{}, false, err
		}
		switch {
		case claimed:
		case t.Seq > m.after:
			return *t, true, nil
		case earlier == nil:
			earlier = t
		}
	}
	if earlier != nil {
		return *earlier, true, nil
	}
	return m.neighbour(in, before)
}

// samePlace reports that the host's entry ids and positions don't tell two messages apart. Two entries of the host are two messages,
// however alike (CAP-08), unless its transcript was written anew (CRS-05).
func (m *matcher) samePlace(in incoming, t skald.Turn) bool {
	if m.d.reset {
		return true
	}
	if in.entryID != "" && t.EntryID != "" {
		return false
	}
	return in.position < 0 || t.Position < 0 || in.position == t.Position
}

// claimed reports that t already came by this channel: an equal message by the same channel is a genuine repeat. Where a channel has
// no keys of its own, a message that tells its time is the same one delivered again.
func (m *matcher) claimed(in incoming, t skald.Turn) (bool, error) {
	switch m.d.by {
	case byCommit:
		return t.AdvancementKey != "", nil
	case byAfterTurn, byClient:
		if in.timed() {
			return false, nil
		}
		_, ok, err := m.tx.TurnKey(m.ref, channelKey(m.d.by, t.Seq))
		return ok, err
	}
	return false, nil
}

// neighbourReach is how many turns after the one matched last are compared by the provider's ids.
const neighbourReach = 6

// neighbour recognises the other form of a message, such as a redacted one, by the provider's ids, next to where it has to stand
// (CAP-13). It only looks where a part of the delivery is stored already.
func (m *matcher) neighbour(in, before incoming) (skald.Turn, bool, error) {
	if in.msg == nil || m.after == 0 || m.d.by == byClient || !in.hasProviderID() && !in.mirror() {
		return skald.Turn{}, false, nil
	}
	near, err := m.tx.Turns(m.ref, skald.TurnQuery{From: m.after, To: m.after + neighbourReach})
	if err != nil {
		return skald.Turn{}, false, err
	}
	for _, t := range near {
		stored := convert(t.Raw)
		if mirrors(in, stored) && t.Seq == m.after {
			return t, true, nil
		}
		if !m.used[t.Seq] && t.Seq > m.after && (t.EntryID == "" || in.entryID == "") && in.sameProviderID(stored) {
			return t, true, nil
		}
	}
	return skald.Turn{}, false, nil
}

func (in incoming) timed() bool { return in.msg != nil && !in.msg.Timestamp.IsZero() }

func (in incoming) hasProviderID() bool { return in.msg.ToolCallID != "" || in.msg.ResponseID != "" }

func (in incoming) sameProviderID(other incoming) bool {
	a, b := in.msg, other.msg
	if b == nil || a.Role != b.Role || a.ToolName != b.ToolName {
		return false
	}
	return a.ToolCallID != "" && message.ToolID(a.ToolCallID) == message.ToolID(b.ToolCallID) ||
		a.ResponseID != "" && a.ResponseID == b.ResponseID && a.Role == message.RoleAssistant
}

// mirrorModel is the model of the copies that the host makes of replies which it delivered to a channel.
const mirrorModel = "delivery-mirror"

func (in incoming) mirror() bool { return in.msg != nil && in.msg.Model == mirrorModel }

// mirrors reports that in is the host's delivery copy of the reply before it: one reply, stored once (CAP-06).
func mirrors(in, before incoming) bool {
	return in.mirror() && before.msg != nil && !before.mirror() && before.msg.Role == in.msg.Role &&
		before.msg.Text() == in.msg.Text()
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

// complete adds to a stored turn what this delivery knows. The key it came by is kept, so that a later equal message is a repeat.
func (e *Engine) complete(tx skald.Tx, s *skald.Session, d delivery, t skald.Turn, in incoming) error {
	if err := markChannel(tx, s.Ref, d.by, []skald.Turn{t}); err != nil {
		return err
	}
	old := t
	if in.mirror() && t.MatchKey != in.matchKey {
		return nil // the copy has an entry of its own; the reply keeps its own
	}
	if in.entryID != "" && (t.EntryID == "" || d.reset) {
		t.EntryID = in.entryID
	}
	if in.position >= 0 && (t.Position < 0 || d.reset) {
		t.Position = in.position
	}
	if t.AdvancementKey == "" && d.by == byCommit {
		t.AdvancementKey = d.key
	}
	if t.Source == skald.SourceView && d.by != byView && !t.Purged {
		return e.original(tx, s, d, t, in)
	}
	if t.EntryID == old.EntryID && t.Position == old.Position && t.AdvancementKey == old.AdvancementKey {
		return nil
	}
	return tx.UpdateTurn(s.Ref, t)
}

// original puts the host's own message in the place of what was seen in a view, with all that only it tells: who spoke, and when.
func (e *Engine) original(tx skald.Tx, s *skald.Session, d delivery, t skald.Turn, in incoming) error {
	n := e.makeTurn(*s, in, t.Seq, t.Purpose, d)
	n.Epoch, n.TurnID, n.Purpose, n.Forgotten = t.Epoch, t.TurnID, t.Purpose, t.Forgotten
	n.EntryID, n.Position, n.AdvancementKey = t.EntryID, t.Position, t.AdvancementKey
	n.MatchKey, n.Salt, n.Leaf, n.Link = t.MatchKey, newSalt(), t.Leaf, t.Link // the chain holds the view's leaf
	if err := tx.ReplaceRaw(s.Ref, n); err != nil {
		return err
	}
	if err := tx.DeleteTurnDocs(s.Ref, n.Seq, n.Seq); err != nil {
		return err
	}
	return tx.PutDocs(docsOf(s.Ref, n, in))
}
