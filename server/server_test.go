package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server"
	"github.com/skald-engine/skald/server/servertest"
)

func TestHostHeader(t *testing.T) {
	t.Parallel()
	s := newServer(t, &servertest.Fake{}, func(d *server.Deps) { d.Hosts = []string{"Skald.lan"} })
	for host, ok := range map[string]bool{
		"localhost:1933": true, "LOCALHOST": true, "127.0.0.1:1933": true, "[::1]:1933": true, "skald.lan": true, "localhost.": true,
		"evil.example": false, "evil.example:1933": false, "127.0.0.1.evil.example": false, "localhost.evil.example:1933": false,
		"192.168.1.5": false, "": false,
	} {
		r := httptest.NewRequest("GET", "/health", nil)
		r.Host = host
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if (w.Code == 200) != ok {
			t.Errorf("host %q: %d", host, w.Code)
		}
	}
}

// A page of another site may neither write (a form post needs no preflight) nor read (CORS is closed).
func TestOtherSites(t *testing.T) {
	t.Parallel()
	f := &servertest.Fake{}
	s := newServer(t, f, func(d *server.Deps) { d.Origins = []string{"https://console.example"} })
	const body = `{"role":"user","content":"x"}`
	w := ask(s, "POST", "/api/v1/sessions/s/messages", body, "Origin", "https://evil.example", "Content-Type", "text/plain")
	if w.Code != 403 {
		t.Errorf("cross-site post: %d", w.Code)
	}
	w = ask(s, "GET", "/health", "", "Origin", "https://evil.example")
	if w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Error("CORS is open")
	}
	w = ask(s, "POST", "/api/v1/sessions/s/messages", body, "Origin", "https://console.example", "Sec-Fetch-Site", "cross-site")
	if w.Code != 200 || w.Header().Get("Access-Control-Allow-Origin") != "https://console.example" {
		t.Errorf("configured origin: %d %v", w.Code, w.Header())
	}
	w = ask(s, "OPTIONS", "/api/v1/sessions", "", "Origin", "https://console.example", "Access-Control-Request-Method", "POST")
	if w.Code != 204 {
		t.Errorf("preflight: %d", w.Code)
	}
}

