package backend_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

var (
	section = regexp.MustCompile(`(?m)^-- (.+) --\n`)
	msgID   = regexp.MustCompile(`msg_[0-9a-f]{32}`)
	traceID = regexp.MustCompile(`"trace_id":"[^"]*"`)
)

// perform makes the request of a transcript: a line "METHOD target", perhaps an empty line and a body. "JOBS" runs what is due.
func (d daemon) perform(request string) string {
	head, body, _ := strings.Cut(strings.TrimSuffix(request, "\n"), "\n\n")
	method, target, _ := strings.Cut(strings.TrimSpace(head), " ")
	if method == "JOBS" {
		d.jobs()
		return "done\n"
	}
	code, text := d.call(method, target, body)
	text = traceID.ReplaceAllString(msgID.ReplaceAllString(text, "msg_ID"), `"trace_id":"TRACE"`)
	return fmt.Sprintf("%d\n%s\n", code, text)
}

// TestTranscripts replays the calls of testdata/*.txtar, in order, against a daemon each.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			d := start(t)
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			old := string(b)
			if out := d.replay(old); out != old && *update {
				err = os.WriteFile(file, []byte(out), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// replay makes a transcript's requests and returns it with the answers that came.
func (d daemon) replay(text string) string {
	marks := section.FindAllStringSubmatchIndex(text, -1)
	var out strings.Builder
	last := ""
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		if i == 0 {
			out.WriteString(text[:m[0]])
		}
		name, body := text[m[2]:m[3]], text[m[1]:end]
		if name == "answer" {
			if !*update && body != last {
				d.Errorf("got:\n%swant:\n%s", last, body)
			}
			continue
		}
		last = d.perform(body)
		fmt.Fprintf(&out, "-- %s --\n%s-- answer --\n%s", name, body, last)
	}
	return out.String()
}
