package codex

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/record/recordtest"
)

func TestGolden(t *testing.T) {
	t.Parallel()
	recordtest.Golden(t, recordtest.Open(t, Open, "testdata/home"), "testdata", "testdata/golden.json")
}

func TestPlaces(t *testing.T) {
	dir, err := filepath.Abs("testdata/home")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CODEX_HOME", dir)
	if n, _ := recordtest.Drain(t, recordtest.Open(t, Open)); n == 0 {
		t.Error("nothing was found in CODEX_HOME")
	}
	t.Setenv("CODEX_HOME", t.TempDir())
	_, err = Open(t.Context(), nil, ingest.OpenOptions{})
	if skald.KindOf(err) != skald.KindNotFound || !strings.Contains(err.Error(), "sessions") {
		t.Errorf("an empty place: %v", err)
	}
}

// TestI10SplitInjected: what the program wrote with the user's role was not said.
func TestI10SplitInjected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, said, injected string }{
		{"plain", "plain", ""},
		{"what does <environment_context> mean?", "what does <environment_context> mean?", ""},
		{"<environment_context>\nx\n</environment_context>", "", "<environment_context>\nx\n</environment_context>"},
		{"<some_later_tag kind=\"1\">x</some_later_tag>", "", "<some_later_tag kind=\"1\">x</some_later_tag>"},
		{"<html>x</html>", "<html>x</html>", ""},
		{"# AGENTS.md instructions for /w\nx", "", "# AGENTS.md instructions for /w\nx"},
		{"# Selected text:\nx\n## My request for Codex:\nfix it", "fix it", "# Selected text:\nx"},
	} {
		if said, injected := split(c.text); said != c.said || injected != c.injected {
			t.Errorf("split(%q) = %q, %q", c.text, said, injected)
		}
	}
}

func FuzzRollout(f *testing.F) {
	recordtest.Fuzz(f, Open, "testdata/home/sessions/*/*/*/*.jsonl", "rollout-1.jsonl")
}
