package api

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
	"github.com/skald-engine/skald/tree/view"
)

func (h *Handler) content(mux *http.ServeMux) {
	if h.deps.Files == nil {
		notServed(mux, "GET /api/v1/content/{action}")
		return
	}
	full(mux, "GET /api/v1/content/read", h.read)
	full(mux, "GET /api/v1/content/download", h.download)
	full(mux, "GET /api/v1/content/abstract", h.digest(true))
	full(mux, "GET /api/v1/content/overview", h.digest(false))
}

// read answers with the text of a file; offset and limit count lines. raw adds a memory's front matter.
func (h *Handler) read(r *http.Request, id skald.Identity) (any, error) {
	q := query{r: r}
	uri, offset, limit := q.required("uri"), q.int("offset", 0, 0, 1<<30), q.int("limit", -1, -1, 1<<30)
	raw := q.bool("raw")
	if err := q.err(); err != nil {
		return nil, err
	}
	_, b, err := h.file(r, id, uri, raw)
	if err != nil {
		return nil, err
	}
	return linesOf(strings.ToValidUTF8(string(b), string(utf8.RuneError)), offset, limit), nil
}

// file reads a file; a folder is refused.
func (h *Handler) file(r *http.Request, id skald.Identity, uri string, whole bool) (view.Node, []byte, error) {
	n, b, err := h.deps.Files.Read(r.Context(), id, uri, whole)
	if err == nil && n.Dir {
		err = &wire.Failure{
			Kind: skald.KindInvalid, Field: "uri",
			Message: string(n.URI) + " is a folder, not a file: list it, then read a file in it",
			Details: map[string]any{"expected": "file", "actual": "directory", "resource": n.URI},
		}
	}
	return n, b, err
}

// linesOf cuts a run of lines out of a text; limit -1 is all.
func linesOf(text string, offset, limit int) string {
	if offset == 0 && limit < 0 {
		return text
	}
	all := strings.SplitAfter(text, "\n")
	all = all[min(offset, len(all)):]
	if limit >= 0 {
		all = all[:min(limit, len(all))]
	}
	return strings.Join(all, "")
}

// attachment is bytes for the caller's disk.
type attachment struct {
	name, media string
	body        []byte
}

func (a attachment) respond(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.media)
	h.Set("Content-Length", strconv.Itoa(len(a.body)))
	h.Set("Content-Disposition", "attachment; filename*=UTF-8''"+strings.ReplaceAll(url.QueryEscape(a.name), "+", "%20"))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	// The caller is gone when this fails; there is nobody to tell.
	_, _ = w.Write(a.body)
}

func (h *Handler) download(r *http.Request, id skald.Identity) (any, error) {
	q := query{r: r}
	uri := q.required("uri")
	if err := q.err(); err != nil {
		return nil, err
	}
	n, b, err := h.file(r, id, uri, true)
	return attachment{name: n.Name, media: "application/octet-stream", body: b}, err
}

// digest answers with a folder's abstract or overview; a file has its folder's. One that is not written yet has a placeholder
// text, a folder that is missing a 404.
func (h *Handler) digest(abstract bool) action {
	return func(r *http.Request, id skald.Identity) (any, error) {
		q := query{r: r}
		uri := q.required("uri")
		if err := q.err(); err != nil {
			return nil, err
		}
		folder, text, err := h.deps.Files.Digest(r.Context(), id, uri, abstract)
		switch {
		case err != nil:
			return nil, err
		case text != "":
			return text, nil
		case abstract:
			return "# " + string(folder) + " [Directory abstract is not ready]", nil
		}
		return "# " + string(folder) + "\n\n[Directory overview is not ready]", nil
	}
}
