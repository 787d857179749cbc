package api

import (
	"net/http"
	"regexp"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
	"github.com/skald-engine/skald/tree/view"
)

// GrepQuery is a search by pattern.
type GrepQuery struct {
	URI           string
	Pattern       *regexp.Regexp
	Exclude       string // URI whose subtree is left out
	Limit         int    // matches; 0: no limit
	Levels        int    // depth of folders
	Before, After int    // lines around a match
	ShowTags      bool
	Keep          func(view.Node) bool // nil: all
}

// GrepMatch is one line that matches.
type GrepMatch struct {
	URI     skald.URI   `json:"uri"`
	Line    int         `json:"line"` // from 1
	Content string      `json:"content"`
	Before  *[]GrepLine `json:"before_context,omitempty"` // nil: not asked for
	After   *[]GrepLine `json:"after_context,omitempty"`
	Tags    *[]string   `json:"tags,omitempty"`
}

// GrepLine is a line beside a match.
type GrepLine struct {
	Line    int    `json:"line"`
	Content string `json:"content"`
}

// GrepResult lists matches in the order of the tree.
type GrepResult struct {
	Matches []GrepMatch
	Files   int  // files scanned
	Cut     bool // there may be more: the limit was reached
}

// patterns are the routes that look for a pattern: in names (glob) and in lines (grep).
func (h *Handler) patterns(mux *http.ServeMux) {
	if h.deps.Files == nil {
		notServed(mux, "POST /api/v1/search/grep", "POST /api/v1/search/glob")
		return
	}
	full(mux, "POST /api/v1/search/grep", h.grep)
	full(mux, "POST /api/v1/search/glob", h.glob)
}

// maxContext is how many lines around a match can be asked for.
const maxContext = 100

type grepBody struct {
	URI        string `json:"uri"`
	Pattern    string `json:"pattern"`
	Exclude    string `json:"exclude_uri"`
	IgnoreCase bool   `json:"case_insensitive"`
	Limit      *int   `json:"node_limit"`
	Levels     *int   `json:"level_limit"`

	Tags     []string `json:"tags"`
	ShowTags bool     `json:"include_tags"`
	Before   int      `json:"before_context"`
	After    int      `json:"after_context"`
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
	if q.Pattern, err = expression(pattern); err != nil {
		v.add(inBody("pattern"), "value_error", "invalid regular expression: %s", err)
	}
	q.Limit = atLeastOne(b.Limit, "node_limit", &v)
	q.Levels = atLeastOne(b.Levels, "level_limit", &v)
	for name, n := range map[string]int{"before_context": b.Before, "after_context": b.After} {
		if n < 0 || n > maxContext {
			v.add(inBody(name), "greater_than_equal", "Input should be between 0 and %d", maxContext)
		}
	}
	q.Before, q.After, q.ShowTags = b.Before, b.After, b.ShowTags
	if len(b.Tags) > 0 {
		q.Keep = func(n view.Node) bool { return tagged(n.Tags, b.Tags) }
	}
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

		Tags     []string `json:"tags"`
		ShowTags bool     `json:"include_tags"`
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
	found, cut, err := h.deps.Files.Glob(r.Context(), id, b.URI, b.Pattern, most, func(n view.Node) bool { return tagged(n.Tags, b.Tags) })
	if err != nil {
		return nil, err
	}
	matches := make([]any, len(found))
	for i, n := range found {
		switch {
		case b.ShowTags:
			matches[i] = listing{output: "original", showTags: true}.render(n, false)
		case n.Dir:
			matches[i] = n.URI + "/"
		default:
			matches[i] = n.URI
		}
	}
	return map[string]any{"matches": matches, "count": len(found), "truncated": cut}, nil
}