func TestPanicIsAnAnswer(t *testing.T) {
	t.Parallel()
	f := &servertest.Fake{Panic: true}
	s := newServer(t, f, nil)
	w := ask(s, "POST", "/engine/v1/commit_turn", `{"session":{"session_id":"s"},"messages":[]}`, "X-Request-ID", "req-7")
	if w.Code != 500 || !strings.Contains(w.Body.String(), `"kind":"internal"`) || !strings.Contains(w.Body.String(), "req-7") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if strings.Contains(w.Body.String(), "secret detail") {
		t.Error("the panic's text is in the answer")
	}
	f.Panic = false
	if w := ask(s, "POST", "/engine/v1/commit_turn", `{"messages":[]}`); w.Code != 200 {
		t.Errorf("after the panic: %d", w.Code)
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	s := newServer(t, &servertest.Fake{}, nil)
	if id := ask(s, "GET", "/health", "", "X-Request-ID", "a.b:c-1").Header().Get("X-Request-ID"); id != "a.b:c-1" {
		t.Errorf("echo: %q", id)
	}
	w := ask(s, "GET", "/health", "")
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(w.Header().Get("X-Request-ID")) {
		t.Errorf("generated: %q", w.Header().Get("X-Request-ID"))
	}
	if !regexp.MustCompile(`^\d+\.\d+$`).MatchString(w.Header().Get("X-Process-Time")) {
		t.Errorf("process time: %q", w.Header().Get("X-Process-Time"))
	}
	if w := ask(s, "GET", "/health", "", "X-Request-ID", "no spaces"); w.Code != 200 || w.Header().Get("X-Request-ID") == "no spaces" {
		t.Errorf("malformed: %d %v", w.Code, w.Header())
	}
	r := httptest.NewRequest("GET", "http://localhost/health", nil)
	r.Header["X-Request-Id"] = []string{"a", "b"}
	dup := httptest.NewRecorder()
	if s.ServeHTTP(dup, r); dup.Code != 200 || len(dup.Header()["X-Request-Id"]) != 1 || len(dup.Header().Get("X-Request-ID")) != 36 {
		t.Errorf("doubled: %d %v", dup.Code, dup.Header())
	}
}

// /ready has OpenViking's shape, and calls no provider.
func TestReadyInOpenVikingsShape(t *testing.T) {
	t.Parallel()
	for want, ready := range map[string]error{"ready": nil, "not_ready": errors.New("the disk is full")} {
		s := newServer(t, &servertest.Fake{}, func(d *server.Deps) { d.Ready = func(context.Context) error { return ready } })
		w := ask(s, "GET", "/ready", "")
		var got struct {
			Status string
			Checks struct {
				AGFS      struct{ Status string }
				VectorDB  string
				Embedding string
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Status != want || got.Checks.Embedding != "not_configured" ||
			(got.Checks.AGFS.Status == "ok") != (ready == nil) || (w.Code == 200) != (ready == nil) {
			t.Errorf("%s: %d %s", want, w.Code, w.Body)
		}
		if strings.Contains(w.Body.String(), "disk") {
			t.Errorf("details without a key: %s", w.Body)
		}
	}
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	f := &servertest.Fake{}
	s := newServer(t, f, func(d *server.Deps) { d.BodyLimit = 100 })
	big := `{"messages":["` + strings.Repeat("x", 200) + `"]}`
	for _, path := range []string{"/engine/v1/commit_turn", "/api/v1/sessions/s/messages/batch"} {
		w := ask(s, "POST", path, big)
		if w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), "larger than 100 bytes") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		// Without a length the limit is met while reading.
		r := httptest.NewRequest("POST", "http://localhost"+path, io.MultiReader(strings.NewReader(big)))
		r.ContentLength = -1
		c := httptest.NewRecorder()
		if s.ServeHTTP(c, r); c.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("%s chunked: %d %s", path, c.Code, c.Body)
		}
	}
	if last, _ := f.Last(); last != nil {
		t.Errorf("the engine got %v", last)
	}
}

type brokenSink struct{}

func (brokenSink) Request(string, int, time.Duration) { panic("sink") }
func (brokenSink) Handler() http.Handler              { return http.NotFoundHandler() }

// CAP-14.
func TestBrokenSinkHarmsNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t, &servertest.Fake{}, func(d *server.Deps) { d.Metrics = brokenSink{} })
	if w := ask(s, "POST", "/engine/v1/commit_turn", `{"messages":[{}]}`); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestErrorsHaveOneTable(t *testing.T) {
	t.Parallel()
	for kind, want := range map[skald.Kind]struct {
		status int
		code   string
	}{
		skald.KindInvalid: {400, "INVALID_ARGUMENT"}, skald.KindNotFound: {404, "NOT_FOUND"}, skald.KindExists: {409, "ALREADY_EXISTS"},
		skald.KindConflict: {409, "CONFLICT"}, skald.KindPermission: {403, "PERMISSION_DENIED"}, skald.KindUnauth: {401, "UNAUTHENTICATED"},
		skald.KindUnavailable: {503, "UNAVAILABLE"}, skald.KindBudget: {412, "FAILED_PRECONDITION"},
		skald.KindUnsupported: {501, "UNIMPLEMENTED"}, skald.KindDeadline: {504, "DEADLINE_EXCEEDED"}, skald.KindInternal: {500, "INTERNAL"},
		"made_up": {500, "INTERNAL"},
	} {
		s := newServer(t, &servertest.Fake{Fail: skald.E("op", kind, "why")}, nil)
		if w := ask(s, "POST", "/engine/v1/ingest", `{}`); w.Code != want.status || !strings.Contains(w.Body.String(), `"kind":"`+string(kind)) {
			t.Errorf("%s: engine %d %s", kind, w.Code, w.Body)
		}
		w := ask(s, "POST", "/api/v1/sessions/s/messages", `{"role":"user","content":"x"}`)
		if w.Code != want.status || !strings.Contains(w.Body.String(), `"code":"`+want.code+`"`) {
			t.Errorf("%s: api %d %s", kind, w.Code, w.Body)
		}
	}
	s := newServer(t, &servertest.Fake{Fail: context.DeadlineExceeded}, nil)
	if w := ask(s, "POST", "/engine/v1/ingest", `{}`); w.Code != 504 {
		t.Errorf("deadline: %d", w.Code)
	}
}

