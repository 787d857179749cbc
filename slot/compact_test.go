package slot_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/slot"
)

// TestCompactModes: an engine compacts, or the host does; one that does neither is at fault and the host, else legacy, does it (C-17).
func TestCompactModes(t *testing.T) {
	t.Parallel()
	host := func(context.Context, skald.CompactRequest) (skald.CompactResult, error) {
		return skald.CompactResult{OK: true, Compacted: true, Summary: "the host's"}, nil
	}
	own := func(context.Context, skald.CompactRequest) (skald.CompactResult, error) {
		return skald.CompactResult{OK: true, Compacted: true, Summary: "the engine's"}, nil
	}
	nothing := func(context.Context, skald.CompactRequest) (skald.CompactResult, error) {
		return skald.CompactResult{OK: true}, nil
	}
	failing := func(context.Context, skald.CompactRequest) (skald.CompactResult, error) {
		return skald.CompactResult{}, errors.New("no disk")
	}
	done := func(context.Context, skald.CompactRequest) (skald.CompactResult, error) {
		return skald.CompactResult{OK: true, Reason: "nothing to compact"}, nil
	}
	for name, c := range map[string]struct {
		owns    bool
		engine  slot.Compact
		host    slot.Compact
		summary string
		faults  int
	}{
		"own":                 {true, own, host, "the engine's", 0},
		"delegated":           {false, slot.Delegate, host, "the host's", 0},
		"nothing left":        {true, done, host, "", 0},
		"neither, owner":      {true, nothing, nil, "room 1030", 1},
		"neither, delegating": {false, nothing, host, "the host's", 1},
		"delegating, no word": {false, done, host, "the host's", 1},
		"failing":             {true, failing, host, "the host's", 1},
		"both failing":        {true, failing, failing, "room 1030", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fill(t, &scripted{owns: c.owns, compact: c.engine}, slot.Host{Compact: c.host})
			out := s.Compact(context.Background(), skald.CompactRequest{Request: key, TokenBudget: 4000, Tail: talk(40)})
			if st := s.Status(); !strings.Contains(out.Summary, c.summary) || len(st.Faults) != c.faults {
				t.Errorf("%+v, %+v", out, st)
			}
		})
	}
}

// TestLegacyCompacts: without a compaction of the host's, legacy puts a summary in the place of the oldest messages; a new list begins anew.
func TestLegacyCompacts(t *testing.T) {
	t.Parallel()
	s, err := slot.Select("legacy", slot.Host{})
	must(t, err)
	out := s.Compact(context.Background(), skald.CompactRequest{Request: key, TokenBudget: 4000, Tail: talk(40)})
	if !out.Compacted || out.TokensAfter >= out.TokensBefore {
		t.Fatalf("%+v", out)
	}
	view := s.Assemble(context.Background(), ask(41, 100_000))
	valid(t, view, 100_000, "Summary of the conversation so far")
	valid(t, view, 100_000, "told40")
	if view.EstimatedTokens > out.TokensAfter+1000 {
		t.Errorf("%d tokens after a compaction to %d", view.EstimatedTokens, out.TokensAfter)
	}
	if again := s.Compact(context.Background(), skald.CompactRequest{Request: key, TokenBudget: 4000, Tail: talk(40)}); again.Compacted || again.Reason == "" {
		t.Errorf("there was something left: %+v", again)
	}
	if view := s.Assemble(context.Background(), ask(1, 100_000)); len(view.Messages) != 4 {
		t.Errorf("a new list is given as %d messages", len(view.Messages))
	}
}
