package api

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
	"github.com/skald-engine/skald/tree/view"
)

// maxNodes bounds what a caller may ask for in one listing.
const maxNodes = 100_000

func (h *Handler) files(mux *http.ServeMux) {
	if h.deps.Files == nil {
		notServed(mux, "GET /api/v1/fs/{action}", "POST /api/v1/fs/{action...}", "DELETE /api/v1/fs")
		return
	}
	full(mux, "GET /api/v1/fs/ls", h.ls)
	full(mux, "GET /api/v1/fs/tree", h.tree)
	full(mux, "GET /api/v1/fs/stat", h.stat)
	full(mux, "GET /api/v1/fs/attrs", h.attrs)
	full(mux, "POST /api/v1/fs/mkdir", h.mkdir)
	full(mux, "POST /api/v1/fs/mv", h.move)
	full(mux, "POST /api/v1/fs/cp", h.copy)
	full(mux, "DELETE /api/v1/fs", h.remove)
}

// listing is how a list of files is asked for.
type listing struct {
	uri, output, sortBy, order string
	simple, hidden             bool
	depth, abstract, nodes     int
	offset, overview           int
	folders, showTags          bool
	abstracts, overviews       bool // shown
	tags                       []string
}

func (q *query) listing() listing {
	l := listing{
		uri: q.required("uri"), output: q.oneOf("output", "agent", "original"), hidden: q.bool("show_all_hidden"),
		sortBy: q.oneOf("sort_by", "", "name", "mtime"), order: q.oneOf("sort_order", "asc", "desc"),
		abstract: q.int("abs_limit", 256, 0, 1<<20), depth: 1,
	}
	l.nodes = q.int("limit", q.int("node_limit", 1000, 1, maxNodes), 1, maxNodes)
	l.offset, l.overview = q.int("offset", 0, 0, 1<<30), q.int("overview_limit", 4000, 1, 1<<20)
	l.folders, l.showTags, l.overviews = q.bool("directories_only"), q.bool("include_tags"), q.bool("include_overview")
	if l.abstracts = q.bool("include_abstract"); q.text("include_abstract") == "" {
		l.abstracts = l.output == "agent"
	}
	l.tags = q.r.URL.Query()["tags"]
	return l
}

// wants reports a node that belongs into the list.
func (l listing) wants(n view.Node) bool {
	return (l.hidden || n.Dir || !strings.HasPrefix(n.Name, ".")) && (n.Dir || !l.folders) && tagged(n.Tags, l.tags)
}

// tagged reports that all wanted tags are there.
func tagged(have, want []string) bool {
	for _, t := range want {
		if !slices.Contains(have, strings.ToLower(strings.TrimSpace(t))) {
			return false
		}
	}
	return true
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
	return h.listFiles(r, id, l, recursive)
}

func (h *Handler) tree(r *http.Request, id skald.Identity) (any, error) {
	q := query{r: r}
	l := q.listing()
	l.depth = q.int("level_limit", 3, 1, 64)
	if err := q.err(); err != nil {
		return nil, err
	}
	return h.listFiles(r, id, l, true)
}

// listFiles asks for one node more than is wanted, to tell whether there are more; to sort, for all.
func (h *Handler) listFiles(r *http.Request, id skald.Identity, l listing, paths bool) (any, error) {
	most := l.offset + l.nodes + 1
	if l.sortBy != "" {
		most = math.MaxInt
	}
	found, err := h.deps.Files.List(r.Context(), id, l.uri, l.depth, most, l.wants)
	if err != nil {
		return nil, err
	}
	l.sort(found)
	found = found[min(l.offset, len(found)):]
	shown := found[:min(len(found), l.nodes)]
	out := make([]any, len(shown))
	for i, n := range shown {
		if out[i] = n.URI; !l.simple {
			out[i] = l.render(n, paths)
		}
	}
	return page{out, len(shown) < len(found)}, nil
}

