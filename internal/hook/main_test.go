package hook

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server"
	"github.com/skald-engine/skald/server/wire"
)

// daemon serves the world's engine over HTTP, and returns options that find it. stand may take a request over.
func (w *world) daemon(stand func(http.ResponseWriter, *http.Request) bool) Options {
	w.t.Helper()
	data := filepath.Join(w.t.TempDir(), "data")
	key, err := server.EnsureKey(data)
	if err != nil {
		w.t.Fatal(err)
	}
	access, err := server.NewAccess("127.0.0.1:0", false, skald.Identity{}, []server.Key{{Key: key}})
	if err != nil {
		w.t.Fatal(err)
	}
	s, err := server.New(server.Deps{Engine: w.e, Inspector: w.e, Access: access, Loopback: true, Version: "test"})
	if err != nil {
		w.t.Fatal(err)
	}
	h := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if stand == nil || !stand(rw, r) {
			s.ServeHTTP(rw, r)
		}
	}))
	w.t.Cleanup(h.Close)
	w.t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	return Options{Data: data, Server: h.URL, Identity: skald.DefaultIdentity, Limit: 20 * time.Second}
}

// run runs a hook as the command does, on an input as JSON.
func run(t *testing.T, o Options, event string, stdin io.Reader) (stdout string, faults []Fault) {
	t.Helper()
	o.Event = event
	var out bytes.Buffer
	Main(t.Context(), stdin, &out, o)
	return out.String(), Faults(o.Data, 10)
}

func (w *world) json(event string, change ...func(*Input)) io.Reader {
	w.t.Helper()
	b, err := json.Marshal(w.input(event, change...))
	if err != nil {
		w.t.Fatal(err)
	}
	return bytes.NewReader(b)
}

// Three turns in one session, and a fact of them in another: over HTTP, with the recorded inputs.
func TestWholeOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.daemon(nil)
	for _, n := range []string{"5:44", "6:15", "7:30"} {
		w.user(firstSession, "The gate opens at "+n+" on another day.")
		w.reply(firstSession, "msg"+n, text("Noted "+n))
		if out, faults := run(t, o, "Stop", w.json("Stop", says("Noted "+n))); out != "" || len(faults) > 0 {
			t.Fatalf("printed %q, noted %v", out, faults)
		}
	}
	for _, event := range []string{"PreCompact", "SessionEnd"} {
		if out, faults := run(t, o, event, w.json(event)); out != "" || len(faults) > 0 {
			t.Errorf("%s printed %q, noted %v", event, out, faults)
		}
	}
	out, faults := run(t, o, "UserPromptSubmit", w.json("UserPromptSubmit", asking("When does the gate open?")))
	var answer map[string]map[string]string
	if err := json.Unmarshal([]byte(out), &answer); err != nil || len(faults) > 0 {
		t.Fatalf("%q %v %v", out, err, faults)
	}
	if got := answer["hookSpecificOutput"]; got["hookEventName"] != "UserPromptSubmit" || !strings.Contains(got["additionalContext"], "6:15") {
		t.Errorf("%v", got)
	}
}

