package search_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

var section = regexp.MustCompile(`(?m)^-- (.+) --\n`)

// perform makes the request of a transcript: a line with the path's last segment, perhaps with a peer and a key, and a body. Of a faulty
// request the answer is one line; every other is shown as indented JSON.
func (d daemon) perform(request string) string {
	head, body, _ := strings.Cut(request, "\n")
	words := strings.Fields(head)
	var header []string
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		header = append(header, name, value)
	}
	code, answer, _ := d.call("/api/v1/search/"+words[0], strings.TrimSpace(body), header...)
	if code != 200 {
		return fmt.Sprintf("%d %s\n", code, answer)
	}
	var envelope struct{ Result json.RawMessage }
	var out bytes.Buffer
	if err := json.Unmarshal([]byte(answer), &envelope); err != nil {
		d.Fatal(err)
	}
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(envelope.Result); err != nil {
		d.Fatal(err)
	}
	return out.String()
}

// TestTranscripts replays the calls of testdata/*.txtar, in order, against a daemon each.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			d := start(t)
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			out := d.replay(string(b))
			switch {
			case out == string(b):
			case *update:
				err = os.WriteFile(name, []byte(out), 0o644)
			default:
				t.Errorf("the answers differ; got:\n%s", out)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// replay makes a transcript's requests, which begin with "> ", and returns it with the answers that came.
func (d daemon) replay(text string) string {
	marks := section.FindAllStringSubmatchIndex(text, -1)
	var out strings.Builder
	if len(marks) > 0 {
		out.WriteString(text[:marks[0][0]])
	}
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		name, body := text[m[2]:m[3]], text[m[1]:end]
		if name == "answer" {
			continue
		}
		fmt.Fprintf(&out, "-- %s --\n%s-- answer --\n%s", name, body, d.perform(body))
	}
	return out.String()
}
