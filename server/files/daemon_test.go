package files_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/server"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/server/backend"
	"github.com/skald-engine/skald/server/files"
	"github.com/skald-engine/skald/server/search"
	"github.com/skald-engine/skald/server/webdav"
	"github.com/skald-engine/skald/store/memory"
)

// now is the time of every daemon's clock.
var now = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

var ann = skald.Identity{Account: "acme", User: "ann", Agent: "main"}

// daemon is a server on the real engine and a store in memory, called with a key.
type daemon struct {
	testing.TB
	engine *engine.Engine
	files  *files.Files
	store  skald.Store
	http   http.Handler
	packs  *sync.Map // what was uploaded, by id
	key    string
}

func start(t testing.TB) daemon {
	t.Helper()
	store := memory.New()
	t.Cleanup(func() { store.Close() })
	return startOn(t, store)
}

func startOn(t testing.TB, store skald.Store) daemon {
	t.Helper()
	e, err := engine.New(store, engine.Options{Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	access, err := server.NewAccess("127.0.0.1:1933", false, skald.Identity{}, []server.Key{
		{Key: "key-ann", Account: "acme", User: "ann", Role: skald.RankAdmin},
		{Key: "key-bob", Account: "acme", User: "bob"},
		{Key: "key-eve", Account: "other", User: "ann"},
	})
	if err != nil {
		t.Fatal(err)
	}
	back := backend.New(e, store)
	f := files.New(e, store, back)
	e.Handle(files.ReindexKind, f.Worker())
	packs := &sync.Map{}
	h, err := server.New(server.Deps{
		Engine: e, Inspector: e, API: back, Access: access, Loopback: true, WebDAV: webdav.New(f),
		Parts: api.Deps{Files: f, Tasks: back, Search: search.New(e, store), Uploaded: uploads{packs}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return daemon{TB: t, engine: e, files: f, store: store, http: h, packs: packs, key: "key-ann"}
}

// uploads are what a test has uploaded, by id.
type uploads struct{ *sync.Map }

func (u uploads) Uploaded(_ context.Context, _ skald.Identity, id string, _ int64) ([]byte, string, error) {
	pack, ok := u.Load(id)
	if !ok {
		return []byte(id), id, nil
	}
	return []byte(pack.(string)), "x.ovpack", nil
}

func (d daemon) as(key string) daemon {
	d.key = key
	return d
}

// send makes a request and returns its answer.
func (d daemon) send(method, path string, body io.Reader, headers ...string) *http.Response {
	r := httptest.NewRequest(method, "http://127.0.0.1:1933"+path, body)
	r.Header.Set("X-API-Key", d.key)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	d.http.ServeHTTP(w, r)
	return w.Result()
}

func (d daemon) call(method, path, body string) (int, string) {
	res := d.send(method, path, strings.NewReader(body))
	b, err := io.ReadAll(res.Body)
	if err != nil {
		d.Fatal(err)
	}
	return res.StatusCode, string(bytes.TrimSpace(b))
}

// fails makes a request that is to be refused with a status and a code.
func (d daemon) fails(status int, code, method, path, body string) {
	d.Helper()
	got, text := d.call(method, path, body)
	if got != status || code != "" && !strings.Contains(text, `"code":"`+code+`"`) {
		d.Errorf("%s %s %s: %d, want %d %s: %s", method, path, body, got, status, code, text)
	}
}

type object = map[string]any

// ask makes a request that succeeds and returns the envelope's result.
func ask[T any](d daemon, method, path, body string) (result T) {
	d.Helper()
	code, text := d.call(method, path, body)
	var envelope struct {
		Status string
		Result json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &envelope); err != nil || code != 200 || envelope.Status != "ok" {
		d.Fatalf("%s %s %s: %d %s", method, path, body, code, text)
	}
	if err := json.Unmarshal(envelope.Result, &result); err != nil {
		d.Fatalf("%s %s: %v in %s", method, path, err, envelope.Result)
	}
	return result
}

// post sends v as JSON.
func (d daemon) post(path string, v any) object {
	d.Helper()
	return ask[object](d, "POST", path, jsonOf(d, v))
}

func jsonOf(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (d daemon) write(uri, content string) object {
	d.Helper()
	return d.post("/api/v1/content/write", object{"uri": uri, "content": content})
}

func (d daemon) read(uri string) string {
	d.Helper()
	return ask[string](d, "GET", "/api/v1/content/read?uri="+query(uri), "")
}

// ls lists the URIs of a folder.
func (d daemon) ls(uri string, options ...string) []string {
	d.Helper()
	return ask[[]string](d, "GET", "/api/v1/fs/ls?simple=true&uri="+query(uri)+strings.Join(options, ""), "")
}

func query(uri string) string {
	return strings.NewReplacer("%", "%2525", " ", "%20", "&", "%26", "+", "%2B", "#", "%23", "?", "%3F").Replace(uri)
}

func (d daemon) same(what string, got, want any) {
	d.Helper()
	if n, ok := want.(int); ok {
		want = float64(n)
	}
	if n, ok := got.(int); ok {
		got = float64(n)
	}
	if !reflect.DeepEqual(got, want) {
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

// found reports whether a search finds a URI.
func (d daemon) found(q, uri string) bool {
	d.Helper()
	return strings.Contains(jsonOf(d, d.post("/api/v1/search/find", object{"query": q, "limit": 50})), `"`+uri+`"`)
}
