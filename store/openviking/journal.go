package openviking

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client/openviking"
)

// journalName is the session on the server that holds, as carried by its messages, what changed after it was delivered: OpenViking's messages
// cannot be changed. It is read by a rebuild only. An entry that stands there twice does no harm.
const journalName = "skald-journal"

// The entries.
const (
	opTurn   = "turn"   // the turn Seq of Ref changed: forgotten, purged, its bytes replaced
	opDrop   = "drop"   // the session was deleted
	opMemory = "memory" // memory_store kept Memory
	opForget = "forget" // Memory was deleted
)

// entry is a change that the server lacks.
type entry struct {
	Op     string           `json:"op"`
	Ref    skald.SessionRef `json:"ref,omitzero"`
	Seq    int64            `json:"seq,omitempty"`
	Name   string           `json:"name,omitempty"` // opDrop: the session's id on the server
	Memory *skald.Memory    `json:"memory,omitempty"`
	Since  time.Time        `json:"since"`
}

// home is the scope of records that belong to no session.
func (s *Store) home() skald.Scope {
	return skald.Scope{Account: s.o.Identity.Account, Kind: skald.ScopeUser, User: s.o.Identity.User}
}

// putEntry adds an entry behind all others.
func (s *Store) putEntry(tx skald.Tx, e entry) error {
	now := s.now()
	e.Since = now
	for {
		last := s.serial.Load()
		next := max(last+1, now.UnixNano())
		if s.serial.CompareAndSwap(last, next) {
			return putRecord(tx, s.home(), kindJournal, fmt.Sprintf("%020d", next), e, now)
		}
	}
}

// deliverJournal sends the entries in their order.
func (s *Store) deliverJournal(ctx context.Context) error {
	for {
		list, err := s.records(ctx, skald.RecordQuery{Scopes: []skald.Scope{s.home()}, Kind: kindJournal, Limit: 100})
		if err != nil || len(list) == 0 {
			return err
		}
		for _, r := range list {
			var e entry
			if err := json.Unmarshal(r.Body, &e); err != nil {
				return skald.E("openviking.journal", skald.KindInternal, "entry %s: %w", r.ID, err)
			}
			if err := s.send(ctx, e); err != nil {
				if openviking.AsFault(err) == nil || openviking.Unclear(err) || openviking.Down(err) {
					return err
				}
				s.o.Log.Warn("the server refuses a change", "change", e.Op, "error", err) // it would refuse it for ever
				s.health.refused(err)
			}
			if err := s.local.Update(ctx, func(tx skald.Tx) error { return tx.DeleteRecord(r.Scope, r.Kind, r.ID) }); err != nil {
				return err
			}
		}
	}
}

func (s *Store) send(ctx context.Context, e entry) error {
	switch e.Op {
	case opDrop:
		return s.o.Client.DeleteSession(ctx, e.Name)
	case opMemory:
		return firstOf(s.keep(ctx, e), s.o.Client.Write(ctx, s.fileOf(*e.Memory), e.Memory.Text))
	case opForget:
		return firstOf(s.keep(ctx, e), s.o.Client.Delete(ctx, s.fileOf(*e.Memory)))
	}
	return s.sendTurn(ctx, e)
}

func firstOf(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// keep puts a memory's entry into the journal on the server.
func (s *Store) keep(ctx context.Context, e entry) error {
	body, err := json.Marshal(e)
	if err != nil {
		return skald.E("openviking.journal", skald.KindInternal, "%w", err)
	}
	packed, err := pack(body)
	if err != nil {
		return err
	}
	return s.journal(ctx, []string{markJournal, e.Op, "", packed})
}

// sendTurn carries a changed turn, unless the turn itself is still to be delivered: it goes as it is now.
func (s *Store) sendTurn(ctx context.Context, e entry) error {
	var st state
	var sources []string
	err := s.local.View(ctx, func(tx skald.Tx) (err error) {
		if st, err = readState(tx, e.Ref); err != nil || st.Pushed < e.Seq {
			return err
		}
		session, err := tx.Session(e.Ref)
		if err != nil {
			return err
		}
		turns, err := tx.Turns(e.Ref, skald.TurnQuery{From: e.Seq, To: e.Seq})
		if err != nil || len(turns) == 0 {
			return err
		}
		sources, err = carry(headerOf(session), turns[0])
		return err
	})
	if skald.KindOf(err) == skald.KindNotFound { // the session is gone
		return nil
	}
	if err != nil || sources == nil {
		return err
	}
	return s.journal(ctx, []string{markJournal, opTurn, st.Name, sources[carrierSize-1]})
}

// journal appends to the journal's session, which is made first so that the server never archives it.
func (s *Store) journal(ctx context.Context, sources []string) error {
	if !s.server.journal {
		if err := s.o.Client.CreateSession(ctx, journalName); err != nil && skald.KindOf(err) != skald.KindExists {
			return err
		}
		s.server.journal = true
	}
	return s.o.Client.AppendOne(ctx, journalName, openviking.Message{Role: "system", Parts: []openviking.Part{openviking.Text("")}, Sources: sources})
}

func (s *Store) records(ctx context.Context, q skald.RecordQuery) (list []skald.Record, err error) {
	err = s.local.View(ctx, func(tx skald.Tx) error {
		list, err = tx.Records(q)
		return err
	})
	return list, err
}
