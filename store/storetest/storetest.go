// Package storetest is the conformance suite that every store engine passes. It knows skald.Store only: an engine may be in
// memory, a file, or a server that several processes share.
package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/skald-engine/skald"
)

// Open opens a new and empty store for one test, and closes it at the test's end.
type Open func(t *testing.T) skald.Store

// Reopen closes the store and opens it again on the same data; nil for an engine that does not outlive its process.
type Reopen func(t *testing.T, s skald.Store) skald.Store

// Run runs the suite. Every test has a store of its own and they run in parallel.
func Run(t *testing.T, open Open, reopen Reopen) {
	groups := map[string]map[string]func(*testing.T, skald.Store){
		"Tx": txTests, "Session": sessionTests, "Turn": turnTests, "Archive": archiveTests, "Memory": memoryTests,
		"Index": indexTests, "Near": nearTests, "File": fileTests, "Record": recordTests, "Scope": scopeTests, "Trace": traceTests, "Job": jobTests, "Tenant": tenantTests,
	}
	for group, tests := range groups {
		t.Run(group, func(t *testing.T) {
			t.Parallel()
			for name, test := range tests {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(t, open(t))
				})
			}
		})
	}
	t.Run("Model", func(t *testing.T) {
		t.Parallel()
		compareWithModel(t, open, reopen)
	})
	if reopen != nil {
		t.Run("Durable", func(t *testing.T) {
			t.Parallel()
			survivesReopen(t, open(t), reopen)
		})
	}
}

var (
	alice    = skald.Scope{Account: "acme", Kind: skald.ScopeUser, User: "alice"}
	bob      = skald.Scope{Account: "acme", Kind: skald.ScopeUser, User: "bob"}
	stranger = skald.Scope{Account: "other", Kind: skald.ScopeUser, User: "alice"}
	agent    = skald.Scope{Account: "acme", Kind: skald.ScopeAgent, Agent: "main"}
	everyone = []skald.Scope{alice, bob, stranger, agent}

	chat = skald.SessionRef{Scope: alice, ID: "0b9d1f52-5d0e-4f53-9f3a-111111111111"}
)

// at is the n-th minute of a fixed day. Stores keep milliseconds at least.
func at(n int) time.Time {
	return time.Date(2026, 3, 1, 0, 0, 0, 123_000_000, time.UTC).Add(time.Duration(n) * time.Minute)
}

// update runs fn and fails the test on an error.
func update(t *testing.T, s skald.Store, fn func(skald.Tx) error) {
	t.Helper()
	if err := s.Update(t.Context(), fn); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

// view runs fn and fails the test on an error.
func view(t *testing.T, s skald.Store, fn func(skald.Tx) error) {
	t.Helper()
	if err := s.View(t.Context(), fn); err != nil {
		t.Fatalf("View: %v", err)
	}
}

// read returns one answer of a view.
func read[T any](t *testing.T, s skald.Store, fn func(skald.Tx) (T, error)) T {
	t.Helper()
	var v T
	view(t, s, func(tx skald.Tx) (err error) {
		v, err = fn(tx)
		return err
	})
	return v
}

// same fails the test when the two differ. An empty list and none are the same; empty and missing bytes likewise, where it
// matters a test looks itself.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%s: -want +got\n%s", what, d)
	}
}

// wantKind fails the test unless err is of the kind.
func wantKind(t *testing.T, what string, err error, kind skald.Kind) {
	t.Helper()
	if skald.KindOf(err) != kind {
		t.Errorf("%s: got %v (%s), want kind %s", what, err, skald.KindOf(err), kind)
	}
}

// turn makes a turn with every field set.
func turn(seq int64) skald.Turn {
	return skald.Turn{
		Seq: seq, Epoch: 1, Time: at(int(seq)), Role: skald.RoleUser, Raw: fmt.Appendf(nil, `{"n":%d}`, seq), Tokens: 7,
		Origin: skald.OriginOwner, Audience: "group:telegram:42", Purpose: skald.PurposeTalk, Source: skald.SourceImport,
		EntryID: fmt.Sprintf("entry-%d", seq), Position: seq - 1, AdvancementKey: "advance", MatchKey: fmt.Sprintf("%064x", seq),
		TurnID: "exchange-1", Speaker: "Ä. Nutzer",
		Salt: fmt.Appendf(nil, "salt-%011d", seq), Leaf: fmt.Appendf(nil, "leaf-%027d", seq), Link: fmt.Appendf(nil, "link-%027d", seq),
	}
}

func turns(from, to int64) []skald.Turn {
	var out []skald.Turn
	for seq := from; seq <= to; seq++ {
		out = append(out, turn(seq))
	}
	return out
}

func seqs(list []skald.Turn) []int64 {
	var out []int64
	for _, t := range list {
		out = append(out, t.Seq)
	}
	return out
}

// errUndo is what a test's transaction fails with.
var errUndo = errors.New("undo")
