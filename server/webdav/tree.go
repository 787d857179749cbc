package webdav

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	dav "golang.org/x/net/webdav"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/tree/view"
)

// tree is the resources as a file system, as one identity sees them.
type tree struct {
	files Files
	id    skald.Identity

	replacing bool   // a MOVE: what stands at the destination goes when the source comes
	fault     *error // where a writer tells why its file was not stored; nil: nobody asks
}

var _ dav.FileSystem = tree{}

// uri is the URI of a path. A URI is unescaped where it is parsed, a path was before.
func uri(name string) string {
	name = strings.Trim(path.Clean("/"+name), "/")
	return strings.TrimRight("viking://resources/"+strings.ReplaceAll(name, "%", "%25"), "/")
}

// failure is the error that the os package would give.
func failure(op, name string, err error) error {
	switch skald.KindOf(err) {
	case "":
		return nil
	case skald.KindNotFound:
		err = fs.ErrNotExist
	case skald.KindExists, skald.KindConflict:
		err = fs.ErrExist
	case skald.KindPermission, skald.KindInvalid, skald.KindUnsupported:
		err = fs.ErrPermission
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

func (t tree) Mkdir(ctx context.Context, name string, _ os.FileMode) error {
	if _, err := t.Stat(ctx, path.Dir(name)); err != nil {
		return err
	}
	_, err := t.files.Mkdir(ctx, t.id, uri(name), "")
	return failure("mkdir", name, err)
}

func (t tree) RemoveAll(ctx context.Context, name string) error {
	if t.replacing {
		return nil
	}
	_, err := t.files.Remove(ctx, t.id, uri(name))
	return failure("remove", name, err)
}

func (t tree) Rename(ctx context.Context, from, to string) error {
	if reserved(to) {
		return failure("rename", to, skald.E("", skald.KindPermission, "reserved"))
	}
	return failure("rename", from, t.files.Replace(ctx, t.id, uri(from), uri(to)))
}

func (t tree) Stat(ctx context.Context, name string) (os.FileInfo, error) {
	n, err := t.files.Stat(ctx, t.id, uri(name))
	if err != nil {
		return nil, failure("stat", name, err)
	}
	return info{n}, nil
}

// carriable is the status that refuses a MOVE or COPY before anything is done, or 0.
func (t tree) carriable(ctx context.Context, from, to string) int {
	from, to = path.Clean("/"+from), path.Clean("/"+to)
	if _, err := t.Stat(ctx, from); err != nil {
		return http.StatusNotFound
	}
	parent, err := t.Stat(ctx, path.Dir(to))
	switch {
	case err != nil || !parent.IsDir():
		return http.StatusConflict
	case strings.HasPrefix(from+"/", to+"/"), strings.HasPrefix(to+"/", from+"/"), reserved(to):
		return http.StatusForbidden
	}
	return 0
}

// unmet reports that a request is meant for another state of the file than the one that is there.
func unmet(r *http.Request, f os.FileInfo) bool {
	if f != nil && strings.TrimSpace(r.Header.Get("If-None-Match")) == "*" {
		return true
	}
	wanted := r.Header.Get("If-Match")
	if wanted == "" || f != nil && strings.TrimSpace(wanted) == "*" {
		return false
	}
	there, ok := f.(info)
	if !ok {
		return true
	}
	tag, err := there.ETag(r.Context())
	return err != nil || !strings.Contains(wanted, tag)
}

// puttable is the status that refuses a file of this name before it is written, or 0.
func (t tree) puttable(r *http.Request, name string) int {
	ctx := r.Context()
	parent, err := t.Stat(ctx, path.Dir(name))
	switch {
	case r.Header.Get("Content-Range") != "": // a part would be taken for the whole
		return http.StatusBadRequest
	case err != nil || !parent.IsDir():
		return http.StatusConflict
	case strings.HasSuffix(name, "/"):
		return http.StatusBadRequest
	}
	f, err := t.Stat(ctx, name)
	switch {
	case err == nil && f.IsDir():
		return http.StatusMethodNotAllowed
	case unmet(r, f):
		return http.StatusPreconditionFailed
	}
	return 0
}

func (t tree) OpenFile(ctx context.Context, name string, flag int, _ os.FileMode) (dav.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR) != 0 && flag&os.O_TRUNC != 0 {
		if reserved(name) {
			return nil, failure("open", name, skald.E("", skald.KindPermission, "reserved"))
		}
		if _, err := t.Stat(ctx, path.Dir(name)); err != nil {
			return nil, err
		}
		return &writer{tree: t, ctx: ctx, name: name}, nil
	}
	n, body, err := t.files.Read(ctx, t.id, uri(name), true)
	if err != nil {
		return nil, failure("open", name, err)
	}
	return &reader{Reader: bytes.NewReader(body), tree: t, ctx: ctx, node: n}, nil
}

// reader is an open file or folder.
type reader struct {
	*bytes.Reader
	tree tree
	ctx  context.Context
	node view.Node
	list []os.FileInfo // of a folder, what Readdir has not given yet
	read bool
}

func (r *reader) Close() error                { return nil }
func (r *reader) Stat() (os.FileInfo, error)  { return info{r.node}, nil }
func (r *reader) Write(b []byte) (int, error) { return 0, fs.ErrPermission }

func (r *reader) Readdir(count int) ([]os.FileInfo, error) {
	if !r.read {
		list, err := r.tree.files.List(r.ctx, r.tree.id, strings.ReplaceAll(string(r.node.URI), "%", "%25"), 1, math.MaxInt,
			func(n view.Node) bool { return !reserved(n.Name) })
		if err != nil {
			return nil, failure("readdir", string(r.node.URI), err)
		}
		for _, n := range list {
			r.list = append(r.list, info{n})
		}
		r.read = true
	}
	if count <= 0 {
		count = len(r.list)
	} else if len(r.list) == 0 {
		return nil, io.EOF
	}
	count = min(count, len(r.list))
	out := r.list[:count]
	r.list = r.list[count:]
	return out, nil
}

// writer is a file that is written: it is stored when it is closed.
type writer struct {
	bytes.Buffer
	tree tree
	ctx  context.Context
	name string
}

func (w *writer) Close() error {
	_, err := w.tree.files.Write(w.ctx, w.tree.id, []api.Change{{URI: uri(w.name), Mode: api.ModeReplace, Content: bytes.Clone(w.Bytes())}})
	if w.tree.fault != nil {
		*w.tree.fault = err
	}
	return failure("write", w.name, err)
}

func (w *writer) Seek(int64, int) (int64, error)          { return 0, fs.ErrInvalid }
func (w *writer) Readdir(int) ([]os.FileInfo, error)      { return nil, fs.ErrInvalid }
func (w *writer) Read([]byte) (int, error)                { return 0, io.EOF }
func (w *writer) ReadFrom(r io.Reader) (n int64, e error) { return w.Buffer.ReadFrom(r) }

func (w *writer) Stat() (os.FileInfo, error) {
	sum := sha256.Sum256(w.Bytes())
	n := view.Node{Hash: hex.EncodeToString(sum[:])}
	n.Name, n.Size, n.Modified = path.Base(w.name), int64(w.Len()), time.Now()
	return info{n}, nil
}

// info is a node as the os package describes files.
type info struct{ node view.Node }

func (i info) Name() string       { return i.node.Name }
func (i info) Size() int64        { return i.node.Size }
func (i info) ModTime() time.Time { return i.node.Modified }
func (i info) IsDir() bool        { return i.node.Dir }
func (i info) Sys() any           { return nil }

func (i info) Mode() os.FileMode {
	if i.node.Dir {
		return os.ModeDir | 0o755
	}
	return 0o644
}

// ETag implements dav.ETager.
func (i info) ETag(context.Context) (string, error) {
	if i.node.Hash == "" {
		return "", dav.ErrNotImplemented
	}
	return `"` + i.node.Hash[:32] + `"`, nil
}

// ContentType implements dav.ContentTyper.
func (i info) ContentType(context.Context) (string, error) {
	if i.node.Media == "" {
		return "", dav.ErrNotImplemented
	}
	return i.node.Media, nil
}