// PLG-09: a caller one protocol apart is served, whatever fields it has renamed or added; more is refused with what to do.
func TestPLG09Protocol(t *testing.T) {
	t.Parallel()
	s := newServer(t, &servertest.Fake{}, nil)
	n := skald.ProtocolVersion
	for header, want := range map[string]struct {
		status int
		text   string
	}{
		"": {200, ""}, "x": {400, "is not a number"},
		strconv.Itoa(n - 1): {200, ""}, strconv.Itoa(n): {200, ""}, strconv.Itoa(n + 1): {200, ""},
		strconv.Itoa(n - 2): {409, fmt.Sprintf("speaks protocol %d, this daemon %d to %d: update the caller", n-2, n-1, n)},
		strconv.Itoa(n + 2): {409, fmt.Sprintf("speaks protocol %d, this daemon %d to %d: install a newer skald", n+2, n-1, n)},
	} {
		body := `{"session":{"session_id":"s","from_the_future":1},"line":"help","new_name":{"a":[1]}}`
		for path, method := range map[string]string{"/engine/v1/status": "GET", "/engine/v1/command": "POST", "/engine/v1/bootstrap": "POST"} {
			w := ask(s, method, path, body, "X-Skald-Protocol", header)
			if w.Code != want.status || !strings.Contains(w.Body.String(), want.text) {
				t.Errorf("%s with protocol %q: %d, want %d %q: %s", path, header, w.Code, want.status, want.text, w.Body)
			}
		}
	}
	w := ask(s, "GET", "/engine/v1/handshake", "", "X-Skald-Protocol", strconv.Itoa(n+7))
	if !strings.Contains(w.Body.String(), fmt.Sprintf(`"protocol":%d,"min_protocol":%d`, n, n-1)) {
		t.Errorf("the handshake answers everybody: %s", w.Body)
	}
}

// A line of the chat reaches the commands with the caller's identity.
func TestCommandRoute(t *testing.T) {
	t.Parallel()
	f := &servertest.Fake{}
	s := newServer(t, f, nil)
	w := ask(s, "POST", "/engine/v1/command", `{"session":{"session_key":"agent:coder:x","agent_id":"coder"},"line":"compact the names","owner":false}`)
	if w.Code != 200 || !strings.Contains(w.Body.String(), "from 100 to 40 tokens") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	r, id := f.Last()
	if c, ok := r.(skald.CompactRequest); !ok || c.Instructions != "the names" || c.Session.SessionKey != "agent:coder:x" || id.Agent != "coder" {
		t.Errorf("the engine got %+v of %v", r, id)
	}
}

// slowEngine keeps a call under way until it is told to end.
type slowEngine struct {
	*servertest.Fake
	entered, leave chan struct{}
}

func (e slowEngine) Compact(ctx context.Context, r skald.CompactRequest) (skald.CompactResult, error) {
	close(e.entered)
	<-e.leave
	return e.Fake.Compact(ctx, r)
}

func TestServeDrains(t *testing.T) {
	t.Parallel()
	e := slowEngine{&servertest.Fake{}, make(chan struct{}), make(chan struct{})}
	s := newServer(t, e.Fake, func(d *server.Deps) { d.Engine = e })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, time.Minute) }()
	answered := make(chan int, 1)
	go func() {
		resp, err := http.Post("http://"+l.Addr().String()+"/engine/v1/compact", "application/json", strings.NewReader(`{}`))
		if err != nil {
			t.Error(err)
			answered <- 0
			return
		}
		resp.Body.Close()
		answered <- resp.StatusCode
	}()
	<-e.entered
	stop()
	for ask(s, "GET", "/readyz", "").Code != 503 { // draining begins at once, in another goroutine
	}
	close(e.leave)
	if code := <-answered; code != 200 {
		t.Errorf("the call under way got %d", code)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