// Whatever is wrong, the agent hears nothing of it, and the log has one line.
func TestFaults(t *testing.T) {
	t.Parallel()
	good := func(w *world) io.Reader { return w.json("UserPromptSubmit") }
	broken := func(text string) func(*world) io.Reader {
		return func(*world) io.Reader { return strings.NewReader(text) }
	}
	blocked := make(chan struct{})
	t.Cleanup(func() { close(blocked) })
	for name, x := range map[string]struct {
		input  func(*world) io.Reader
		change func(*Options)
		stand  func(http.ResponseWriter, *http.Request) bool
		kind   skald.Kind
	}{
		"no JSON":       {input: broken("heron"), kind: skald.KindInvalid},
		"nothing":       {input: broken(""), kind: skald.KindInvalid},
		"a list":        {input: broken("[]"), kind: skald.KindInvalid},
		"wrong types":   {input: broken(`{"session_id":17}`), kind: skald.KindInvalid},
		"other event":   {input: func(w *world) io.Reader { return w.json("Stop") }, kind: skald.KindInvalid},
		"path as id":    {input: broken(`{"hook_event_name":"UserPromptSubmit","session_id":"../../x"}`), kind: skald.KindInvalid},
		"huge":          {input: broken(`{"prompt":"` + strings.Repeat("x", maxInput) + `"}`), kind: skald.KindInvalid},
		"no daemon":     {input: good, change: func(o *Options) { o.Server, o.Binary = nowhere(t), "/does/not/exist" }, kind: skald.KindUnavailable},
		"wrong key":     {input: good, change: func(o *Options) { _ = os.WriteFile(server.KeyPath(o.Data), bytes.Repeat([]byte("x"), 40), 0o600) }, kind: skald.KindUnauth},
		"other program": {input: good, stand: func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(http.StatusTeapot); return true }, kind: skald.KindConflict},
		"failing": {input: good, kind: skald.KindInternal, stand: func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/assemble") {
				wire.WriteError(w, r, skald.E("x", skald.KindInternal, "broken"))
				return true
			}
			return false
		}},
		"slow recall": {input: good, kind: skald.KindDeadline, stand: func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/assemble") {
				_, _ = io.Copy(io.Discard, r.Body) // the server sees that the caller has gone
				<-r.Context().Done()
				return true
			}
			return false
		}},
		"slow daemon": {input: good, kind: skald.KindDeadline, change: func(o *Options) { o.Limit = 50 * time.Millisecond },
			stand: func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true }},
		"stdin stays open": {kind: skald.KindDeadline, input: func(*world) io.Reader { return waiting{blocked} }, change: func(o *Options) { o.Limit = 50 * time.Millisecond }},
		"panic":            {input: func(*world) io.Reader { return nil }, kind: skald.KindInternal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			o := w.daemon(x.stand)
			if x.change != nil {
				x.change(&o)
			}
			out, faults := run(t, o, "UserPromptSubmit", x.input(w))
			if out != "" {
				t.Errorf("printed %q", out)
			}
			if len(faults) != 1 || faults[0].Kind != x.kind || faults[0].Event != "UserPromptSubmit" {
				t.Errorf("noted %+v, want kind %s", faults, x.kind)
			}
		})
	}
}

// waiting is a standard input that nobody closes.
type waiting struct{ until chan struct{} }

func (w waiting) Read([]byte) (int, error) { <-w.until; return 0, io.EOF }

// nowhere is an address where nothing listens.
func nowhere(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

// The log does not grow for ever, and keeps the newest.
func TestFaultLogIsBounded(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for range 40 {
		note(data, Fault{Event: "Stop", Error: strings.Repeat("x", 8<<10)})
	}
	note(data, Fault{Event: "Stop", Error: "the newest"})
	info, err := os.Stat(FaultPath(data))
	if err != nil || info.Size() > maxFaults+16<<10 {
		t.Errorf("%v %v", info, err)
	}
	if list := Faults(data, 1); len(list) != 1 || list[0].Error != "the newest" {
		t.Errorf("%+v", list)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

// Every recorded input is read, and every event has one.
func TestRecordedInputs(t *testing.T) {
	t.Parallel()
	for _, event := range Events {
		b, err := os.ReadFile(filepath.Join("testdata", "inputs", event+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if in, err := ReadInput(bytes.NewReader(b), event); err != nil || in.SessionID == "" || in.Transcript == "" {
			t.Errorf("%s: %+v %v", event, in, err)
		}
	}
}

func FuzzInput(f *testing.F) {
	files, _ := filepath.Glob("testdata/inputs/*.json")
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		in, err := ReadInput(bytes.NewReader(b), "Stop")
		if err == nil && !sessionID.MatchString(in.SessionID) {
			t.Errorf("%+v", in)
		}
		asks(in)
	})
}
