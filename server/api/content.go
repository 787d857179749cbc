package api

import (
	"net/http"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

func (h *Handler) content(mux *http.ServeMux) {
	full(mux, "GET /api/v1/content/read", h.read)
	full(mux, "GET /api/v1/content/abstract", h.digest(".abstract.md", "abstract"))
	full(mux, "GET /api/v1/content/overview", h.digest(".overview.md", "overview"))
}

// read answers with the text of a file; offset and limit count lines.
func (h *Handler) read(r *http.Request, id skald.Identity) (any, error) {
	q := query{r: r}
	uri, offset, limit := q.required("uri"), q.int("offset", 0, 0, 1<<30), q.int("limit", -1, -1, 1<<30)
	if err := q.err(); err != nil {
		return nil, err
	}
	f, err := h.backend.Stat(r.Context(), id, uri)
	if err != nil {
		return nil, err
	}
	if f.Dir {
		return nil, &wire.Failure{
			Kind: skald.KindInvalid, Field: "uri", Message: uri + " is a folder, not a file",
			Details: map[string]any{"expected": "file", "actual": "directory", "resource": f.URI},
		}
	}
	text, err := h.inspector.Read(r.Context(), id, uri)
	if err != nil {
		return nil, err
	}
	return lines(text, offset, limit), nil
}

// lines cuts a run of lines out of a text; limit -1 is all.
func lines(text string, offset, limit int) string {
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

// digest answers with a folder's abstract or overview; a file has its folder's. One that is not written yet has a placeholder
// text, a folder that is missing a 404.
func (h *Handler) digest(file, what string) action {
	return func(r *http.Request, id skald.Identity) (any, error) {
		q := query{r: r}
		uri := q.required("uri")
		if err := q.err(); err != nil {
			return nil, err
		}
		f, err := h.backend.Stat(r.Context(), id, uri)
		if err != nil {
			return nil, err
		}
		folder := f.URI
		if !f.Dir {
			folder = parent(folder)
		}
		text, err := h.inspector.Read(r.Context(), id, string(folder.Join(file)))
		switch skald.KindOf(err) {
		case "":
			return text, nil
		case skald.KindNotFound, skald.KindInvalid: // no such file in this folder, or none of that kind
			return "# " + string(folder) + "\n\n[Directory " + what + " is not ready]", nil
		}
		return nil, err
	}
}
