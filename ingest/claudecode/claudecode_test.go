package claudecode

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
	recordtest.Golden(t, recordtest.Open(t, Open, "testdata/projects"), "testdata", "testdata/golden.json")
}

func TestPlaces(t *testing.T) {
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CLAUDE_CONFIG_DIR", dir)
	if n, _ := recordtest.Drain(t, recordtest.Open(t, Open)); n == 0 {
		t.Error("nothing was found in CLAUDE_CONFIG_DIR")
	}
	t.Setenv("CLAUDE_CONFIG_DIR", t.TempDir())
	_, err = Open(t.Context(), nil, ingest.OpenOptions{})
	if skald.KindOf(err) != skald.KindNotFound || !strings.Contains(err.Error(), "projects") {
		t.Errorf("an empty place: %v", err)
	}
}

func TestOneSessionForAll(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), []string{"testdata/projects"}, ingest.OpenOptions{Session: "all", Agent: "coder"})
	if err != nil {
		t.Fatal(err)
	}
	for c := range s.Conversations(t.Context()) {
		if c.Session.SessionID != "all" || c.Session.AgentID != "coder" {
			t.Errorf("%s goes to %+v", c.Origin, c.Session)
		}
	}
}

// TestI10SplitInjected: a tag that was typed within a text stays, one that a program put around it does not.
func TestI10SplitInjected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, said, injected string }{
		{"plain", "plain", ""},
		{"why does <system-reminder> exist?", "why does <system-reminder> exist?", ""},
		{"<system-reminder>a</system-reminder>\nhello", "hello", "<system-reminder>a</system-reminder>"},
		{"hello\n<system-reminder>a</system-reminder>", "hello", "<system-reminder>a</system-reminder>"},
		{"<ide_opened_file>f</ide_opened_file> fix it", "fix it", "<ide_opened_file>f</ide_opened_file>"},
		{"<relevant-memories>m</relevant-memories> go on", "go on", "<relevant-memories>m</relevant-memories>"},
		{"<bash-input>ls</bash-input>", "", "<bash-input>ls</bash-input>"},
		{"<system-reminder>never closed", "<system-reminder>never closed", ""},
	} {
		if said, injected := split(c.text); said != c.said || injected != c.injected {
			t.Errorf("split(%q) = %q, %q", c.text, said, injected)
		}
	}
}

func FuzzTranscript(f *testing.F) { recordtest.Fuzz(f, Open, "testdata/projects/*/*.jsonl", "s.jsonl") }
