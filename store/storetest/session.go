package storetest

import (
	"encoding/json"
	"testing"

	"github.com/skald-engine/skald"
)

// session makes a session with every field set.
func session(ref skald.SessionRef, minute int) skald.Session {
	return skald.Session{
		Ref: ref, Agent: "main", Key: "agent:main:" + ref.ID, HostID: "host-1", Audience: skald.AudienceDirect, Created: at(0), Updated: at(minute),
		LastSeq: 3, Epoch: 2, EpochFrom: 2, EpochPosition: 5, Lifecycle: "rev-2", OpenFrom: 2, OpenTokens: 30, OpenUserTurns: 1, OpenSince: at(1), LastCommit: at(2),
		CommitFails: 1, RetryAt: at(3), Attention: "look", Archives: 1, Published: 1, Publication: 1, Head: "notes \xff\x00 end", HeadSet: true,
		Budget: 1000, Unviewed: 2000, ReportedInput: 900, ViewTokens: 800, LastCommitTurn: at(4), Cursor: json.RawMessage(`{ "at": 1 }`),
		Parent: "viking://user/alice/sessions/p/turns/1", Policy: json.RawMessage(`{"every":2}`), Meta: json.RawMessage(`[]`), UsedCount: 2, SkillCount: 3,
	}
}

