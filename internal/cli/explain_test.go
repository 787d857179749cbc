package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
)

// explain shows what every stage made of every candidate, kept or dropped, and how many are not listed.
func TestExplainShowsStages(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	showExplanation(&b, skald.Explanation{Recall: skald.RecallTrace{Left: 7,
		Items:   []skald.RecallCandidate{{URI: "viking://a", Score: 0.5, Parts: map[string]float64{"words": 0.25, "meaning": 0.125}}},
		Dropped: []skald.RecallCandidate{{URI: "viking://b", Why: "far behind", Parts: map[string]float64{"near": 0.0625}}}}})
	for _, want := range []string{"meaning 0.125  words 0.250", "near 0.062", "far behind", "and 7 more"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}