func (l listing) sort(list []view.Node) {
	if l.sortBy == "" {
		return
	}
	slices.SortStableFunc(list, func(a, b view.Node) int {
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

// page is a list that says whether there is more, beside the result.
type page struct {
	list []any
	more bool
}

func (p page) respond(w http.ResponseWriter, r *http.Request) {
	wire.WriteValue(w, r, struct {
		Status    string `json:"status"`
		Result    []any  `json:"result"`
		Error     any    `json:"error"`
		Telemetry any    `json:"telemetry"`
		Profile   any    `json:"profile"`
		More      bool   `json:"has_more"`
	}{Status: "ok", Result: p.list, More: p.more})
}

func (l listing) render(n view.Node, paths bool) map[string]any {
	out := map[string]any{"uri": n.URI, "size": n.Size, "isDir": n.Dir}
	if l.output == "original" {
		out["name"], out["mode"], out["modTime"] = n.Name, mode(n), modTime(n)
	} else {
		out["modTime"] = n.Modified.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	if l.abstracts {
		out["abstract"] = cut(abstract(n), l.abstract)
	}
	if l.overviews {
		out["overview"] = cut(n.Overview, l.overview)
	}
	if l.showTags || len(l.tags) > 0 {
		out["tags"] = wire.List(n.Tags)
	}
	if paths {
		out["rel_path"] = tail(n.URI, n.Depth)
	}
	return out
}

func modTime(n view.Node) string { return n.Modified.UTC().Format(time.RFC3339) }

// abstract is a node's L0, with OpenViking's words for a folder that has none.
func abstract(n view.Node) string {
	if n.Abstract == "" && n.Dir {
		return "# " + string(n.URI) + " [Directory abstract is not ready]"
	}
	return n.Abstract
}

// tail is the last n segments of a URI.
func tail(u skald.URI, n int) string {
	parts := strings.Split(strings.TrimPrefix(string(u), string(skald.Root)), "/")
	return strings.Join(parts[max(0, len(parts)-max(n, 1)):], "/")
}

// mode is the permission bits of a file as OpenViking shows them.
func mode(n view.Node) int {
	if n.Dir {
		return 0o755
	}
	return 0o644
}

func (h *Handler) stat(r *http.Request, id skald.Identity) (any, error) {
	n, err := h.node(r, id)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"uri": n.URI, "name": n.Name, "size": n.Size, "mode": mode(n), "modTime": modTime(n), "isDir": n.Dir, "isLocked": false,
	}, nil
}

// node is what the query's uri names.
func (h *Handler) node(r *http.Request, id skald.Identity) (view.Node, error) {
	q := query{r: r}
	uri := q.required("uri")
	if err := q.err(); err != nil {
		return view.Node{}, err
	}
	return h.deps.Files.Stat(r.Context(), id, uri)
}

// attrs answers with a node's tags, and with what is known of a memory.
func (h *Handler) attrs(r *http.Request, id skald.Identity) (any, error) {
	n, err := h.node(r, id)
	if err != nil {
		return nil, err
	}
	attrs := map[string]any{"tags": wire.List(n.Tags)}
	if n.Memory != nil {
		attrs["memory"] = memoryAttrs(*n.Memory)
	}
	return map[string]any{"uri": n.URI, "context_type": n.ContextType(), "attrs": attrs}, nil
}

func memoryAttrs(m skald.Memory) map[string]any {
	out := map[string]any{
		"memory_type": m.Type, "created_at": timestamp(m.Created), "updated_at": timestamp(m.Updated), "explicit": m.Explicit,
		"active_count": m.Uses, "language": m.Lang,
	}
	if m.Superseded != "" {
		out["superseded_by"] = m.Superseded
	}
	return out
}

func (h *Handler) mkdir(r *http.Request, id skald.Identity) (any, error) {
	var b struct {
		URI         string `json:"uri"`
		Description string `json:"description"`
		ACL         any    `json:"acl"`
	}
	if err := decode(r, &b, false); err != nil {
		return nil, err
	}
	if err := need("uri", b.URI); err != nil {
		return nil, err
	}
	if b.ACL != nil {
		return nil, unsupported("access lists are not served: a space is its user's, resources are the account's")
	}
	uri, err := h.deps.Files.Mkdir(r.Context(), id, b.URI, b.Description)
	return map[string]any{"uri": uri}, err
}

// need fails when a required text of the body is missing.
func need(name, value string) error {
	if strings.TrimSpace(value) == "" {
		return invalid(inBody(name), "missing", "Field required")
	}
	return nil
}

// route is where something moves or is copied.
type route struct {
	From      string `json:"from_uri"`
	To        string `json:"to_uri"`
	Recursive bool   `json:"recursive"`
}

func readRoute(r *http.Request) (b route, err error) {
	if err := decode(r, &b, false); err != nil {
		return b, err
	}
	if err := need("from_uri", b.From); err != nil {
		return b, err
	}
	return b, need("to_uri", b.To)
}

func (h *Handler) move(r *http.Request, id skald.Identity) (any, error) {
	b, err := readRoute(r)
	if err != nil {
		return nil, err
	}
	from, to, err := h.deps.Files.Move(r.Context(), id, b.From, b.To)
	return map[string]any{"from": from, "to": to}, err
}

func (h *Handler) copy(r *http.Request, id skald.Identity) (any, error) {
	b, err := readRoute(r)
	if err != nil {
		return nil, err
	}
	n, err := h.deps.Files.Stat(r.Context(), id, b.From)
	switch {
	case err != nil:
		return nil, err
	case n.Dir && !b.Recursive:
		return nil, needsRecursive("copy", n)
	}
	to, count, err := h.deps.Files.Copy(r.Context(), id, b.From, b.To)
	return map[string]any{
		"operation": "copy", "from": n.URI, "to": to, "recursive": b.Recursive, "phase": "completed", "files_created": count,
		"semantic_root_uri": to.Parent(), "semantic_status": "queued",
	}, err
}

func needsRecursive(verb string, n view.Node) error {
	return &wire.Failure{
		Kind: skald.KindInvalid, Field: "uri", Message: "Cannot " + verb + " directory without --recursive: " + string(n.URI),
		Details: map[string]any{"resource": n.URI, "expected_flag": "recursive"},
	}
}

// remove deletes what a URI names. A missing target is no fault, as in OpenViking; the count tells it from a removal.
func (h *Handler) remove(r *http.Request, id skald.Identity) (any, error) {
	q := query{r: r}
	uri, recursive, wait := q.required("uri"), q.bool("recursive"), q.bool("wait")
	if err := q.err(); err != nil {
		return nil, err
	}
	n, err := h.deps.Files.Stat(r.Context(), id, uri)
	switch {
	case skald.KindOf(err) == skald.KindNotFound:
		return map[string]any{"uri": uri, "estimated_deleted_count": 0}, nil
	case err != nil:
		return nil, err
	case n.Dir && !recursive && n.Kind != view.Space:
		return nil, needsRecursive("remove", n)
	}
	done, err := h.deps.Files.Remove(r.Context(), id, uri)
	if err != nil {
		return nil, err
	}
	out := map[string]any{"uri": done.URI, "estimated_deleted_count": done.Count}
	if n.Kind != view.File && n.Kind != view.Folder {
		return out, nil
	}
	out["semantic_root_uri"] = n.URI.Parent()
	out["semantic_status"], err = h.settled(r, id, wait)
	return out, err
}

// settled waits for the texts of the folders when that is asked for, and says how they stand.
func (h *Handler) settled(r *http.Request, id skald.Identity, wait bool) (string, error) {
	if !wait {
		return "queued", nil
	}
	return "complete", h.deps.Files.Settle(r.Context(), id)
}
