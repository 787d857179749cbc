// Package webdav serves the account's shared resources to WebDAV clients, at /webdav/resources. Text goes in and out; the names that
// OpenViking reserves are hidden. Locks are in memory, each account's own: they keep two editors apart while the daemon runs.
package webdav

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	dav "golang.org/x/net/webdav"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/server/wire"
	"github.com/skald-engine/skald/tree/view"
)

// Prefix is where the resources stand.
const Prefix = "/webdav/resources"

// maxBody is the largest file that is taken, in bytes.
const maxBody = 64 << 20

// Files is what WebDAV needs of the viking:// tree.
type Files interface {
	Stat(ctx context.Context, id skald.Identity, uri string) (view.Node, error)
	List(ctx context.Context, id skald.Identity, uri string, depth, limit int, keep func(view.Node) bool) ([]view.Node, error)
	Read(ctx context.Context, id skald.Identity, uri string, whole bool) (view.Node, []byte, error)
	Mkdir(ctx context.Context, id skald.Identity, uri, description string) (skald.URI, error)
	Remove(ctx context.Context, id skald.Identity, uri string) (api.Removed, error)
	// Replace moves a node to where another may stand, which is deleted; all of it happens or nothing.
	Replace(ctx context.Context, id skald.Identity, from, to string) error
	Write(ctx context.Context, id skald.Identity, list []api.Change) ([]api.Changed, error)
}

// Handler serves WebDAV.
type Handler struct {
	files Files

	mu    sync.Mutex
	locks map[string]dav.LockSystem // by account
}

// New makes a handler.
func New(f Files) *Handler { return &Handler{files: f, locks: map[string]dav.LockSystem{}} }

var methods = []string{"OPTIONS", "PROPFIND", "PROPPATCH", "GET", "HEAD", "PUT", "DELETE", "MKCOL", "MOVE", "COPY", "LOCK", "UNLOCK"}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, ok := wire.Caller(r.Context())
	if !ok {
		wire.WriteError(w, r, skald.E("http.access", skald.KindUnauth, "no identity"))
		return
	}
	fs := tree{files: h.files, id: id}
	switch {
	case !slices.Contains(methods, r.Method):
		w.Header().Set("Allow", strings.Join(methods, ", "))
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	case !plain(r.URL.Path) || !plain(destination(r)):
		http.Error(w, "a path has . or .. in it, or is no UTF-8", http.StatusBadRequest)
	case reserved(r.URL.Path):
		http.Error(w, "not found", http.StatusNotFound)
	case r.Method == http.MethodOptions:
		w.Header().Set("Allow", strings.Join(methods, ", "))
		w.Header().Set("DAV", "1, 2")
		w.Header().Set("MS-Author-Via", "DAV")
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPut:
		h.put(w, r, fs)
	case r.Method == "MOVE" || r.Method == "COPY":
		h.carry(w, r, fs)
	default:
		if r.Method == "PROPFIND" && r.Header.Get("Depth") != "0" {
			r.Header.Set("Depth", "1") // the whole tree at once is not given
		}
		h.handler(fs).ServeHTTP(w, r)
	}
}

func (h *Handler) handler(fs tree) *dav.Handler {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.locks[fs.id.Account] == nil {
		h.locks[fs.id.Account] = dav.NewMemLS()
	}
	return &dav.Handler{Prefix: Prefix, FileSystem: fs, LockSystem: h.locks[fs.id.Account]}
}

// plain reports a path that means what it says.
func plain(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if name == "." || name == ".." || !utf8.ValidString(name) {
			return false
		}
	}
	return true
}

// destination is the path where a MOVE or COPY leads to; "" none.
func destination(r *http.Request) string {
	u, err := url.Parse(r.Header.Get("Destination"))
	if err != nil {
		return ""
	}
	return u.Path
}

// carry is MOVE and COPY. The library deletes what stands at the destination before it looks whether the rest can be done: what would be
// refused is refused here, and a MOVE replaces in one step.
func (h *Handler) carry(w http.ResponseWriter, r *http.Request, fs tree) {
	if r.Header.Get("Overwrite") == "" {
		r.Header.Set("Overwrite", "T") // as RFC 4918 says; the library takes it the other way for MOVE
	}
	from, to := strings.TrimPrefix(r.URL.Path, Prefix), strings.TrimPrefix(destination(r), Prefix)
	if to != destination(r) && strings.Trim(to, "/") != "" { // else the library says what is wrong
		if status := fs.carriable(r.Context(), from, to); status != 0 {
			http.Error(w, http.StatusText(status), status)
			return
		}
	}
	fs.replacing = r.Method == "MOVE"
	h.handler(fs).ServeHTTP(w, r)
}

// put looks at the content before it is written: 415 for what is no text, 409 without the folder, 204 when a file was replaced.
func (h *Handler) put(w http.ResponseWriter, r *http.Request, fs tree) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, "the file is larger than 64 MB", http.StatusRequestEntityTooLarge)
		return
	case err != nil:
		http.Error(w, "the body could not be read", http.StatusBadRequest)
		return
	case !utf8.Valid(body):
		http.Error(w, "only UTF-8 text is stored through WebDAV: import other files as resources", http.StatusUnsupportedMediaType)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, Prefix)
	fs.fault = new(error)
	if status := fs.puttable(r, name); status != 0 {
		http.Error(w, http.StatusText(status), status)
		return
	}
	_, err = fs.Stat(r.Context(), name)
	r.Body = io.NopCloser(bytes.NewReader(body))
	h.handler(fs).ServeHTTP(&replaced{ResponseWriter: w, existed: err == nil, fault: fs.fault}, r)
}

// replaced answers 204 instead of 201 when the file was there, and says why a file was not stored.
type replaced struct {
	http.ResponseWriter
	existed bool
	fault   *error // of storing the file
	quiet   bool
}

func (w *replaced) WriteHeader(status int) {
	if w.existed && status == http.StatusCreated {
		status, w.quiet = http.StatusNoContent, true
	}
	if *w.fault != nil {
		status, _ = wire.Outside(skald.KindOf(*w.fault))
		http.Error(w.ResponseWriter, (*w.fault).Error(), status)
		w.quiet = true
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *replaced) Write(b []byte) (int, error) {
	if w.quiet {
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// reserved reports a path with a name that the server keeps for itself.
func reserved(path string) bool {
	for _, name := range strings.Split(path, "/") {
		switch name {
		case ".abstract.md", ".overview.md", ".relations.json", ".meta.json", ".watch_tasks.json", ".done", ".failed.json", ".redirect.json",
			".sync_log.json", ".recall_log.json", ".ovgitignore", ".path.ovlock":
			return true
		}
		if strings.HasPrefix(name, ".exact.ovlock.") {
			return true
		}
	}
	return false
}
