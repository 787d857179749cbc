package storetest

import (
	"testing"
	"time"

	"github.com/skald-engine/skald"
)

// Two tenants use the same ids for everything and must never meet (I9).
var tenantTests = map[string]func(*testing.T, skald.Store){
	"SameIDsInTwoScopesNeverMeet": func(t *testing.T, s skald.Store) {
		mine := chat
		for _, scope := range []skald.Scope{bob, stranger, {Account: "acme", Kind: skald.ScopeUser, User: "alice", Agent: "main"},
			{Account: "acme", Kind: skald.ScopeAgent, Agent: "alice"}, {Account: "acme", Kind: skald.ScopeUser, User: "Alice"},
			{Account: "ac", Kind: skald.ScopeUser, User: "mealice"}} {
			his := skald.SessionRef{Scope: scope, ID: mine.ID}
			update(t, s, func(tx skald.Tx) error { return writeForeign(tx, his) })
		}
		got := snapshot(t, s)
		got.Sessions, got.Dead, got.Memories, got.Hits, got.Jobs, got.Files, got.Records = nil, nil, nil, nil, nil, nil, nil // asked for every scope
		same(t, "what belongs to my session", got, state{})
		view(t, s, func(tx skald.Tx) error {
			only := []skald.Scope{alice}
			sessions, err1 := tx.Sessions(skald.SessionQuery{Scopes: only})
			dead, err2 := tx.DeadLetters(only, 0)
			memories, err3 := tx.Memories(skald.MemoryQuery{Scopes: only})
			res, err4 := tx.Search(skald.SearchQuery{Scopes: only, Terms: []string{"common"}})
			jobs, err5 := tx.Jobs(only, 0)
			_, err := tx.Memory(alice, "viking://user/alice/memories/profile.md")
			wantKind(t, "a foreign memory", err, skald.KindNotFound)
			_, err = tx.Archive(mine, 1)
			wantKind(t, "a foreign archive", err, skald.KindNotFound)
			same(t, "lists", []int{len(sessions), len(dead), len(memories), len(res.Hits), len(jobs)}, []int{0, 0, 0, 0, 0})
			same(t, "docs", res.Docs, int64(0))
			same(t, "df", res.DF, map[string]int64{"common": 0})
			return firstError(func() error { return err1 }, func() error { return err2 }, func() error { return err3 }, func() error { return err4 }, func() error { return err5 })
		})
	},
	"WritesTouchOneScope": func(t *testing.T, s skald.Store) {
		his := skald.SessionRef{Scope: stranger, ID: chat.ID}
		update(t, s, writeEverything)
		before := snapshot(t, s)
		update(t, s, func(tx skald.Tx) error { return writeForeign(tx, his) })
		update(t, s, func(tx skald.Tx) error {
			purged := turn(1)
			purged.Purged = true
			return firstError(
				func() error { return tx.UpdateTurn(his, purged) },
				func() error { return tx.DeleteTurnDocs(his, 0, 99) },
				func() error { return tx.DeleteArchiveDocs(his, 1) },
				func() error { return tx.DeleteURIDocs(stranger, "viking://user/alice/memories/profile.md") },
				func() error { return tx.DeleteMemory(stranger, "viking://user/alice/memories/profile.md") },
			)
		})
		after := snapshot(t, s)
		after.Sessions, after.Dead, after.Jobs, after.Files, after.Records = before.Sessions, before.Dead, before.Jobs, before.Files, before.Records // the stranger's are among them
		same(t, "my data", after, before)
	},
	"DuplicateScopesCountOnce": func(t *testing.T, s skald.Store) {
		update(t, s, writeEverything)
		twice := []skald.Scope{alice, alice}
		view(t, s, func(tx skald.Tx) error {
			res, err := tx.Search(skald.SearchQuery{Scopes: twice, Terms: []string{"common"}})
			same(t, "hits, docs, df", []int64{int64(len(res.Hits)), res.Docs, res.DF["common"]}, []int64{4, 4, 4})
			return err
		})
		same(t, "sessions", read(t, s, list(skald.SessionQuery{Scopes: twice})), []string{chat.ID})
		same(t, "memories", len(read(t, s, uris(skald.MemoryQuery{Scopes: twice}))), 1)
	},
	"SearchOverSeveralScopes": func(t *testing.T, s skald.Store) {
		update(t, s, func(tx skald.Tx) error {
			return tx.PutDocs([]skald.Doc{turnDoc(chat, 1, "x"), memoryDoc(agent, "viking://agent/main/m", "x", "y"), memoryDoc(bob, "viking://b", "x")})
		})
		res := search(t, s, skald.SearchQuery{Scopes: []skald.Scope{alice, agent}, Terms: []string{"x", "y"}})
		same(t, "hits", found(res), []string{"turn 1", "viking://agent/main/m"})
		same(t, "df", res.DF, map[string]int64{"x": 2, "y": 1})
		for _, h := range res.Hits {
			if h.Doc.Scope != alice && h.Doc.Scope != agent {
				t.Errorf("hit of %v", h.Doc.Scope)
			}
		}
	},
}

// writeForeign writes for another tenant what writeEverything writes for chat.
func writeForeign(tx skald.Tx, ref skald.SessionRef) error {
	const uri = "viking://user/alice/memories/profile.md"
	j := job(ref.Scope.Key(), ref, 0)
	j.Lease = at(0).Add(time.Hour)
	return firstError(
		func() error { return tx.PutSession(session(ref, 1)) },
		func() error { return tx.AppendTurns(ref, turns(1, 3)) },
		func() error { return tx.PutTurnKey(ref, "key", skald.TurnRange{StartSequence: 1}) },
		func() error { return tx.PutRecall(ref, recall(2)) },
		func() error { return tx.PutDeadLetter(deadLetter(ref, "x")) },
		func() error { return tx.PutArchive(archive(ref, 1)) },
		func() error { return tx.PutCheckpoint(ref, checkpoint("c1")) },
		func() error { return tx.PutMemory(newMemory(ref.Scope, uri)) },
		func() error {
			return tx.PutDocs([]skald.Doc{turnDoc(ref, 1, "common"), archiveDoc(ref, 1, "common"), memoryDoc(ref.Scope, uri, "common")})
		},
		func() error { return tx.PutTrace(ref, trace(1)) },
		func() error { return tx.PutJob(j) },
	)
}
