package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skald-engine/skald/test/world"
)

// TestMigration follows docs/migrating-from-openviking.md: a real server is filled, backed up with ov, and its data is moved to Skald.
func TestMigration(t *testing.T) {
	from := realTarget(t)
	fill(t, from)
	o := newOV(t, from)
	backup := filepath.Join(t.TempDir(), "all.ovpack")
	if code, _, said := o.run(t, "backup", backup); code != 0 {
		t.Fatalf("ov backup: %s", said)
	}

	data := t.TempDir()
	imported := importBackup(t, backup, data)
	if imported.Sessions["move-1"] != 4 || imported.Sessions["move-2"] != 2 {
		t.Errorf("imported messages by session: %v", imported.Sessions)
	}
	if imported.Notes == 0 {
		t.Error("no memory was imported")
	}
	if again := importBackup(t, backup, data); again.New != 0 {
		t.Errorf("the second import stored %d messages again", again.New)
	}

	to := daemonOver(t, data)
	said := to.search(t, "harbour Lindal")
	if !strings.Contains(said, "Lindal") {
		t.Errorf("what was said is not found: %s", said)
	}
	restored(t, to, backup)
}

// fill puts two sessions, one committed, and a resource on a server.
func fill(t *testing.T, s target) {
	t.Helper()
	c := conversation{target: s, kept: map[string]string{}}
	batch := `alice POST /api/v1/sessions/%s/messages/batch {"messages":[{"role":"user","content":"%s"},{"role":"assistant","content":"%s"}]} => 200`
	for _, line := range []string{
		`alice POST /api/v1/sessions {"session_id":"move-1"} => 200`,
		fmt.Sprintf(batch, "move-1", "I keep my boat in the harbour of Lindal.", "Noted."),
		`alice POST /api/v1/sessions/move-1/commit {} => 200 ; keep task=result.task_id`,
		`alice GET /api/v1/tasks/$task => 200 ; until result.status=completed`,
		fmt.Sprintf(batch, "move-1", "It is called Skua.", "A fine name."),
		fmt.Sprintf(batch, "move-2", "How high is the tide?", "Two metres."),
		`alice POST /api/v1/content/write {"uri":"viking://resources/tide/table.md","content":"High water at six.","mode":"create","wait":true} => 200`,
		`alice POST /api/v1/system/wait {} => 200`,
	} {
		a, err := parseAsk(line)
		if err != nil {
			t.Fatal(err)
		}
		if r := c.run(t, a); r.status != a.status {
			t.Fatalf("%s: %d %s", a.step(), r.status, clip(r.raw))
		}
	}
}

// moved is what an import did.
type moved struct {
	Sessions map[string]int // messages by session
	Notes    int            // memories
	New      int            // messages stored by this import
}

func importBackup(t *testing.T, backup, data string) moved {
	t.Helper()
	binary, err := world.Binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "import", "openviking", backup, "--data", data, "--json")
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("skald import: %v\n%s", err, errs.String())
	}
	var report struct {
		Conversations []struct {
			Session  string `json:"session_id"`
			Title    string `json:"title"`
			Messages int    `json:"messages"`
			Imported int    `json:"imported"`
		} `json:"conversations"`
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	m := moved{Sessions: map[string]int{}}
	for _, c := range report.Conversations {
		m.Sessions[c.Session] += c.Messages
		m.New += c.Imported
		if strings.Contains(c.Title, "Memories") {
			m.Notes += c.Messages
		}
	}
	return m
}

func daemonOver(t *testing.T, data string) target {
	t.Helper()
	log := &bytes.Buffer{}
	d, err := world.StartDaemon(t.Context(), data, log)
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	t.Cleanup(d.Stop)
	key, err := d.Key()
	if err != nil {
		t.Fatal(err)
	}
	return target{name: "skald", url: d.URL(), user: key, root: key}
}

// search is what `skald search` finds.
func (t target) search(tb testing.TB, query string) string {
	tb.Helper()
	binary, err := world.Binary()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := exec.CommandContext(tb.Context(), binary, "search", query, "--server", t.url, "--key", t.user, "--json").CombinedOutput()
	if err != nil {
		tb.Fatalf("skald search: %v\n%s", err, out)
	}
	return string(out)
}

// restored moves the resources with ov itself, pointed at Skald.
func restored(t *testing.T, to target, backup string) {
	t.Helper()
	o := newOV(t, to)
	if code, _, said := o.run(t, "-o", "json", "restore", backup, "--on-conflict", "skip"); code != 0 {
		t.Fatalf("ov restore to Skald: %s", said)
	}
	code, out, said := o.run(t, "-o", "json", "read", "viking://resources/tide/table.md")
	if code != 0 || !strings.Contains(string(out), "High water at six.") {
		t.Errorf("the resource is not there: %d %s %s", code, out, said)
	}
}