var sessionTests = map[string]func(*testing.T, skald.Store){
	"PutAndGet": func(t *testing.T, s skald.Store) {
		view(t, s, func(tx skald.Tx) error {
			_, err := tx.Session(chat)
			wantKind(t, "missing", err, skald.KindNotFound)
			return nil
		})
		want := session(chat, 1)
		update(t, s, func(tx skald.Tx) error { return tx.PutSession(want) })
		same(t, "session", read(t, s, getSession(chat)), want)
		want = skald.Session{Ref: chat, Updated: at(2)}
		update(t, s, func(tx skald.Tx) error { return tx.PutSession(want) })
		same(t, "replaced", read(t, s, getSession(chat)), want)
	},
	"DeleteIsComplete": func(t *testing.T, s skald.Store) {
		other := skald.SessionRef{Scope: alice, ID: "other"}
		stay := memoryDoc(alice, "viking://user/alice/memories/profile.md", "common", "delta")
		stay.Session = chat.ID
		update(t, s, func(tx skald.Tx) error {
			return firstError(
				func() error { return tx.PutSession(session(other, 2)) },
				func() error { return tx.AppendTurns(other, turns(1, 2)) },
				func() error { return tx.PutDeadLetter(deadLetter(other, "his")) },
				func() error { return tx.PutJob(job("other", other, 0)) },
				func() error { return tx.PutDocs([]skald.Doc{turnDoc(other, 1, "common")}) },
			)
		})
		before, health := snapshot(t, s), stored(t, s)
		update(t, s, writeEverything)
		update(t, s, func(tx skald.Tx) error {
			return firstError(
				func() error { return tx.DeleteURIDocs(alice, stay.URI) },
				func() error { return tx.PutDocs([]skald.Doc{stay}) },
				func() error { return tx.DeleteSession(chat) },
				func() error { return tx.DeleteSession(chat) },
				func() error { return tx.DeleteSession(skald.SessionRef{Scope: stranger, ID: chat.ID}) },
			)
		})
		after := snapshot(t, s)
		same(t, "memory", after.Memories, []skald.Memory{newMemory(alice, stay.URI)})
		same(t, "documents", len(after.Hits), 2)
		after.Memories, after.Hits, after.Files, after.Records = nil, before.Hits, nil, nil
		same(t, "the rest", after, before)
		after.Hits = nil
		left := stored(t, s)
		same(t, "counts", []int64{left.Turns, left.Docs}, []int64{health.Turns, health.Docs + 1})
		// The id can be taken again, and begins anew.
		update(t, s, func(tx skald.Tx) error { return tx.AppendTurns(chat, turns(1, 1)) })
		same(t, "new turns", seqs(read(t, s, func(tx skald.Tx) ([]skald.Turn, error) { return tx.Turns(chat, skald.TurnQuery{}) })), []int64{1})
	},
	"DeletedSourcesAreNoWayBack": func(t *testing.T, s skald.Store) {
		m := newMemory(alice, "viking://user/alice/memories/profile.md")
		m.Sources = []skald.MemorySource{{Session: chat, From: 1, To: 3, Deleted: at(7)}}
		update(t, s, func(tx skald.Tx) error { return tx.PutMemory(m) })
		q := skald.MemoryQuery{Scopes: everyone}
		same(t, "memory", read(t, s, func(tx skald.Tx) ([]skald.Memory, error) { return tx.Memories(q) }), []skald.Memory{m})
		q.Source = &chat
		same(t, "by source", read(t, s, func(tx skald.Tx) ([]skald.Memory, error) { return tx.Memories(q) }), []skald.Memory(nil))
	},
	"TurnsAloneMakeNoSession": func(t *testing.T, s skald.Store) {
		update(t, s, func(tx skald.Tx) error { return tx.AppendTurns(chat, turns(1, 1)) })
		same(t, "sessions", read(t, s, list(skald.SessionQuery{})), []string(nil))
	},
	"List": func(t *testing.T, s skald.Store) {
		ref := func(scope skald.Scope, id string) skald.SessionRef { return skald.SessionRef{Scope: scope, ID: id} }
		update(t, s, func(tx skald.Tx) error {
			closed := session(ref(alice, "closed"), 5)
			closed.OpenFrom = closed.LastSeq + 1
			empty := session(ref(alice, "empty"), 4)
			empty.LastSeq, empty.OpenFrom, empty.Key = 0, 0, ""
			return firstError(
				func() error { return tx.PutSession(session(ref(alice, "b"), 7)) },
				func() error { return tx.PutSession(session(ref(alice, "a"), 7)) },
				func() error { return tx.PutSession(closed) },
				func() error { return tx.PutSession(empty) },
				func() error { return tx.PutSession(session(ref(bob, "m"), 6)) },
				func() error { return tx.PutSession(session(ref(stranger, "z"), 9)) },
			)
		})
		for name, c := range map[string]struct {
			q    skald.SessionQuery
			want []string
		}{
			"newest first, ties by id": {skald.SessionQuery{Scopes: []skald.Scope{alice}}, []string{"a", "b", "closed", "empty"}},
			"two scopes":               {skald.SessionQuery{Scopes: []skald.Scope{bob, alice, bob}}, []string{"a", "b", "m", "closed", "empty"}},
			"all scopes":               {skald.SessionQuery{}, []string{"z", "a", "b", "m", "closed", "empty"}},
			"open":                     {skald.SessionQuery{Open: true}, []string{"z", "a", "b", "m"}},
			"open of a scope":          {skald.SessionQuery{Open: true, Scopes: []skald.Scope{alice}}, []string{"a", "b"}},
			"limit":                    {skald.SessionQuery{Limit: 3}, []string{"z", "a", "b"}},
			"limit over scopes":        {skald.SessionQuery{Limit: 3, Scopes: []skald.Scope{alice, bob}}, []string{"a", "b", "m"}},
			"key":                      {skald.SessionQuery{Key: "agent:main:b"}, []string{"b"}},
			"key of another scope":     {skald.SessionQuery{Key: "agent:main:m", Scopes: []skald.Scope{alice}}, nil},
			"unknown scope":            {skald.SessionQuery{Scopes: []skald.Scope{agent}}, nil},
		} {
			same(t, name, read(t, s, list(c.q)), c.want)
		}
	},
}

func stored(t *testing.T, s skald.Store) skald.StoreHealth {
	t.Helper()
	h, err := s.Health(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func getSession(ref skald.SessionRef) func(skald.Tx) (skald.Session, error) {
	return func(tx skald.Tx) (skald.Session, error) { return tx.Session(ref) }
}

func list(q skald.SessionQuery) func(skald.Tx) ([]string, error) {
	return func(tx skald.Tx) (ids []string, err error) {
		sessions, err := tx.Sessions(q)
		for _, s := range sessions {
			ids = append(ids, s.Ref.ID)
		}
		return ids, err
	}
}
