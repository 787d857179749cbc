package storetest

import (
	"slices"
	"testing"

	"github.com/skald-engine/skald"
)

var scopeTests = map[string]func(*testing.T, skald.Store){
	"Scopes": func(t *testing.T, s skald.Store) {
		update(t, s, func(tx skald.Tx) error {
			return firstError(
				func() error { return writeForeign(tx, skald.SessionRef{Scope: bob, ID: "b"}) },
				func() error { return tx.PutRecord(newRecord(agent, "1", "x")) },
				func() error { return tx.PutRecord(newRecord(skald.Scope{}, "1", "the daemon's")) },
				func() error { return writeForeign(tx, skald.SessionRef{Scope: stranger, ID: "b"}) },
			)
		})
		scopes := func(account string) []skald.Scope {
			return read(t, s, func(tx skald.Tx) ([]skald.Scope, error) { return tx.Scopes(account) })
		}
		for _, want := range []skald.Scope{agent, bob} {
			same(t, want.Key(), slices.Contains(scopes("acme"), want), true)
		}
		for _, got := range scopes("acme") {
			same(t, got.Key(), got.Account, "acme")
		}
		same(t, "other", scopes("other"), []skald.Scope{stranger})
		same(t, "none", scopes("nobody"), []skald.Scope(nil))
		same(t, "the daemon's own", scopes(""), []skald.Scope(nil))
	},
	// What a deleted scope held is gone in every way of asking, and nothing else is.
	"DeleteScopeIsComplete": func(t *testing.T, s skald.Store) {
		his := skald.SessionRef{Scope: bob, ID: chat.ID}
		update(t, s, func(tx skald.Tx) error {
			return firstError(
				func() error { return writeEverything(tx) },
				func() error { return tx.PutRecord(newRecord(skald.Scope{}, "1", "the daemon's")) },
			)
		})
		before := snapshot(t, s)
		update(t, s, func(tx skald.Tx) error {
			return firstError(
				func() error { return writeForeign(tx, his) },
				func() error { return tx.PutFile(file(bob, "viking://user/bob/a.md")) },
				func() error { return tx.PutRecord(newRecord(bob, "1", "x")) },
				func() error {
					return tx.PutTurnKey(skald.SessionRef{Scope: bob, ID: "no session"}, "key", skald.TurnRange{})
				},
			)
		})
		update(t, s, func(tx skald.Tx) error {
			wantKind(t, "the daemon's own", tx.DeleteScope(skald.Scope{}), skald.KindInvalid)
			return firstError(
				func() error { return tx.DeleteScope(bob) },
				func() error { return tx.DeleteScope(bob) },
				func() error { return tx.DeleteScope(skald.Scope{Account: "nobody", Kind: skald.ScopeUser, User: "x"}) },
			)
		})
		same(t, "what is not bob's", snapshot(t, s), before)
		view(t, s, func(tx skald.Tx) error {
			only := []skald.Scope{bob}
			_, err := tx.Session(his)
			wantKind(t, "session", err, skald.KindNotFound)
			turns, err1 := tx.Turns(his, skald.TurnQuery{})
			_, keyed, err2 := tx.TurnKey(skald.SessionRef{Scope: bob, ID: "no session"}, "key")
			memories, err3 := tx.Memories(skald.MemoryQuery{Scopes: only})
			found, err4 := tx.Search(skald.SearchQuery{Scopes: only, Terms: []string{"common"}})
			jobs, err5 := tx.Jobs(only, 0)
			dead, err6 := tx.DeadLetters(only, 0)
			files, err7 := tx.Files(skald.FileQuery{Scopes: only})
			records, err8 := tx.Records(skald.RecordQuery{Scopes: only, Kind: "watch"})
			same(t, "left", []int{len(turns), len(memories), len(found.Hits), int(found.Docs), len(jobs), len(dead), len(files), len(records)}, make([]int, 8))
			same(t, "key", keyed, false)
			for _, err := range []error{err1, err2, err3, err4, err5, err6, err7, err8} {
				if err != nil {
					return err
				}
			}
			return nil
		})
		update(t, s, func(tx skald.Tx) error { return writeForeign(tx, his) }) // and the same can begin anew
	},
}
