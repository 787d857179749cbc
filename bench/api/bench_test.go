package apibench

import (
	"slices"
	"testing"
)

func TestGoals(t *testing.T) {
	t.Parallel()
	list := goals([]Figures{
		{Name: "openviking", StartupMS: 1000, RSSMB: 500, Append: Rates{Single1: 10}, Find: []Find{{Entries: 5, P95: 10}}},
		{Name: "skald", StartupMS: 100, RSSMB: 99, Append: Rates{Single1: 100}, Find: []Find{{Entries: 5, P95: 2}, {Entries: 9, P95: 3}}},
	})
	got := map[string]bool{}
	for _, g := range list {
		got[g.What] = g.Reached
	}
	want := map[string]bool{"append, single, 1 caller": true, "find p95": false, "start-up": false, "memory, at the end": true}
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for what, reached := range want {
		if got[what] != reached {
			t.Errorf("%s: %v", what, got[what])
		}
	}
}

// TestReached: both servers are measured at the counts that the slower one reached.
func TestReached(t *testing.T) {
	t.Parallel()
	f := Figures{Name: "openviking", Find: []Find{{Entries: 1000}, {Entries: 4200}}}
	if got := reached(f, []int{1000, 100_000}); !slices.Equal(got, []int{1000, 4200, 100_000}) {
		t.Errorf("%v", got)
	}
	if len(shortfall(f, []int{1000, 100_000})) != 1 || len(shortfall(f, []int{1000})) != 0 {
		t.Error("the shortfall is not told")
	}
}

// TestProse: the same seed gives the same text, so that two servers are filled alike.
func TestProse(t *testing.T) {
	t.Parallel()
	if prose(3, 20) != prose(3, 20) || prose(3, 20) == prose(4, 20) {
		t.Error("texts do not depend on the seed alone")
	}
	seen := map[string]int{}
	for n := range vocabulary {
		seen[word(n)]++
	}
	if len(seen) < vocabulary*9/10 {
		t.Errorf("%d different words of %d", len(seen), vocabulary)
	}
}
