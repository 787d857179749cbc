package ingest_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/store/memory"
)

// said is a conversation of the user's messages with these timestamps, as JSON.
func said(session string, timestamps ...string) ingest.Conversation {
	return ingest.Conversation{Origin: session, Session: skald.SessionAddress{SessionID: session}, Items: func(yield func(ingest.Item, error) bool) {
		for i, at := range timestamps {
			raw := fmt.Sprintf(`{"role":"user","content":"number %d","timestamp":%s}`, i, at)
			if !yield(ingest.Item{Entry: skald.Entry{EntryID: fmt.Sprint(i), Message: json.RawMessage(raw)}}, nil) {
				return
			}
		}
	}}
}

// Times that no program should write: none of them leaves a message out, or makes what is stored impossible to show as JSON.
func TestImpossibleTimes(t *testing.T) {
	t.Parallel()
	store := memory.New()
	defer store.Close()
	e := engineOn(t, store)
	source := talks{said("odd", `-5`, `-9e14`, `999999999999999`, `1e400`, `"0000-01-01T00:00:00Z"`, `"9999-12-31T23:59:59Z"`, `{"a":1}`, `null`)}
	report, err := ingest.Import(t.Context(), e, e, source, ingest.Options{})
	if err != nil || report.Imported != 8 || report.LeftOut != 0 {
		t.Fatalf("imported %d, left out %d: %v", report.Imported, report.LeftOut, err)
	}
	if _, err := json.Marshal(report); err != nil {
		t.Errorf("report: %v", err)
	}
	found, err := e.Find(t.Context(), skald.DefaultIdentity, skald.FindQuery{Query: "number", Limit: 20})
	if err != nil || len(found.Hits) == 0 {
		t.Fatalf("%d hits: %v", len(found.Hits), err)
	}
	if _, err := json.Marshal(found); err != nil {
		t.Errorf("hits: %v", err)
	}
}
