package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skald-engine/skald/bench/evidence"
	"github.com/skald-engine/skald/recall"
)

// The section has every table with goals beside the figures, and takes the place of the one before it.
func TestSection(t *testing.T) {
	t.Parallel()
	r := evidence.Report{Budget: 1000, Figures: evidence.Figures{Questions: 84, Recall: 0.83, AnswerWords: 0.4},
		Halves: &evidence.Halves{}, SmallTalk: &evidence.Silence{Questions: 24, Share: 0.2}, NoEvidence: evidence.Silence{Questions: 6, Share: 0.9},
		Superseded: &evidence.Superseded{Questions: 15, Old: 10, Share: 0.96}, MidSession: &evidence.MidSession{Questions: 20, Difference: -0.04},
		Ablation: []evidence.Ablated{{Without: recall.StageNear, Questions: 20, Difference: -0.06}}, Configured: []string{"no network"}}
	text := section([]measured{{"zh-dev", r}}, []string{"locomo-dev"})
	for _, want := range []string{"| zh-dev | 1000 | 83.0 (82.0: yes) |", "40.0 (50.3: **no**)", "90.0 % (below 35: **no**)", "20.0 % (below 35: yes)",
		"96.0 (95.0: yes)", "(within 3: **no**)", "| near | -6.0 |", "not there: locomo-dev", "Configuration: no network."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	doc := filepath.Join(t.TempDir(), "doc.md")
	if err := os.WriteFile(doc, []byte("# Head\n\n"+begin+"\nold\n"+end+"\n\n## Tail\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := write(doc, text); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(doc)
	if err != nil || string(raw) != "# Head\n\n"+text+"\n\n## Tail\n" {
		t.Errorf("%v\n%s", err, raw)
	}
}
