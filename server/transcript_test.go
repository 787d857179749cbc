package server_test

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/server/servertest"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

// exchange is a request and its answer in a transcript: sections "-- name --" and "-- answer --" of a txtar file.
type exchange struct{ name, request, answer string }

var section = regexp.MustCompile(`(?m)^-- (.+) --\n`)

func parseTranscript(t *testing.T, file string) (comment string, list []exchange) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	marks := section.FindAllStringSubmatchIndex(text, -1)
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		name, body := text[m[2]:m[3]], text[m[1]:end]
		if i == 0 {
			comment = text[:m[0]]
		}
		if name == "answer" {
			list[len(list)-1].answer = body
		} else {
			list = append(list, exchange{name: name, request: body})
		}
	}
	return comment, list
}

func parseRequest(text string) *http.Request {
	head, body, _ := strings.Cut(text, "\n\n")
	lines := strings.Split(strings.TrimSuffix(head, "\n"), "\n")
	method, target, _ := strings.Cut(lines[0], " ")
	r := httptest.NewRequest(method, "http://127.0.0.1:1933"+target, strings.NewReader(strings.TrimSuffix(body, "\n")))
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	return r
}

// masks hide what differs from run to run.
var masks = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`msg_[0-9a-f]{32}`), "msg_ID"},
	{regexp.MustCompile(`\d{8}-\d{6}-[0-9a-f]{16}`), "SESSION"},
	{regexp.MustCompile(`"pid":\d+`), `"pid":PID`},
	{regexp.MustCompile(`"trace_id":"[^"]*"`), `"trace_id":"TRACE"`},
}

func perform(h http.Handler, request string) string {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, parseRequest(request))
	body := w.Body.String()
	for _, m := range masks {
		body = m.pattern.ReplaceAllString(body, m.with)
	}
	return fmt.Sprintf("%d\n%s\n", w.Code, strings.TrimSuffix(body, "\n"))
}

// TestTranscripts replays the HTTP calls of testdata/*.txtar, in order, against one daemon in dev mode each.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			s := newServer(t, &servertest.Fake{}, nil)
			comment, list := parseTranscript(t, file)
			out := comment
			for _, x := range list {
				got := perform(s, x.request)
				out += "-- " + x.name + " --\n" + x.request + "-- answer --\n" + got
				if diff := cmp.Diff(x.answer, got); diff != "" && !*update {
					t.Errorf("%s (-want +got):\n%s", x.name, diff)
				}
			}
			if *update {
				if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// newServer is a daemon in dev mode on loopback around a fake; change adjusts its parts.
func newServer(t *testing.T, f *servertest.Fake, change func(*server.Deps)) *server.Server {
	t.Helper()
	access, err := server.NewAccess("127.0.0.1:1933", true, skald.Identity{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := server.Deps{
		Engine: f, Inspector: f, API: f, Parts: api.Deps{Files: servertest.Files{}, Tasks: f, Search: servertest.Search{}}, Access: access, Version: "test", Instance: "i1", Loopback: true,
	}
	if change != nil {
		change(&d)
	}
	s, err := server.New(d)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
