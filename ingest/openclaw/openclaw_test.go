package openclaw_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/openclaw"
	"github.com/skald-engine/skald/store/memory"
)

// state makes a host's state folder of files, by their paths in it.
func state(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t *testing.T, dir string) ingest.Source {
	t.Helper()
	source, err := openclaw.Open(t.Context(), []string{dir}, ingest.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// read lists the conversations and what they hold, a line each.
func read(t *testing.T, dir string) (list []string) {
	t.Helper()
	for c, err := range open(t, dir).Conversations(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprintf("# %s|%s|%s live=%v", c.Session.SessionKey, c.Session.SessionID, c.Session.Lifecycle, c.Live))
		for item, err := range c.Items {
			if err != nil {
				t.Fatal(err)
			}
			position := int64(-1)
			if item.Entry.Position != nil {
				position = *item.Entry.Position
			}
			line := fmt.Sprintf("%s@%d reset=%v %s", item.Entry.EntryID, position, item.Entry.Reset, item.Entry.Message)
			if item.Skipped != "" {
				line = "skipped: " + item.Skipped
			}
			list = append(list, line)
		}
	}
	return list
}

func TestDatabase(t *testing.T) {
	t.Parallel()
	dir := state(t, map[string]string{"agents/main/agent/keep": ""})
	db, err := sql.Open("sqlite", filepath.Join(dir, "agents", "main", "agent", "openclaw-agent.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join("testdata", "host.sql"))
	if err == nil {
		_, err = db.Exec(string(script))
	}
	if err != nil || db.Close() != nil {
		t.Fatal(err)
	}
	want := []string{
		"# agent:main:main|old| live=false",
		`a1@0 reset=false {"role":"user","content":"old question"}`,
		"# agent:main:main|new|r2 live=true",
		`b1@0 reset=false {"role":"user","content":"hello \u0000 <&>"}`,
		`b2@1 reset=false {"role":"assistant","content":[]}`,
		`b3@3 reset=true {"role":"user","content":"after the reset"}`,
		`b4@4 reset=false {"role":"assistant","content":[]}`,
		"skipped: invalid input: magic number mismatch",
		"skipped: nothing follows this message yet: the host brings it with the next turn",
		"# agent:main:internal-session-effects:flush|quiet|", "skipped: the host talks to itself in this session",
		"# agent:main:skald-proof:1|proof|", "skipped: a throw-away session of Skald's own proof",
		"# agent:main:cold|cold|", "skipped: the host has put this session into its archive of old ones: open it in OpenClaw once, and import again",
	}
	got := read(t, dir)
	for i, line := range want {
		if i >= len(got) || !strings.HasPrefix(got[i], line) && !(strings.Contains(line, "magic number") && strings.HasPrefix(got[i], "skipped: ")) {
			t.Fatalf("line %d: want %q, got\n%s", i, line, strings.Join(got, "\n"))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d lines, want %d", len(got), len(want))
	}
}

const oldSession = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-05T09:00:00.000Z"}
{"type":"message","id":"m1","parentId":null,"message":{"role":"user","content":"one"}}
{"type":"message","id":"m2","parentId":"m1","message":{"role":"assistant","content":"two"}}
{"type":"message","id":"m3","parentId":"m2","message":{"role":"user","content":"taken back"}}
{"type":"reset","id":"r1","parentId":"m2"}
half a li
{"type":"message","id":"m4","parentId":"r1","message":{"role":"user","content":"four"}}
{"type":"message","id":"m5","parentId":"m4","message":{"role":"assistant","content":"five"}}
`

func TestFiles(t *testing.T) {
	t.Parallel()
	dir := state(t, map[string]string{
		"agents/main/sessions/s1.jsonl":      oldSession,
		"agents/main/sessions/s2.jsonl":      `{"type":"message","message":{"role":"user","content":"of a first version"}}`,
		"agents/main/sessions/sessions.json": `{"agent:main:main":{"sessionId":"s1"}}`,
		"agents/main/sessions/note.txt":      "no session",
	})
	got := read(t, dir)
	want := []string{
		"# |s2| live=false",
		"…",
		"# agent:main:main|s1| live=true",
		`m1@0 reset=false {"role":"user","content":"one"}`,
		`m2@1 reset=false {"role":"assistant","content":"two"}`,
		"skipped: event 6 is not JSON: invalid character 'h' looking for beginning of value",
		`m4@3 reset=true {"role":"user","content":"four"}`,
		`m5@4 reset=false {"role":"assistant","content":"five"}`,
	}
	if len(got) > 1 && strings.Contains(got[1], "of a first version") && !strings.HasPrefix(got[1], "@") {
		got[1] = "…" // its id is made
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

const memoryNotes = "# Boat\n\nThe user prefers the blue sail.\n\n```\n# no heading\n```\n## Trips\nTo the lighthouse in May.\n"

// Notes are found, an agent's note makes no memory of the user, the owner's does, and a changed section is a new turn (I10).
func TestI10Notes(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"agents/main/agent/keep":         "",
		"openclaw.json":                  "{agents: {defaults: {workspace: 'none'}}}",
		"workspace/MEMORY.md":            memoryNotes,
		"workspace/USER.md":              "I live in Bergen. I prefer tea over coffee.\n",
		"workspace/memory/2026-02-03.md": "Repaired the rudder.\n",
		"workspace/memory/other.md":      "not dated",
	}
	dir := state(t, files)
	e, err := engine.New(memory.New(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run := func(imported, known int) {
		t.Helper()
		r, err := ingest.Import(t.Context(), e, e, open(t, dir), ingest.Options{})
		if err != nil || r.Imported != imported || r.Known != known {
			t.Fatalf("%d imported, %d known, %v: %+v", r.Imported, r.Known, err, r)
		}
	}
	run(4, 0)
	run(0, 4)
	if err := e.RunJobs(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, err := e.Find(t.Context(), skald.DefaultIdentity, skald.FindQuery{Query: "lighthouse trips", Kinds: []skald.DocKind{skald.DocTurn}})
	if err != nil || len(found.Hits) == 0 || !strings.Contains(found.Hits[0].Text, "MEMORY.md > Boat > Trips") {
		t.Errorf("%+v, %v", found.Hits, err)
	}
	owner, agent := memories(t, e)
	if !strings.Contains(owner, "tea over coffee") || strings.Contains(owner, "blue sail") {
		t.Errorf("of the user is known:\n%s\nof the agent:\n%s", owner, agent)
	}
	changed := strings.Replace(memoryNotes, "in May", "in June", 1)
	if err := os.WriteFile(filepath.Join(dir, "workspace", "MEMORY.md"), []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	run(1, 3)
}

// memories are the texts that were extracted.
func memories(t *testing.T, e *engine.Engine) (owner, agent string) {
	t.Helper()
	for _, root := range []string{"viking://user/memories", "viking://agent/memories"} {
		files, err := e.List(t.Context(), skald.DefaultIdentity, root, 9)
		if err != nil && skald.KindOf(err) != skald.KindNotFound {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, f := range files {
			if f.Dir {
				continue
			}
			text, err := e.Read(t.Context(), skald.DefaultIdentity, string(f.URI))
			if err != nil {
				t.Fatal(err)
			}
			all.WriteString(text + "\n")
		}
		if strings.Contains(root, "user") {
			owner = all.String()
		} else {
			agent = all.String()
		}
	}
	return owner, agent
}

func TestNoHost(t *testing.T) {
	t.Parallel()
	_, err := openclaw.Open(t.Context(), []string{t.TempDir()}, ingest.OpenOptions{})
	if skald.KindOf(err) != skald.KindNotFound || !strings.Contains(err.Error(), "--openclaw-state") {
		t.Error(err)
	}
}
