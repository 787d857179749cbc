package pinned_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/examples/pinned"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/slot"
)

// TestPinned: a pin stays in sight however long the talk gets, and the guard finds nothing wrong at any budget.
func TestPinned(t *testing.T) {
	t.Parallel()
	if err := pinned.Register(); err != nil {
		t.Fatal(err)
	}
	host := slot.Host{Config: json.RawMessage(`{"mark":"#keep"}`), Compact: func(context.Context, skald.CompactRequest) (skald.CompactResult, error) {
		return skald.CompactResult{OK: true, Compacted: true, Summary: "the host's"}, nil
	}}
	s, err := slot.Select(pinned.ID, host)
	if err != nil {
		t.Fatal(err)
	}
	list := []json.RawMessage{message.User("The door code is 4711 #keep", 1), message.User("Something else.", 2)}
	for i := range 200 {
		list = append(list, message.User(fmt.Sprintf("Line %d of a long talk about many things", i), int64(i+3)))
	}
	for _, budget := range []int{300, 1000, 8000, 100_000} {
		out := s.Assemble(context.Background(), skald.AssembleRequest{Tail: list, TokenBudget: budget})
		if !strings.Contains(fmt.Sprintf("%s", out.Messages), "4711") || out.EstimatedTokens > budget {
			t.Errorf("budget %d: %d tokens, %.300s", budget, out.EstimatedTokens, out.Messages)
		}
	}
	if out := s.Compact(context.Background(), skald.CompactRequest{Tail: list}); out.Summary != "the host's" {
		t.Errorf("%+v", out)
	}
	if st := s.Status(); st.Legacy != 0 || len(st.Faults) != 0 {
		t.Errorf("%+v", st)
	}
	if _, err := slot.Select(pinned.ID, slot.Host{}); skald.KindOf(err) != skald.KindInvalid {
		t.Errorf("on a host without compaction: %v", err)
	}
}

// TestPageShowsThisCode: what docs/strategies.md tells to write is this file, and it has less than 100 lines.
func TestPageShowsThisCode(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/strategies.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("pinned.go")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(code), "\npackage pinned")
	if !strings.Contains(string(page), "package pinned"+body) {
		t.Error("docs/strategies.md shows other code than examples/pinned/pinned.go")
	}
	if n := strings.Count(string(code), "\n"); n >= 100 {
		t.Errorf("the example has %d lines", n)
	}
}
