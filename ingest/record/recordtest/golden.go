// Package recordtest holds the tests that every import source has to pass.
package recordtest

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/message"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Opener is the Open function of a source.
type Opener func(ctx context.Context, paths []string, o ingest.OpenOptions) (ingest.Source, error)

// Open opens a source without options.
func Open(t *testing.T, open Opener, paths ...string) ingest.Source {
	t.Helper()
	s, err := open(t.Context(), paths, ingest.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type conversation struct {
	Origin  string `json:"origin"`
	Title   string `json:"title,omitempty"`
	Session any    `json:"session"`
	Started string `json:"started,omitempty"`
	Items   []item `json:"items"`
}

// reports are the ids of conversations that only report: they are made of the path.
var reports = regexp.MustCompile(`"none-[0-9a-f]+"`)

type item struct {
	ID      string          `json:"id,omitempty"`
	Message json.RawMessage `json:"message,omitempty"`
	Skipped string          `json:"skipped,omitempty"`
	Where   string          `json:"where,omitempty"`
}

// Golden compares what a source yields with a golden file (rewritten by -update), and checks what holds for every source: two readings
// are equal, ids are unique within a session, every message can be read, every result names its tool, and nothing is live. root is cut from paths.
func Golden(t *testing.T, s ingest.Source, root, golden string) {
	t.Helper()
	got := dump(t, s, root)
	if again := dump(t, s, root); !bytes.Equal(got, again) {
		t.Errorf("two readings differ:\n%s", cmp.Diff(string(got), string(again)))
	}
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", golden, diff)
	}
}

func dump(t *testing.T, s ingest.Source, root string) []byte {
	t.Helper()
	list := []conversation{}
	ids := map[string]bool{}
	for c, err := range s.Conversations(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Live || c.Session.SessionID == "" {
			t.Errorf("%s is live, or has no session: %+v", c.Origin, c.Session)
		}
		out := conversation{Origin: c.Origin, Title: c.Title, Session: c.Session, Items: []item{}}
		if !c.Started.IsZero() {
			out.Started = c.Started.Format("2006-01-02T15:04:05.000Z")
		}
		for i, err := range c.Items {
			if err != nil {
				t.Fatalf("%s: %v", c.Origin, err)
			}
			check(t, c, i, ids)
			out.Items = append(out.Items, item{ID: i.Entry.EntryID, Message: i.Entry.Message, Skipped: i.Skipped, Where: i.Where})
		}
		list = append(list, out)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(list); err != nil {
		t.Fatal(err)
	}
	text := reports.ReplaceAllString(b.String(), `"none"`)
	if root != "" {
		text = strings.ReplaceAll(text, filepath.ToSlash(root), "ROOT")
	}
	return []byte(text)
}

// check tests what every item must be.
func check(t *testing.T, c ingest.Conversation, i ingest.Item, ids map[string]bool) {
	t.Helper()
	if i.Skipped != "" {
		if i.Where == "" || i.Entry.Message != nil {
			t.Errorf("%s: a skipped item without a place, or with a message: %+v", c.Origin, i)
		}
		return
	}
	id := c.Session.SessionID + "\x00" + i.Entry.EntryID
	if i.Entry.EntryID == "" || ids[id] {
		t.Errorf("%s: id %q is missing or used twice", c.Origin, i.Entry.EntryID)
	}
	ids[id] = true
	m, err := message.Parse(i.Entry.Message)
	if err != nil || m.Role == "" {
		t.Errorf("%s: %s is no message: %v", c.Origin, i.Entry.Message, err)
		return
	}
	if m.Role == message.RoleToolResult && (m.ToolCallID == "" || m.ToolName == "") {
		t.Errorf("%s: a result without call or tool: %s", c.Origin, i.Entry.Message)
	}
}

// Drain reads everything, whatever it is: broken input may yield errors, but never panics and never a message that is no JSON object.
func Drain(t *testing.T, s ingest.Source) (messages, skipped int) {
	t.Helper()
	for c, err := range s.Conversations(t.Context()) {
		if err != nil {
			return messages, skipped
		}
		for i, err := range c.Items {
			switch {
			case err != nil:
			case i.Skipped != "":
				skipped++
			default:
				messages++
				if _, err := message.Parse(i.Entry.Message); err != nil {
					t.Errorf("%s: %s: %v", c.Origin, i.Entry.Message, err)
				}
			}
		}
	}
	return messages, skipped
}

// Check tests that items are messages or say why they are not.
func Check(t *testing.T, items []ingest.Item) {
	t.Helper()
	for _, i := range items {
		if i.Skipped != "" {
			continue
		}
		if _, err := message.Parse(i.Entry.Message); err != nil {
			t.Errorf("%s: %v", i.Entry.Message, err)
		}
	}
}

// Fuzz reads any file with the given name as a source's. The seeds are the files that match, whole and line by line.
func Fuzz(f *testing.F, open Opener, pattern, name string) {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds match %s: %v", pattern, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		for line := range strings.Lines(string(b)) {
			f.Add([]byte(line))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		Drain(t, Open(t, open, path))
	})
}
