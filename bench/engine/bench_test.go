package enginebench

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/skald-engine/skald"
)

// TestSameSeedSameText: two runs measure the same conversation.
func TestSameSeedSameText(t *testing.T) {
	t.Parallel()
	a, b := newSession(7, builtinPrompts), newSession(7, builtinPrompts)
	for range 20 {
		x, y := a.exchange(10), b.exchange(10)
		if len(x.messages) != len(y.messages) {
			t.Fatal("different lengths")
		}
		for i := range x.messages {
			if !bytes.Equal(x.messages[i], y.messages[i]) {
				t.Fatalf("%s differs from %s", x.messages[i], y.messages[i])
			}
		}
	}
}

func TestExchangeObeysLimit(t *testing.T) {
	t.Parallel()
	s := newSession(1, builtinPrompts)
	for limit := 1; limit < 12; limit++ {
		for range 20 {
			if n := len(s.exchange(limit).messages); n < 1 || n > limit {
				t.Fatalf("%d messages, limit %d", n, limit)
			}
		}
	}
}

func TestClaim(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := claim(dir); skald.KindOf(err) != skald.KindInvalid {
		t.Errorf("a folder with data: %v", err)
	}
	fresh := filepath.Join(dir, "fresh")
	for range 2 {
		if err := claim(fresh); err != nil {
			t.Error(err)
		}
	}
}

func TestPrepareRefuses(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"no folder": {Messages: []int{1}}, "no sizes": {Data: t.TempDir()}, "falling": {Data: t.TempDir(), Messages: []int{2, 1}},
		"no prompts": {Data: t.TempDir(), Messages: []int{1}, Prompts: "nowhere"},
	} {
		if _, err := Run(context.Background(), o); skald.KindOf(err) != skald.KindInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
