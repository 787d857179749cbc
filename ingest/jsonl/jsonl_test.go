package jsonl_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/jsonl"
)

// read lists the conversations of files and what they hold, a line each.
func read(t *testing.T, paths ...string) (list []string) {
	t.Helper()
	source, err := jsonl.Open(t.Context(), paths, ingest.OpenOptions{Agent: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range source.Conversations(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprintf("%s%s by %q", c.Session.SessionID, c.Session.SessionKey, c.Session.AgentID))
		for item, err := range c.Items {
			switch {
			case err != nil:
				t.Fatal(err)
			case item.Skipped != "":
				list = append(list, fmt.Sprintf("%s skipped: %s", filepath.Base(item.Where), item.Skipped))
			default:
				list = append(list, string(item.Entry.Message))
			}
		}
	}
	return list
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "talk.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSessions(t *testing.T) {
	t.Parallel()
	path := write(t, `{"role":"user","content":"one","session":"a"}
{"role":"user","content":"two","session":"agent:eve:main"}
{"role":"assistant","content":"three","session":"a"}
`)
	want := []string{
		`a by "ada"`, `{"role":"user","content":"one","session":"a"}`, `{"role":"assistant","content":"three","session":"a"}`,
		`agent:eve:main by ""`, `{"role":"user","content":"two","session":"agent:eve:main"}`,
	}
	if diff := cmp.Diff(want, read(t, path)); diff != "" {
		t.Error(diff)
	}
}

func TestOddInput(t *testing.T) {
	t.Parallel()
	path := write(t, "\xef\xbb\xbf"+`{"role":"user","content":"bom"}`+"\r\n\r\n   \n"+
		`not json`+"\n"+`{"content":"no role"}`+"\n"+`["role"]`+"\n"+"{\"role\":\"user\",\"content\":\"\xff\"}\n"+
		`{"role":"user","content":"`+strings.Repeat("x", 33<<20)+`"}`+"\n"+
		`{"role":"user","content":"same id","id":7}`+"\n"+`{"role":"user","content":"again","id":7}`+"\n"+`{"role":"user","content":"no end"}`)
	got := read(t, path)
	want := []string{
		`{"role":"user","content":"bom"}`,
		`talk.jsonl:4 skipped: the line is not a JSON object`,
		`talk.jsonl:5 skipped: the line has no "role"`,
		`talk.jsonl:6 skipped: the line is not a JSON object`,
		`talk.jsonl:7 skipped: the line is not valid UTF-8`,
		`talk.jsonl:8 skipped: the line is longer than 32 MB`,
		`{"role":"user","content":"same id","id":7}`,
		`talk.jsonl:10, id "7" as in line 9 skipped: another line of the session has the same id`,
		`{"role":"user","content":"no end"}`,
	}
	if diff := cmp.Diff(want, got[1:]); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(got[0], "jsonl-talk-") {
		t.Errorf("the session is %s", got[0])
	}
}

// Lines before the first message belong to its session, and a file without any is reported.
func TestNoMessage(t *testing.T) {
	t.Parallel()
	if got := read(t, write(t, "garbage\nmore\n")); len(got) != 3 {
		t.Error(got)
	}
	if got := read(t, write(t, "garbage\n{\"role\":\"user\",\"content\":\"x\",\"session\":\"s\"}\n")); len(got) != 3 || got[0] != `s by "ada"` {
		t.Error(got)
	}
	if got := read(t, write(t, "")); len(got) != 0 {
		t.Error(got)
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		paths []string
		kind  skald.Kind
	}{{nil, skald.KindInvalid}, {[]string{filepath.Join(t.TempDir(), "none")}, skald.KindNotFound}, {[]string{t.TempDir()}, skald.KindNotFound}} {
		if _, err := jsonl.Open(t.Context(), c.paths, ingest.OpenOptions{}); skald.KindOf(err) != c.kind {
			t.Errorf("%v: %v", c.paths, err)
		}
	}
	dir := filepath.Dir(write(t, `{"role":"user","content":"x","session":"s"}`))
	if got := read(t, dir); len(got) != 2 {
		t.Error(got)
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte("{\"role\":\"user\",\"content\":\"x\",\"session\":\"s\"}\nx\n\r\n"))
	f.Add([]byte("\xef\xbb\xbf{\"role\":\"\"}\n{\"role\":\"a\",\"id\":1e400}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		first, second := read(t, write(t, string(text))), []string(nil)
		messages := 0
		for _, line := range strings.Split(string(text), "\n") {
			if strings.TrimSpace(strings.TrimPrefix(line, "\xef\xbb\xbf")) != "" {
				messages++
			}
		}
		second = read(t, write(t, string(text)))
		if len(first) != len(second) {
			t.Errorf("read twice: %d and %d", len(first), len(second))
		}
		items := 0
		for _, line := range first {
			if strings.HasPrefix(line, "{") || strings.Contains(line, " skipped: ") {
				items++
			}
		}
		if items > messages {
			t.Errorf("%d items of %d lines", items, messages)
		}
	})
}

// A time in seconds is not one of January 1970.
func TestSecondsBecomeMilliseconds(t *testing.T) {
	t.Parallel()
	path := write(t, `{"role":"user","content":"{\"timestamp\":1767603605}","timestamp": 1767603605,"z":{"timestamp":1}}
{"role":"user","content":"b","timestamp":1767603605.25}
{"role":"user","content":"c","timestamp":1767603605000}
{"role":"user","content":"d","timestamp":7}
{"role":"user","content":"e","timestamp":"1767603605"}
`)
	want := []string{
		`{"role":"user","content":"{\"timestamp\":1767603605}","timestamp": 1767603605000,"z":{"timestamp":1}}`,
		`{"role":"user","content":"b","timestamp":1767603605250}`,
		`{"role":"user","content":"c","timestamp":1767603605000}`,
		`{"role":"user","content":"d","timestamp":7}`,
		`{"role":"user","content":"e","timestamp":"1767603605"}`,
	}
	if diff := cmp.Diff(want, read(t, path)[1:]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A pipe is read twice and a device never ends: neither may hang an import.
func TestDeviceIsRefused(t *testing.T) {
	t.Parallel()
	_, err := jsonl.Open(t.Context(), []string{os.DevNull}, ingest.OpenOptions{})
	if skald.KindOf(err) != skald.KindInvalid {
		t.Errorf("%v", err)
	}
}
