package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ask is a line of testdata/http.txt.
type ask struct {
	who, method, path, body string
	status                  int
	code                    string

	keep, until [2]string // name, path; path, value
	kind, file  string
	bare        bool
	bearer      bool // the key as a token
	stream      bool // the caller reads a stream of events too
}

// step names an ask in the expectations and the differences.
func (a ask) step() string {
	return strings.TrimSpace(a.who + " " + a.method + " " + a.path + " " + a.body)
}

func readAsks(t *testing.T) []ask { t.Helper(); return readAskFile(t, "testdata/http.txt") }

func readAskFile(t *testing.T, file string) (asks []ask) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		a, err := parseAsk(line)
		if err != nil {
			t.Fatalf("%s: %q: %v", file, line, err)
		}
		asks = append(asks, a)
	}
	return asks
}

func parseAsk(line string) (a ask, err error) {
	request, answer, ok := strings.Cut(line, " => ")
	fields := strings.SplitN(request, " ", 4)
	if !ok || len(fields) < 3 {
		return a, fmt.Errorf("not `who METHOD path [body] => status`")
	}
	a.who, a.method, a.path, a.kind = fields[0], fields[1], fields[2], "application/json"
	if len(fields) == 4 {
		a.body = fields[3]
	}
	parts := strings.Split(answer, " ; ")
	status, code, _ := strings.Cut(parts[0], " ")
	if a.status, err = strconv.Atoi(status); err != nil {
		return a, err
	}
	a.code = code
	for _, option := range parts[1:] {
		if err := a.option(strings.TrimSpace(option)); err != nil {
			return a, err
		}
	}
	return a, nil
}

func (a *ask) option(text string) error {
	name, value, _ := strings.Cut(text, " ")
	left, right, _ := strings.Cut(value, "=")
	switch name {
	case "keep":
		a.keep = [2]string{left, right}
	case "until":
		a.until = [2]string{left, right}
	case "type":
		a.kind = value
	case "file":
		a.file = value
	case "bare":
		a.bare = true
	case "bearer":
		a.bearer = true
	case "stream":
		a.stream = true
	default:
		return fmt.Errorf("unknown option %q", text)
	}
	return nil
}

// conversation runs asks in order and remembers what they keep.
type conversation struct {
	target target
	kept   map[string]string
}

// reply is an answer: its status, and its body where that is JSON.
type reply struct {
	status int
	body   any
	raw    []byte
}

func (r reply) at(path string) any {
	v := r.body
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

func (r reply) code() string { return stringOf(r.at("error.code")) }

func (c *conversation) run(t *testing.T, a ask) reply {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		r := c.once(t, a)
		settled := a.until[0] == "" || fmt.Sprint(r.at(a.until[0])) == a.until[1] || r.status != a.status
		if settled || time.Now().After(deadline) {
			if a.keep[0] != "" {
				c.kept[a.keep[0]] = fmt.Sprint(r.at(a.keep[1]))
			}
			return r
		}
		time.Sleep(50 * time.Millisecond) // between two questions, never in place of one
	}
}

func (c *conversation) once(t *testing.T, a ask) reply {
	t.Helper()
	body, kind := c.fill(a.body), a.kind
	if a.file != "" {
		body, kind = form(t, a.file, body)
	}
	header := http.Header{}
	if key := c.key(a.who); a.bearer {
		header.Set("Authorization", "Bearer "+key)
	} else if key != "" {
		header.Set("X-API-Key", key)
	}
	if body != "" {
		header.Set("Content-Type", kind)
	}
	if a.stream {
		header.Set("Accept", "application/json, text/event-stream")
	}
	resp := c.target.send(t, a.method, strings.ReplaceAll(c.fill(a.path), " ", "%20"), body, header)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	r := reply{status: resp.StatusCode, raw: raw}
	_ = json.Unmarshal(raw, &r.body)
	return r
}

func (c *conversation) fill(text string) string {
	for name, value := range c.kept {
		text = strings.ReplaceAll(text, "$"+name, value)
	}
	return text
}

func (c *conversation) key(who string) string {
	return map[string]string{"alice": c.target.user, "bert": c.target.mate, "root": c.target.root, "forger": "not-a-key"}[who]
}

// form is a body with one file.
func form(t *testing.T, name, text string) (body, kind string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("file", name)
	if err == nil {
		_, err = io.WriteString(part, text)
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

// judge lists in what an answer differs: from the line's status and code, and from the shape that the real server answered with.
func (a ask) judge(r reply, want any) (list []string) {
	if r.status != a.status || a.code != "" && r.code() != a.code {
		return []string{fmt.Sprintf("status: want %d %s, have %d %s", a.status, a.code, r.status, r.code())}
	}
	if a.bare {
		return nil
	}
	return Differences("$", want, Shape(r.body))
}

// TestHTTPOnOpenViking: the table says what the real server does.
func TestHTTPOnOpenViking(t *testing.T) {
	c := conversation{target: realTarget(t), kept: map[string]string{}}
	expected := readExpectations(t, "testdata/http.json")
	if *update {
		expected.steps = map[string]any{}
	}
	for _, a := range readAsks(t) {
		r := c.run(t, a)
		if have, there := expected.steps[a.step()]; *update && !a.bare {
			expected.steps[a.step()] = Shape(r.body)
			if there {
				expected.steps[a.step()] = merge(have, Shape(r.body))
			}
		}
		if list := a.judge(r, expected.steps[a.step()]); len(list) > 0 {
			t.Errorf("%s: %q\n%s", a.step(), list, clip(r.raw))
		}
	}
	if *update {
		expected.write(t)
	}
}

func clip(b []byte) []byte { return b[:min(len(b), 300)] }
