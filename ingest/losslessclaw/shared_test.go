package losslessclaw

import (
	"encoding/json"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/record/recordtest"
	"github.com/skald-engine/skald/store/memory"
)

// A session that OpenClaw delivered through Skald's plugin, and that lossless-claw kept as well: what is there is recognised, by the host's
// entry id or by its content, the rest comes in, and the plugin's cursor stays.
func TestSessionThatThePluginStored(t *testing.T) {
	t.Parallel()
	store := memory.New()
	defer store.Close()
	e, err := engine.New(store, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const id = "5d0c7e80-55b5-4a4e-a40d-0d5b4a4f8e07"
	host := skald.Request{Session: skald.SessionAddress{SessionID: id, SessionKey: "agent:main:main", AgentID: "main"}, Identity: skald.DefaultIdentity}
	const cursor = `"the plugin's own"`
	_, err = e.Reconcile(t.Context(), skald.ReconcileRequest{Request: host, Cursor: json.RawMessage(cursor), Entries: []skald.Entry{
		{EntryID: "entry-1", Message: json.RawMessage(`{"role":"user","content":"Now it is port 5545.","timestamp":1787299200120}`)},
		{EntryID: "entry-3", Message: json.RawMessage(`{"role":"user","content":"ok","timestamp":1787299200140}`)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	dir := fixture(t, "testdata/v1.sql", `INSERT INTO messages VALUES
		(4,7,4,'user','ok',1,'h4',NULL,NULL,NULL,'2026-08-21T08:00:03.000Z'),
		(5,7,5,'user','ok',1,'h5',NULL,NULL,NULL,'2026-08-21T08:00:04.000Z')`)
	for run, want := range []int{2, 0} { // of four: the tool's result, and the second ok
		dry, err := ingest.Import(t.Context(), e, e, recordtest.Open(t, Open, dir), ingest.Options{DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		got, err := ingest.Import(t.Context(), e, e, recordtest.Open(t, Open, dir), ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Imported != want || dry.Imported != want || got.Known != dry.Known {
			t.Errorf("run %d: imported %d, not %d (known %d); a dry run promised %d (%d)", run, got.Imported, want, got.Known, dry.Imported, dry.Known)
		}
	}
	at, err := e.Bootstrap(t.Context(), skald.BootstrapRequest{Request: host})
	if err != nil || string(at.Cursor) != cursor {
		t.Errorf("the plugin's cursor is now %s: %v", at.Cursor, err)
	}
	turns, err := e.ListTurns(t.Context(), skald.DefaultIdentity, id, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]int{}
	for _, turn := range turns {
		texts[string(turn.Envelope.Parts[0].Text)]++
	}
	if texts["Now it is port 5545."] != 1 || texts["ok"] != 2 {
		t.Errorf("%v", texts)
	}
}
