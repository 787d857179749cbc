package compare_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/bench/compare"
	"github.com/skald-engine/skald/bench/replay"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/store/memory"
)

func way(t *testing.T, name string) compare.Way {
	t.Helper()
	var now time.Time
	e, err := engine.New(memory.New(), engine.Options{Strategy: name, Clock: func() time.Time { return now }, Recall: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return compare.Way{Strategy: name, Target: replay.Target{Engine: e, Inspector: e, Settle: e.RunJobs, SetClock: func(at time.Time) { now = at }}}
}

// talk says one thing early and much of other things after it.
func talk(n int) (list []json.RawMessage) {
	say := func(role, text string) {
		raw, _ := json.Marshal(map[string]any{"role": role, "timestamp": 1_772_410_000_000 + 60_000*len(list), "content": []any{map[string]string{"type": "text", "text": text}}})
		list = append(list, raw)
	}
	say("user", "By the way, the harbour master's parrot is called Polly.")
	say("assistant", "All right.")
	for i := range n {
		say("user", fmt.Sprintf("Tell me about gate %d.", i))
		say("assistant", fmt.Sprintf("Gate %d is painted in tone %d. ", i, 3*i)+strings.Repeat("It opens to the north and closes at night. ", 30))
	}
	return list
}

// TestSideBySide: the same conversation under two strategies; what one looks up, the other has lost.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	questions := []compare.Question{{Question: "What is the harbour master's parrot called?", Answer: "Polly", Messages: []int{0}}}
	r, err := compare.Run(context.Background(), []compare.Way{way(t, "rag"), way(t, "legacy")}, talk(60), questions, 6000)
	if err != nil {
		t.Fatal(err)
	}
	rag, legacy := r.Rows[0], r.Rows[1]
	for _, row := range r.Rows {
		sum := 0
		for _, n := range row.RequestTokens {
			sum += n
		}
		if row.Requests != 61 || row.Tokens != sum || row.OverBudget != 0 || row.BrokenPairs != 0 || row.Fresh <= 0 || row.Fresh > row.Tokens || row.QuestionSize > 6000 {
			t.Errorf("%+v", row)
		}
	}
	if rag.Evidence != 1 || rag.Said != 1 || legacy.Evidence != 0 || rag.Publications != 0 || legacy.Publications == 0 {
		t.Errorf("rag %v, %v; legacy %v; publications %d, %d", rag.Evidence, rag.Said, legacy.Evidence, rag.Publications, legacy.Publications)
	}
	var page bytes.Buffer
	if err := r.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	if text := page.String(); !strings.Contains(text, "<polyline") || !strings.Contains(text, "rag") || strings.Contains(text, "Polly") || strings.Contains(text, "://") {
		t.Error("the page lacks its chart, quotes the conversation, or needs the network")
	}
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		`[{"question":"q","answer":"a","message_indexes":[0,3]}]`: true, `[{"question":"q","message_indexes":[4]}]`: false,
		`[{"question":"","message_indexes":[1]}]`: false, `[{"question":"q"}]`: false, `{`: false,
	} {
		path := filepath.Join(t.TempDir(), "q.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := compare.Questions(path, 4); (err == nil) != ok || err != nil && skald.KindOf(err) != skald.KindInvalid {
			t.Errorf("%s: %v", text, err)
		}
	}
}
