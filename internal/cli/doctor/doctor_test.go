package doctor

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
)

// sessions is an engine that knows sessions only.
type sessions struct {
	skald.Inspector
	list []skald.SessionInfo
}

func (s sessions) ListSessions(context.Context, skald.Identity, int) ([]skald.SessionInfo, error) {
	return s.list, nil
}

const hostSchema = `
CREATE TABLE context_engine_turn_outbox (advancement_key TEXT PRIMARY KEY, last_attempt_at INTEGER, last_error TEXT, created_at INTEGER);
CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT);
CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, created_at INTEGER);
CREATE TABLE transcript_event_identities (session_id TEXT, seq INTEGER, event_type TEXT);
INSERT INTO session_nodes VALUES ('agent:main:a', 'a'), ('agent:main:b', 'b'), ('agent:main:internal-session-effects:x', 'x');
INSERT INTO transcript_events VALUES ('a', 1, 1800000000000), ('b', 1, 1700000000000), ('b', 2, 1900000000000), ('x', 1, 1900000000000);
INSERT INTO transcript_event_identities VALUES ('a', 1, 'message'), ('b', 1, 'message'), ('b', 2, 'custom'), ('x', 1, 'message');
INSERT INTO context_engine_turn_outbox VALUES ('k1', 1800000000000, 'connect refused', 1790000000000), ('k2', NULL, NULL, 1800000000000);`

func host(t *testing.T, script string) OpenClaw {
	t.Helper()
	state := t.TempDir()
	dir := filepath.Join(state, "agents", "main", "agent")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "openclaw-agent.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(script); err != nil {
		t.Fatal(err)
	}
	return OpenClaw{State: state}
}

// TestDeliveries: what the host still has to deliver, and which session has newer turns than the store.
func TestDeliveries(t *testing.T) {
	t.Parallel()
	known := sessions{list: []skald.SessionInfo{
		{ID: skald.SessionID("a", "agent:main:a"), Updated: time.UnixMilli(1700000000000)},
		{ID: skald.SessionID("b", "agent:main:b"), Updated: time.UnixMilli(1700000000000)},
	}}
	list := host(t, hostSchema).Deliveries(context.Background(), known, skald.DefaultIdentity)
	if len(list) != 2 || list[0].Level != Warn || !strings.Contains(list[0].Message, "2 exchanges are queued") || !strings.Contains(list[0].Message, "connect refused") {
		t.Errorf("queued: %+v", list)
	}
	if list[1].Level != Warn || !strings.Contains(list[1].Message, "1 of 2 sessions") || !strings.Contains(list[1].Message, "agent:main:a") {
		t.Errorf("behind: %+v", list[1])
	}
	for _, f := range host(t, "CREATE TABLE other (x)").Deliveries(context.Background(), known, skald.DefaultIdentity) {
		if f.Level != OK {
			t.Errorf("a host of another version: %+v", f)
		}
	}
}

// TestEngineFindings: every fault that status tells has a fix.
func TestEngineFindings(t *testing.T) {
	t.Parallel()
	st := skald.Status{
		Store: skald.StoreHealth{Free: 1 << 20}, Attention: []string{"s1: a", "s2: b", "s3: c", "s4: d"}, JobsFailed: 1, DeadLetters: 1, CaptureOff: 1,
		Faults: []skald.Fault{{Op: "assemble", Error: "x"}},
	}
	for _, f := range []Finding{store(st), disk(st), stuck(st), jobs(st), deadLetters(st), capture(st), faults(st), last(st)} {
		if f.Level == OK || f.Fix == "" || f.Message == "" {
			t.Errorf("%+v", f)
		}
	}
	if f := stuck(st); !strings.Contains(f.Message, "and 1 more") {
		t.Errorf("%+v", f)
	}
	past := skald.Status{LastCommitTurn: time.Unix(1, 0), Bypassed: []skald.Bypass{{Session: "s9", Turns: 3, Reason: "a CLI ran them"}}}
	if f := last(past); f.Level != Warn || !strings.Contains(f.Message, "s9 did so 3 times") || f.Fix == "" {
		t.Errorf("%+v", f)
	}
	var r Report
	r.Add(good("a", "b"))
	if !r.OK {
		t.Error("a good report is not good")
	}
	if r.Add(fail("a", "b", "c")); r.OK {
		t.Error("a failure is good")
	}
}

// TestRuntimes: doctor says per runtime what of Skald is active, and warns where it is passed by.
func TestRuntimes(t *testing.T) {
	t.Parallel()
	o := OpenClaw{Config: filepath.Join(t.TempDir(), "openclaw.json")}
	config := `{agents: {list: [{id: "main"}, {id: "coder", agentRuntime: {id: "claude-cli"}}, {id: "other", agentRuntime: {id: "acp"}}]}}`
	if err := os.WriteFile(o.Config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	got := map[string]Level{}
	for _, f := range o.runtimes("skald") {
		name, _, _ := strings.Cut(f.Message, ":")
		got[name] = f.Level
	}
	want := map[string]Level{"embedded runner": OK, "CLI backend claude-cli": Warn, "ACP agent": Warn}
	if len(got) != len(want) {
		t.Errorf("%v", got)
	}
	for name, level := range want {
		if got[name] != level {
			t.Errorf("%s: %q, want %q", name, got[name], level)
		}
	}
	if o.runtimes("") != nil {
		t.Error("runtimes are told where Skald does not fill the slot")
	}
}
