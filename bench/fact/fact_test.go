package fact

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/skald-engine/skald/bench/evidence"
	"github.com/skald-engine/skald/bench/replay"
)

// check logs what was lost and compares with the goals.
func check(t *testing.T, r Result) {
	t.Helper()
	t.Log(r)
	for _, l := range r.Lost {
		t.Log(l)
	}
	if r.Traced < r.Facts {
		t.Errorf("%d of %d facts lead to their turn", r.Traced, r.Facts)
	}
	if 10*r.Summaries < 7*r.Facts {
		t.Errorf("%d of %d facts stand in overview and memories", r.Summaries, r.Facts)
	}
	if 10*r.Everything < 9*r.Facts {
		t.Errorf("%d of %d facts stand in the context", r.Everything, r.Facts)
	}
}

// TestPlanted: long sessions full of tools, with facts between them; every fourth of them with -short.
func TestPlanted(t *testing.T) {
	t.Parallel()
	var all Result
	for i, s := range scenes {
		if testing.Short() && i%4 != 0 {
			continue
		}
		r, err := Measure(context.Background(), s.talk(uint64(i)))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %s", s.name, r)
		all.Add(r)
	}
	check(t, all)
}

// TestShared: the transcripts with facts that are not part of the repository.
func TestShared(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("SKALD_TRANSCRIPTS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data", "transcripts")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.facts.jsonl"))
	if len(files) == 0 {
		t.Skip("shared transcripts are absent (set SKALD_TRANSCRIPTS)")
	}
	var all Result
	for _, file := range files {
		base := file[:len(file)-len(".facts.jsonl")]
		messages, err := replay.Load(base + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range evidence.Load(file) {
			if err != nil {
				t.Fatal(err)
			}
			r, err := Measure(context.Background(), Talk{Name: filepath.Base(base), Messages: messages, Facts: c.Questions})
			if err != nil {
				t.Fatal(err)
			}
			all.Add(r)
		}
	}
	check(t, all)
}
