package api

import (
	"net/http"
	"regexp"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// patterns are the routes that look for a pattern: in names (glob) and in lines (grep).
func (h *Handler) patterns(mux *http.ServeMux) {
	if h.deps.Files == nil {
		notServed(mux, "POST /api/v1/search/grep", "POST /api/v1/search/glob")
		return
	}
	full(mux, "POST /api/v1/search/grep", h.grep)
	full(mux, "POST /api/v1/search/glob", h.glob)
}

type grepBody struct {
	URI        string `json:"uri"`
	Pattern    string `json:"pattern"`
	Exclude    string `json:"exclude_uri"`
	IgnoreCase bool   `json:"case_insensitive"`
	Limit      *int   `json:"node_limit"`
	Levels     *int   `json:"level_limit"`
}

// grep answers with the lines that match. Beside OpenViking's members, truncated says that the limit ended the search.
func (h *Handler) grep(r *http.Request, id skald.Identity) (any, error) {
	limit, depth := 256, 10
	b := grepBody{Limit: &limit, Levels: &depth}
	if err := decode(r, &b, false); err != nil {
		return nil, err
	}
	q, err := b.query()
	if err != nil {
		return nil, err
	}
	found, err := h.deps.Files.Grep(r.Context(), id, q)
	if err != nil {
		return nil, err
	}
	n := len(found.Matches)
	return map[string]any{
		"matches": wire.List(found.Matches), "count": n, "match_count": n, "files_scanned": found.Files, "truncated": found.Cut,
	}, nil
}

// query checks a grep. A null limit means none.
func (b grepBody) query() (GrepQuery, error) {
	var v issues
	q := GrepQuery{URI: strings.TrimSpace(b.URI), Exclude: strings.TrimSpace(b.Exclude)}
	if q.URI == "" {
		v.add(inBody("uri"), "missing", "Field required")
	}
	pattern := b.Pattern
	if pattern == "" {
		v.add(inBody("pattern"), "missing", "Field required")
	}
	if b.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	var err error
	if q.Pattern, err = regexp.Compile(pattern); err != nil {
		v.add(inBody("pattern"), "value_error", "invalid regular expression: %s", err)
	}
	q.Limit = atLeastOne(b.Limit, "node_limit", &v)
	q.Levels = atLeastOne(b.Levels, "level_limit", &v)
	return q, v.err()
}

func atLeastOne(n *int, name string, v *issues) int {
	switch {
	case n == nil:
		return 0
	case *n < 1:
		v.add(inBody(name), "greater_than_equal", "Input should be greater than or equal to 1")
	}
	return *n
}

// glob answers with the files and folders whose path below uri matches; a folder's URI ends with a slash.
func (h *Handler) glob(r *http.Request, id skald.Identity) (any, error) {
	limit := 256
	b := struct {
		Pattern string `json:"pattern"`
		URI     string `json:"uri"`
		Limit   *int   `json:"node_limit"`
	}{URI: string(skald.Root), Limit: &limit}
	if err := decode(r, &b, false); err != nil {
		return nil, err
	}
	var v issues
	if b.Pattern = strings.TrimSpace(b.Pattern); b.Pattern == "" {
		v.add(inBody("pattern"), "missing", "Field required")
	}
	most := atLeastOne(b.Limit, "node_limit", &v)
	if err := v.err(); err != nil {
		return nil, err
	}
	found, cut, err := h.deps.Files.Glob(r.Context(), id, b.URI, b.Pattern, most)
	if err != nil {
		return nil, err
	}
	return map[string]any{"matches": wire.List(found), "count": len(found), "truncated": cut}, nil
}
