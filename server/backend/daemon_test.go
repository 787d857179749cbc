package backend_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/server"
	"github.com/skald-engine/skald/server/backend"
	"github.com/skald-engine/skald/server/files"
	"github.com/skald-engine/skald/server/search"
	"github.com/skald-engine/skald/store/memory"
)

// now is the time of every daemon's clock.
var now = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// keys are two users of one account and one of another.
var keys = []server.Key{
	{Key: "key-ann", Account: "acme", User: "ann"},
	{Key: "key-bob", Account: "acme", User: "bob"},
	{Key: "key-eve", Account: "other", User: "ann"},
}

var ann = skald.Identity{Account: "acme", User: "ann", Agent: "main"}

// daemon is a server on the real engine, called with a key.
type daemon struct {
	*testing.T
	engine *engine.Engine
	store  skald.Store
	back   *backend.Backend
	http   http.Handler
	key    string
	clock  *time.Time
}

func start(t *testing.T) daemon {
	store := memory.New()
	t.Cleanup(func() { store.Close() })
	return startOn(t, store, nil)
}

func startOn(t *testing.T, store skald.Store, s archive.Summariser) daemon {
	t.Helper()
	at := now
	e, err := engine.New(store, engine.Options{Clock: func() time.Time { return at }, Summariser: s})
	if err != nil {
		t.Fatal(err)
	}
	access, err := server.NewAccess("127.0.0.1:1933", false, skald.Identity{}, keys)
	if err != nil {
		t.Fatal(err)
	}
	back := backend.New(e, store)
	parts := back.Parts()
	parts.Files, parts.Search = files.New(e, store, back), search.New(e, store)
	h, err := server.New(server.Deps{Engine: e, Inspector: e, API: back, Parts: parts, Access: access, Loopback: true})
	if err != nil {
		t.Fatal(err)
	}
	return daemon{T: t, engine: e, store: store, back: back, http: h, key: "key-ann", clock: &at}
}

func (d daemon) as(key string) daemon {
	d.key = key
	return d
}

func (d daemon) in(t *testing.T) daemon {
	d.T = t
	return d
}

// jobs runs phase 2 of all that is committed.
func (d daemon) jobs() {
	d.Helper()
	if err := d.engine.RunJobs(context.Background()); err != nil {
		d.Fatal(err)
	}
}

// call makes a request and returns status and body.
func (d daemon) call(method, path, body string) (int, string) {
	r := httptest.NewRequest(method, "http://127.0.0.1:1933"+path, strings.NewReader(body))
	r.Header.Set("X-API-Key", d.key)
	w := httptest.NewRecorder()
	d.http.ServeHTTP(w, r)
	return w.Code, strings.TrimSpace(w.Body.String())
}

// fails makes a request that is to be refused with a status.
func (d daemon) fails(status int, method, path, body string) string {
	d.Helper()
	code, text := d.call(method, path, body)
	if code != status {
		d.Errorf("%s %s: %d, want %d: %s", method, path, code, status, text)
	}
	return text
}

// object is a JSON object of an answer.
type object map[string]any

// ask makes a request that succeeds and returns the envelope's result.
func ask[T any](d daemon, method, path, body string) (result T) {
	d.Helper()
	code, text := d.call(method, path, body)
	var envelope struct {
		Status string
		Result json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &envelope); err != nil || code != 200 || envelope.Status != "ok" {
		d.Fatalf("%s %s: %d %s", method, path, code, text)
	}
	if err := json.Unmarshal(envelope.Result, &result); err != nil {
		d.Fatalf("%s %s: %v in %s", method, path, err, envelope.Result)
	}
	return result
}

func (d daemon) get(path string) object { d.Helper(); return ask[object](d, "GET", path, "") }

func (d daemon) post(path, body string) object { d.Helper(); return ask[object](d, "POST", path, body) }

// say adds a message to a session.
func (d daemon) say(session, role, text string) object {
	d.Helper()
	return d.post("/api/v1/sessions/"+session+"/messages", fmt.Sprintf(`{"role":%q,"content":%q}`, role, text))
}

// talk adds n messages, user and assistant in turn, from number first on.
func (d daemon) talk(session string, first, n int) {
	d.Helper()
	for i := first; i < first+n; i++ {
		role := [2]string{"assistant", "user"}[i%2]
		d.say(session, role, fmt.Sprintf("Message %d: we decided to deploy service number %d to Lisbon.", i, i*17))
	}
}

func (d daemon) commit(session, body string) object {
	d.Helper()
	return d.post("/api/v1/sessions/"+session+"/commit", body)
}

func (d daemon) context(session, query string) object {
	d.Helper()
	return d.get("/api/v1/sessions/" + session + "/context" + query)
}

// texts joins the texts of a list of messages.
func (o object) texts() string {
	var b strings.Builder
	for _, m := range o["messages"].([]any) {
		for _, p := range m.(map[string]any)["parts"].([]any) {
			text, _ := p.(map[string]any)["text"].(string)
			b.WriteString(text + "\n")
		}
	}
	return b.String()
}

func (o object) count() int { return len(o["messages"].([]any)) }

func (d daemon) same(what string, got, want any) {
	d.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		d.Errorf("%s: %v, want %v", what, got, want)
	}
}

func (d daemon) has(what, text string, parts ...string) {
	d.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			d.Errorf("%s lacks %q: %s", what, p, text)
		}
	}
}

func (d daemon) lacks(what, text string, parts ...string) {
	d.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			d.Errorf("%s has %q: %s", what, p, text)
		}
	}
}

// remember stores a memory of the identity and returns its URI.
func (d daemon) remember(id skald.Identity, text, kind string) string {
	d.Helper()
	args, _ := json.Marshal(map[string]string{"text": text, "type": kind})
	r := skald.ToolRequest{Tool: "memory_store", Args: args}
	r.Identity = id
	answer, err := d.engine.Tool(context.Background(), r)
	if err != nil || answer.IsError {
		d.Fatal(answer.Text, err)
	}
	var details struct{ URI string }
	if err := json.Unmarshal(answer.Details, &details); err != nil {
		d.Fatal(err)
	}
	return details.URI
}
