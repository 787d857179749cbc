package openviking

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/skald-engine/skald"
)

// Rebuilt returns when the server's sessions were read into this local store, now or at an earlier start, or ctx ends.
func (s *Store) Rebuilt(ctx context.Context) error { return s.health.rebuilt.wait(ctx) }

// Tried returns when the server was tried for the first time: its sessions were read then, or it cannot be used now.
func (s *Store) Tried(ctx context.Context) error { return s.health.tried.wait(ctx) }

// rebuild reads the server's sessions into a local store that has not read this server's yet: a new data folder, one whose file was lost, or one
// that had another server or none before. Then every session that the server may lack is due.
func (s *Store) rebuild(ctx context.Context) error {
	marks, err := s.records(ctx, skald.RecordQuery{Scopes: []skald.Scope{s.home()}, Kind: kindRebuilt})
	if err != nil {
		return err
	}
	if len(marks) != 1 || marks[0].ID != s.o.Client.URL() {
		if err := s.meet(ctx, marks); err != nil {
			return err
		}
	}
	s.health.rebuilt.set()
	s.health.tried.set()
	return nil
}

// meet reads the sessions of a server that this store has not met, and marks those that it has for it.
func (s *Store) meet(ctx context.Context, before []skald.Record) error {
	if len(before) > 0 {
		if err := s.leave(ctx, before); err != nil {
			return err
		}
	}
	changes, err := s.readJournal(ctx)
	if err != nil {
		return err
	}
	list, err := s.o.Client.Sessions(ctx)
	if err != nil {
		return err
	}
	for _, x := range list {
		if x.ID == journalName {
			continue
		}
		if err := s.rebuildSession(ctx, x.ID, changes); err != nil {
			return err
		}
	}
	return s.local.Update(ctx, func(tx skald.Tx) error {
		if err := changes.memories(s, tx); err != nil {
			return err
		}
		if err := s.markAll(tx); err != nil {
			return err
		}
		return putRecord(tx, s.home(), kindRebuilt, s.o.Client.URL(), map[string]any{"sessions": len(list)}, s.now())
	})
}

// leave forgets how far an earlier server was brought.
func (s *Store) leave(ctx context.Context, before []skald.Record) error {
	return s.local.Update(ctx, func(tx skald.Tx) error {
		states, err := tx.Records(skald.RecordQuery{Kind: kindState})
		for _, r := range append(states, before...) {
			if s.mine(r.Scope) {
				err = firstOf(err, tx.DeleteRecord(r.Scope, r.Kind, r.ID))
			}
		}
		return err
	})
}

// markAll makes every session due of which the server lacks something.
func (s *Store) markAll(tx skald.Tx) error {
	sessions, err := tx.Sessions(skald.SessionQuery{})
	if err != nil {
		return err
	}
	for _, x := range sessions {
		if !s.mine(x.Ref.Scope) || x.LastSeq == 0 {
			continue
		}
		if done, err := s.complete(tx, x.Ref); err != nil || done {
			if err != nil {
				return err
			}
			continue
		}
		if err := putDue(tx, x.Ref, s.now()); err != nil {
			return err
		}
	}
	return nil
}

// rebuilt is a session as the server has it.
type rebuilt struct {
	header sessionHeader
	turns  []skald.Turn
	bounds []bound
}

// bound is an archive on the server, in turns.
type bound struct {
	from, to int64
	uri      string
	diff     diff
}

func (s *Store) rebuildSession(ctx context.Context, name string, changes changes) error {
	have, err := s.takeStock(ctx, name, 0)
	if err != nil {
		return err
	}
	slices.Reverse(have.archives)
	r, err := have.turns(name, changes)
	if err != nil {
		s.o.Log.Error("a session of the server cannot be read; it is left out", "session", name, "error", err)
		s.health.refused(fmt.Errorf("session %s cannot be read back: %w", name, err))
		return nil
	}
	if len(r.turns) == 0 {
		return nil // not Skald's
	}
	for i, b := range r.bounds {
		raw, err := s.o.Client.Read(ctx, b.uri+"/memory_diff.json")
		if unlessMissing(err) != nil {
			return err
		}
		if err == nil {
			if r.bounds[i].diff, err = parseDiff(raw); err != nil {
				return err
			}
		}
	}
	return s.local.Update(ctx, func(tx skald.Tx) error { return s.store(tx, name, r) })
}

// turns unpacks the turns in their order, each once, with what changed after they were delivered, and checks them against their hashes.
func (h stock) turns(name string, changes changes) (r rebuilt, err error) {
	next := int64(1)
	read := func(sources []string) error {
		seq, _, ok := carries(sources)
		if !ok || seq < next {
			return nil // somebody else's, or a delivery that came twice
		}
		if seq > next {
			return fmt.Errorf("turn %d is missing", next)
		}
		head, err := unpackTurn(sources)
		if err != nil {
			return fmt.Errorf("turn %d: %w", seq, err)
		}
		if later, ok := changes.turns[turnKey{name, seq}]; ok {
			head.Turn = later.Turn
		}
		if err := intact(head.Turn); err != nil {
			return err
		}
		r.header, next = head.Session, next+1
		r.turns = append(r.turns, head.Turn)
		return nil
	}
	for _, a := range h.archives {
		from := next
		for _, m := range a.messages {
			if err := read(m.Sources); err != nil {
				return r, err
			}
		}
		if next > from {
			r.bounds = append(r.bounds, bound{from: from, to: next - 1, uri: a.uri})
		}
	}
	for _, m := range h.live {
		if err := read(m.Sources); err != nil {
			return r, err
		}
	}
	return r, nil
}

// intact checks a turn's bytes against the hash that the chain was made of.
func intact(t skald.Turn) error {
	if t.Purged || t.Source == skald.SourceView || len(t.Salt) == 0 {
		return nil
	}
	sum := sha256.Sum256(append(bytes.Clone(t.Salt), t.Raw...))
	if !bytes.Equal(sum[:], t.Leaf) && !bytes.Equal(viewLeaf(t), t.Leaf) {
		return fmt.Errorf("turn %d is not what was stored", t.Seq)
	}
	return nil
}

// viewLeaf is the leaf of a turn that was first seen in the host's view (engine, chain.go).
func viewLeaf(t skald.Turn) []byte {
	sum := sha256.Sum256([]byte("view\x00" + t.MatchKey))
	return sum[:]
}
