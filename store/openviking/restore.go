package openviking

import (
	"bytes"
	"encoding/hex"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/index"
	"github.com/skald-engine/skald/message"
)

// store writes a session with its index, its archives, which get their summaries anew, and the server's memories.
func (s *Store) store(tx skald.Tx, name string, r rebuilt) error {
	ref, there, err := s.vacant(tx, r)
	if err != nil {
		return err
	}
	if there {
		return s.recognise(tx, ref, name)
	}
	if err := tx.AppendTurns(ref, r.turns); err != nil {
		return err
	}
	if err := indexTurns(tx, ref, r.turns); err != nil {
		return err
	}
	if err := putKeys(tx, ref, r.turns); err != nil {
		return err
	}
	session := r.session(ref)
	if err := tx.PutSession(session); err != nil {
		return err
	}
	d := &delivery{store: s, session: session, state: state{Name: name, Created: true, Pushed: int64(len(r.turns))}}
	for i, b := range r.bounds {
		if err := d.restore(tx, i+1, b, r.turns); err != nil {
			return err
		}
	}
	return putState(tx, ref, d.state, s.now())
}

// recognise notes by which name the server has a session that is here already.
func (s *Store) recognise(tx skald.Tx, ref skald.SessionRef, name string) error {
	st, err := readState(tx, ref)
	if err != nil || st.Created {
		return err
	}
	st.Name, st.Created = name, true
	return putState(tx, ref, st, s.now())
}

// vacant is where a session goes: its own place, or one beside it when that is taken by a session that went another way. there: all of its
// turns are in the local store already.
func (s *Store) vacant(tx skald.Tx, r rebuilt) (ref skald.SessionRef, there bool, err error) {
	id, last := s.o.Identity, r.turns[len(r.turns)-1]
	ref = skald.SessionRef{Scope: skald.Scope{Account: id.Account, Kind: skald.ScopeUser, User: id.User, Agent: r.header.Scope}, ID: r.header.ID}
	for range 2 {
		_, top, err := tx.LastLink(ref)
		if err != nil || top == 0 {
			return ref, false, err
		}
		here, err := tx.Turns(ref, skald.TurnQuery{From: last.Seq, To: last.Seq, NoRaw: true})
		if err != nil || len(here) == 1 && bytes.Equal(here[0].Link, last.Link) {
			return ref, true, err
		}
		ref.ID = r.header.ID + "-" + hex.EncodeToString(last.Link[:min(4, len(last.Link))])
	}
	return ref, true, nil
}

func indexTurns(tx skald.Tx, ref skald.SessionRef, turns []skald.Turn) error {
	for _, t := range turns {
		read, err := message.Parse(t.Raw)
		if err != nil || t.Forgotten || t.Purged {
			continue
		}
		if err := tx.PutDocs(index.DocsOfTurn(ref, t, read)); err != nil {
			return err
		}
	}
	return nil
}

// putKeys makes the host's deliveries known again, so that a repetition stores nothing.
func putKeys(tx skald.Tx, ref skald.SessionRef, turns []skald.Turn) error {
	for i := 0; i < len(turns); {
		from := i
		for i++; i < len(turns) && turns[i].AdvancementKey == turns[from].AdvancementKey; i++ {
		}
		if key := turns[from].AdvancementKey; key != "" {
			if err := tx.PutTurnKey(ref, key, skald.TurnRange{StartSequence: turns[from].Seq, EndSequence: turns[i-1].Seq}); err != nil {
				return err
			}
		}
	}
	return nil
}

// session is the state of a session whose turns are read: nothing of it is published, so that the model sees what the epoch holds.
func (r rebuilt) session(ref skald.SessionRef) skald.Session {
	last := r.turns[len(r.turns)-1]
	h := r.header
	s := skald.Session{Ref: ref, Agent: h.Agent, Key: h.Key, HostID: h.HostID, Audience: h.Audience, Lifecycle: h.Lifecycle, Parent: h.Parent,
		Created: h.Created, Updated: last.Time, LastCommitTurn: last.Time, LastSeq: last.Seq, Epoch: max(last.Epoch, 1), EpochPosition: h.EpochStart,
		EpochFrom: 1, OpenFrom: 1}
	for _, t := range r.turns {
		s.Epoch = max(s.Epoch, t.Epoch)
	}
	s.EpochFrom = last.Seq + 1
	for i := len(r.turns) - 1; i >= 0; i-- {
		if r.turns[i].Epoch == s.Epoch {
			s.EpochFrom = r.turns[i].Seq
		}
	}
	if n := len(r.bounds); n > 0 {
		s.OpenFrom, s.Archives = r.bounds[n-1].to+1, n
		s.LastCommit = r.turns[r.bounds[n-1].to-1].Time
	}
	s.Published = s.EpochFrom - 1
	for _, t := range r.turns[s.OpenFrom-1:] {
		if t.Purpose != skald.PurposeTalk {
			continue
		}
		s.OpenTokens += t.Tokens
		if t.Role == skald.RoleUser {
			s.OpenUserTurns++
		}
		if s.OpenSince.IsZero() {
			s.OpenSince = t.Time
		}
	}
	return s
}

// restore makes an archive anew: its bounds are the server's, its summary and its memories are made again in the background.
func (d *delivery) restore(tx skald.Tx, index int, b bound, turns []skald.Turn) error {
	at := turns[b.to-1].Time
	a := skald.Archive{Session: d.ref(), Index: index, Epoch: turns[b.to-1].Epoch, From: b.from, To: b.to, Cause: "rebuild",
		State: skald.ArchiveClosed, Created: at, Updated: at}
	if err := tx.PutArchive(a); err != nil {
		return err
	}
	if err := tx.PutCheckpoint(d.ref(), archive.Checkpoint(a)); err != nil {
		return err
	}
	if err := archive.Redo(tx, d.ref(), index, d.store.now()); err != nil {
		return err
	}
	d.state.Commits = index
	c := committed{Index: index, URI: b.uri, Since: at, State: "done"}
	if err := d.putArchive(tx, c); err != nil {
		return err
	}
	return d.take(tx, c, b.diff)
}
