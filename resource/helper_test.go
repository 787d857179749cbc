package resource_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/index/analyze"
	"github.com/skald-engine/skald/resource"
	"github.com/skald-engine/skald/resource/fetch"
	"github.com/skald-engine/skald/store/memory"
	"github.com/skald-engine/skald/tree"
)

var (
	alice     = skald.Identity{Account: "acme", User: "alice", Agent: "main"}
	bob       = skald.Identity{Account: "acme", User: "bob", Agent: "main"}
	resources = skald.Scope{Account: "acme", Kind: skald.ScopeResources}
)

// world is a service with its queue, and a clock that the test turns.
type world struct {
	*testing.T
	*resource.Service
	store  skald.Store
	runner *archive.Runner
	time   time.Time
	dir    string
}

func open(t *testing.T, change ...func(*resource.Options)) *world {
	t.Helper()
	w := &world{T: t, store: memory.New(), time: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	t.Cleanup(func() { _ = w.store.Close() })
	o := resource.Options{Dir: t.TempDir(), Clock: w.now, Guard: fetch.Guard{AllowPrivate: true}}
	for _, c := range change {
		c(&o)
	}
	s, err := resource.New(w.store, o)
	w.check(err)
	w.Service, w.dir = s, o.Dir
	w.runner = archive.New(w.store, nil, nil, w.now, nil)
	w.runner.Handle(resource.JobKind, s)
	return w
}

func (w *world) now() time.Time { return w.time }

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// upload uploads a file as alice.
func (w *world) upload(name string, body []byte) string {
	w.Helper()
	key, err := w.PutUpload(w.Context(), alice, name, bytes.NewReader(body))
	w.check(err)
	return key
}

// run does the jobs that are due.
func (w *world) run() {
	w.Helper()
	for {
		ran, err := w.runner.RunOne(w.Context())
		w.check(err)
		if !ran {
			return
		}
	}
}

// add imports and returns the outcome.
func (w *world) add(r resource.Request) (resource.Outcome, error) {
	w.Helper()
	a, err := w.Add(w.Context(), alice, r)
	if err != nil {
		return resource.Outcome{}, err
	}
	w.run()
	ctx, cancel := context.WithTimeout(w.Context(), 10*time.Second)
	defer cancel()
	return w.Wait(ctx, alice, a.Task)
}

// put uploads and imports a file; it must succeed.
func (w *world) put(name string, body []byte, r resource.Request) resource.Outcome {
	w.Helper()
	r.Upload = w.upload(name, body)
	out, err := w.add(r)
	w.check(err)
	return out
}

// files is what stands below a URI: bytes of files, "dir" for folders.
func (w *world) files(under skald.URI) map[skald.URI]string {
	w.Helper()
	out := map[skald.URI]string{}
	w.check(w.store.View(w.Context(), func(tx skald.Tx) error {
		list, err := tx.Files(skald.FileQuery{Scopes: []skald.Scope{resources}, Under: under})
		for _, f := range list {
			if f.Dir {
				out[f.URI] = "dir"
				continue
			}
			full, err := tx.File(f.Scope, f.URI)
			if err != nil {
				return err
			}
			out[f.URI] = string(full.Body)
		}
		return err
	}))
	return out
}

// names are the URIs below a URI, relative to it; folders end in a slash.
func (w *world) names(under skald.URI) []string {
	w.Helper()
	out := []string{}
	for uri, body := range w.files(under) {
		name := strings.TrimPrefix(string(uri), string(under)+"/")
		if body == "dir" {
			name += "/"
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func (w *world) file(uri skald.URI) (f skald.File) {
	w.Helper()
	w.check(w.store.View(w.Context(), func(tx skald.Tx) (err error) {
		f, err = tx.File(resources, uri)
		return err
	}))
	return f
}

// found reports the URIs of the documents that hold a word.
func (w *world) found(word string) []string {
	w.Helper()
	seen := map[string]bool{}
	w.check(w.store.View(w.Context(), func(tx skald.Tx) error {
		r, err := tx.Search(skald.SearchQuery{Scopes: []skald.Scope{resources}, Terms: analyze.Terms(word), All: true, Limit: 100})
		for _, h := range r.Hits {
			seen[string(h.Doc.URI)] = true
		}
		return err
	}))
	return slices.Sorted(maps.Keys(seen))
}

// zipOf is an archive of files by path.
func zipOf(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := z.Create(name)
		if err == nil {
			_, err = f.Write([]byte(files[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	g, _ := json.MarshalIndent(got, "", " ")
	h, _ := json.MarshalIndent(want, "", " ")
	if string(g) != string(h) {
		t.Errorf("%s:\n%s\nwanted\n%s", what, g, h)
	}
}

func kind(t *testing.T, what string, err error, want skald.Kind) {
	t.Helper()
	if skald.KindOf(err) != want {
		t.Errorf("%s: %v (kind %q), wanted kind %q", what, err, skald.KindOf(err), want)
	}
}

// site serves pages by path.
func site(pages map[string]string) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(rw, r)
			return
		}
		fmt.Fprint(rw, body)
	})
}

func putFile(tx skald.Tx, uri skald.URI, body string) error {
	return tree.Put(tx, skald.File{Scope: resources, URI: uri, Body: []byte(body), Modified: time.Unix(1, 0)})
}
