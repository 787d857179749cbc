package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestTranscripts: the sequences that OpenViking's plugins and SDKs send get the answers in the golden files (-update writes them).
func TestTranscripts(t *testing.T) {
	if testing.Short() {
		t.Skip("not for -short: it starts the daemon; `make conformance` runs it")
	}
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			c := conversation{target: skaldTarget(t), kept: map[string]string{}}
			var said bytes.Buffer
			for _, a := range readAskFile(t, file) {
				r := c.run(t, a)
				if r.status != a.status {
					t.Errorf("%s: %d, want %d: %s", a.step(), r.status, a.status, clip(r.raw))
				}
				fmt.Fprintf(&said, "> %s\n< %d\n%s\n", a.step(), r.status, normalised(r))
			}
			golden(t, strings.TrimSuffix(file, ".txt")+".golden", said.Bytes())
		})
	}
}

// moving are members whose numbers differ from run to run.
var moving = regexp.MustCompile(`"(created_at|updated_at|duration_ms|processing_seconds|score|version|mod_time|modTime)": (\d[\d.e+-]*|"[^"]*")`)

// named is the random end of a memory's file name.
var named = regexp.MustCompile(`-[0-9a-f]{6}\.md`)

// normalised is an answer with its ids, times and scores left out.
func normalised(r reply) string {
	raw := r.raw
	if _, data, ok := bytes.Cut(raw, []byte("data: ")); ok { // a stream of one event
		raw = bytes.TrimSpace(data)
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return strings.TrimSpace(string(raw))
	}
	b, _ := json.MarshalIndent(v, "", " ") // members in the order of the alphabet
	text := named.ReplaceAllString(volatile.ReplaceAllString(string(b), "<…>"), "-<…>.md")
	now := time.Now().UTC()
	today := strings.NewReplacer(now.Format(time.DateOnly), "<today>", now.Add(-time.Hour).Format(time.DateOnly), "<today>") // a run may cross midnight
	return today.Replace(moving.ReplaceAllString(text, `"$1": "<…>"`))
}

func golden(t *testing.T, file string, have []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, have, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(want, have) {
		return
	}
	w, h := strings.Split(string(want), "\n"), strings.Split(string(have), "\n")
	for i := range min(len(w), len(h)) {
		if w[i] != h[i] {
			t.Fatalf("%s:%d: want %q, have %q", file, i+1, w[i], h[i])
		}
	}
	t.Fatalf("%s: %d lines, have %d", file, len(w), len(h))
}
