package losslessclaw

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/record/recordtest"
)

// fixture makes an lcm.db of a file of SQL, and returns its folder.
func fixture(t testing.TB, script string, more ...string) string {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "lcm.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range append([]string{string(text)}, more...) {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v0", "v1"} {
		dir := fixture(t, "testdata/"+version+".sql")
		recordtest.Golden(t, recordtest.Open(t, Open, dir), dir, "testdata/"+version+".golden.json")
	}
}

// TestOnlyReads: nothing appears beside the file, and the file stays as it was; also while the plugin has it open with a log.
func TestOnlyReads(t *testing.T) {
	t.Parallel()
	dir := fixture(t, "testdata/v0.sql", "PRAGMA journal_mode=WAL")
	path := filepath.Join(dir, "lcm.db")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	idle, _ := recordtest.Drain(t, recordtest.Open(t, Open, path))
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(after) || len(names) != 1 {
		t.Errorf("reading left a trace: %v", names)
	}

	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`INSERT INTO messages VALUES (99,2,9,'user','still in the log',1,'2026-02-04 08:00:09')`); err != nil {
		t.Fatal(err)
	}
	if live, _ := recordtest.Drain(t, recordtest.Open(t, Open, path)); live != idle+1 {
		t.Errorf("%d messages while the plugin writes, %d before", live, idle)
	}
}

func TestPlaces(t *testing.T) {
	dir := fixture(t, "testdata/v1.sql")
	t.Setenv("LCM_DATABASE_PATH", "")
	t.Setenv("OPENCLAW_STATE_DIR", dir)
	s, err := Open(t.Context(), nil, ingest.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := recordtest.Drain(t, s); n != 2 {
		t.Errorf("%d messages", n)
	}
	t.Setenv("LCM_DATABASE_PATH", filepath.Join(dir, "none.db"))
	if _, err := Open(t.Context(), nil, ingest.OpenOptions{}); skald.KindOf(err) != skald.KindNotFound {
		t.Errorf("a missing file: %v", err)
	}
	other := filepath.Join(dir, "other.db")
	if err := os.WriteFile(other, []byte("no database, but longer than the head of one would have to be, to be sure of the error"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), []string{other}, ingest.OpenOptions{}); skald.KindOf(err) != skald.KindInvalid {
		t.Errorf("no database: %v", err)
	}
}

// FuzzPart reads parts with odd columns.
func FuzzPart(f *testing.F) {
	f.Add("assistant", "tool", "text", "call", `{"a":1}`, `"out"`, `{"originalRole":"assistant","raw":{"type":"toolCall"}}`)
	f.Add("tool", "tool", "", "", "", "", `{"raw":7,"isError":true}`)
	f.Add("user", "agent", "x", "", "{", "[", `{"source":"unknown-message-shape","raw":{"role":""}}`)
	f.Add("user", "file", "", "", "", "", `{"raw":{}}`)
	f.Fuzz(func(t *testing.T, role, kind, text, call, input, output, meta string) {
		r := reader{conversation: "1"}
		items := r.message(row{"role": role, "message_id": int64(1), "seq": int64(1)}, []row{{"part_type": kind, "text_content": text,
			"tool_call_id": call, "tool_input": input, "tool_output": output, "metadata": []byte(meta)}})
		recordtest.Check(t, items)
	})
}
