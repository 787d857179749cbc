package api

import (
	"cmp"
	"net/http"
	"path"
	"slices"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// maxNodes bounds what a caller may ask for in one listing.
const maxNodes = 100_000

func (h *Handler) files(mux *http.ServeMux) {
	full(mux, "GET /api/v1/fs/ls", h.ls)
	full(mux, "GET /api/v1/fs/tree", h.tree)
	full(mux, "GET /api/v1/fs/stat", h.stat)
	full(mux, "DELETE /api/v1/fs", h.remove)
}

// listing is how a list of files is asked for.
type listing struct {
	uri, output, sortBy, order string
	simple, hidden             bool
	depth, abstract, nodes     int
}

func (q *query) listing() listing {
	l := listing{
		uri: q.required("uri"), output: q.oneOf("output", "agent", "original"), hidden: q.bool("show_all_hidden"),
		sortBy: q.oneOf("sort_by", "", "name", "mtime"), order: q.oneOf("sort_order", "asc", "desc"),
		abstract: q.int("abs_limit", 256, 0, 1<<20), depth: 1,
	}
	l.nodes = q.int("limit", q.int("node_limit", 1000, 1, maxNodes), 1, maxNodes)
	return l
}

func (h *Handler) ls(r *http.Request, id skald.Identity) (any, error) {
	q := query{r: r}
	l := q.listing()
	l.simple = q.bool("simple")
	recursive := q.bool("recursive")
	if recursive {
		l.depth = 3
	}
	if err := q.err(); err != nil {
		return nil, err
	}
	return h.list(r, id, l, recursive)
}

func (h *Handler) tree(r *http.Request, id skald.Identity) (any, error) {
	q := query{r: r}
	l := q.listing()
	l.depth = q.int("level_limit", 3, 1, 64)
	if err := q.err(); err != nil {
		return nil, err
	}
	return h.list(r, id, l, true)
}

func (h *Handler) list(r *http.Request, id skald.Identity, l listing, paths bool) (any, error) {
	found, err := h.inspector.List(r.Context(), id, l.uri, l.depth)
	if err != nil {
		return nil, err
	}
	files := l.choose(found)
	if l.simple {
		uris := make([]skald.URI, len(files))
		for i, f := range files {
			uris[i] = f.URI
		}
		return uris, nil
	}
	out := make([]map[string]any, len(files))
	for i, f := range files {
		out[i] = l.render(f, paths)
	}
	return out, nil
}

// choose drops hidden files, sorts and cuts.
func (l listing) choose(found []skald.FileInfo) []skald.FileInfo {
	files := slices.DeleteFunc(slices.Clone(found), func(f skald.FileInfo) bool {
		return !l.hidden && !f.Dir && strings.HasPrefix(f.Name, ".")
	})
	if l.sortBy != "" {
		slices.SortStableFunc(files, func(a, b skald.FileInfo) int {
			order := cmp.Compare(a.Name, b.Name)
			if l.sortBy == "mtime" {
				order = a.Modified.Compare(b.Modified)
			}
			if l.order == "desc" {
				return -order
			}
			return order
		})
	}
	return files[:min(len(files), l.nodes)]
}

func (l listing) render(f skald.FileInfo, paths bool) map[string]any {
	out := map[string]any{"uri": f.URI, "size": f.Size, "isDir": f.Dir, "modTime": timestamp(f.Modified)}
	if l.output == "original" {
		out["name"], out["mode"] = f.Name, mode(f)
	} else {
		out["abstract"] = cut(f.Abstract, l.abstract)
	}
	if paths {
		out["rel_path"] = tail(f.URI, f.Depth)
	}
	return out
}

// tail is the last n segments of a URI.
func tail(u skald.URI, n int) string {
	parts := strings.Split(strings.TrimPrefix(string(u), string(skald.Root)), "/")
	return strings.Join(parts[max(0, len(parts)-max(n, 1)):], "/")
}

// mode is the permission bits of a file as OpenViking shows them.
func mode(f skald.FileInfo) int {
	if f.Dir {
		return 0o755
	}
	return 0o644
}

func (h *Handler) stat(r *http.Request, id skald.Identity) (any, error) {
	q := query{r: r}
	uri := q.required("uri")
	if err := q.err(); err != nil {
		return nil, err
	}
	f, err := h.backend.Stat(r.Context(), id, uri)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"uri": f.URI, "name": f.Name, "size": f.Size, "mode": mode(f), "modTime": timestamp(f.Modified),
		"isDir": f.Dir, "isLocked": false,
	}, nil
}

// remove forgets what a URI names. A missing target is no fault, as in OpenViking; the count tells it from a removal.
func (h *Handler) remove(r *http.Request, id skald.Identity) (any, error) {
	q := query{r: r}
	uri, recursive := q.required("uri"), q.bool("recursive")
	q.bool("wait")
	if err := q.err(); err != nil {
		return nil, err
	}
	f, err := h.backend.Stat(r.Context(), id, uri)
	switch {
	case skald.KindOf(err) == skald.KindNotFound:
		return map[string]any{"uri": uri, "estimated_deleted_count": 0}, nil
	case err != nil:
		return nil, err
	case f.Dir && !recursive:
		return nil, &wire.Failure{
			Kind: skald.KindInvalid, Status: http.StatusPreconditionFailed, Code: "FAILED_PRECONDITION",
			Message: "a folder is removed only with recursive=true",
			Details: map[string]any{"resource": f.URI, "expected_flag": "recursive"},
		}
	}
	done, err := h.backend.Remove(r.Context(), id, uri)
	if err != nil {
		return nil, err
	}
	return map[string]any{"uri": done.URI, "estimated_deleted_count": done.Count}, nil
}

// parent is the folder of a URI.
func parent(u skald.URI) skald.URI {
	rest := strings.TrimPrefix(string(u), string(skald.Root))
	return skald.URI(string(skald.Root) + strings.TrimPrefix(path.Dir(rest), "."))
}
