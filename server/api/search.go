package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// maxHits bounds what a caller may ask for in one search.
const maxHits = 1000

func (h *Handler) search(mux *http.ServeMux) {
	short(mux, "POST /api/v1/search/find", h.find)
	short(mux, "POST /api/v1/search/search", h.find)
	full(mux, "POST /api/v1/search/grep", h.grep)
}

type findBody struct {
	Query     string          `json:"query"`
	Target    json.RawMessage `json:"target_uri"`
	Type      json.RawMessage `json:"context_type"`
	Level     json.RawMessage `json:"level"`
	Limit     *int            `json:"limit"`
	NodeLimit *int            `json:"node_limit"`
	Threshold *float64        `json:"score_threshold"`
	Session   string          `json:"session_id"`
	Mode      string          `json:"mode"`

	// Known, not served: refused rather than ignored, since each would narrow the result.
	Image  json.RawMessage `json:"image_url"`
	Filter json.RawMessage `json:"filter"`
	Tags   json.RawMessage `json:"tags"`
	Since  json.RawMessage `json:"since"`
	Until  json.RawMessage `json:"until"`
}

func (h *Handler) find(r *http.Request, id skald.Identity) (any, error) {
	var b findBody
	if err := decode(r, &b, false); err != nil {
		return nil, err
	}
	s, err := b.plan()
	if err != nil {
		return nil, err
	}
	hits, err := h.searchAll(r, id, s)
	if err != nil {
		return nil, err
	}
	return group(hits), nil
}

// plan is a search in our words: one query for each target.
type plan struct {
	query   skald.FindQuery
	targets []string
	levels  map[int]bool // nil: all
}

func (b findBody) plan() (plan, error) {
	if err := b.served(); err != nil {
		return plan{}, err
	}
	var v issues
	p := plan{query: skald.FindQuery{Query: b.Query, Session: b.Session, Limit: 10}}
	if strings.TrimSpace(b.Query) == "" {
		v.add(inBody("query"), "value_error", "must not be empty")
	}
	for _, limit := range []*int{b.Limit, b.NodeLimit} { // node_limit overrides
		if limit != nil {
			p.query.Limit = *limit
		}
	}
	if p.query.Limit < 1 || p.query.Limit > maxHits {
		v.add(inBody("limit"), "value_error", "Input should be between 1 and %d", maxHits)
	}
	if b.Threshold != nil {
		p.query.Threshold = *b.Threshold
	}
	p.targets = textList(b.Target, &v, inBody("target_uri"))
	p.query.Kinds = kinds(textList(b.Type, &v, inBody("context_type")), &v)
	p.levels = levels(textList(b.Level, &v, inBody("level")), &v)
	if len(p.targets) == 0 {
		p.targets = []string{""}
	}
	return p, v.err()
}

// served refuses what would be ignored otherwise.
func (b findBody) served() error {
	if b.Mode != "" && b.Mode != "list" {
		return unsupported("mode %q is not served", b.Mode)
	}
	for name, raw := range map[string]json.RawMessage{
		"image_url": b.Image, "filter": b.Filter, "tags": b.Tags, "since": b.Since, "until": b.Until,
	} {
		if !empty(raw) {
			return unsupported("%s is not served", name)
		}
	}
	return nil
}

func empty(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", `""`, "[]", "{}":
		return true
	}
	return false
}

// textList reads a value that is one string or number, a list of them, or a comma-separated string.
func textList(raw json.RawMessage, v *issues, loc []string) []string {
	if empty(raw) {
		return nil
	}
	var list []any
	if json.Unmarshal(raw, &list) != nil {
		list = make([]any, 1)
		if json.Unmarshal(raw, &list[0]) != nil {
			return nil // the body was valid JSON: cannot happen
		}
	}
	var out []string
	for _, item := range list {
		switch x := item.(type) {
		case string:
			for _, s := range strings.Split(x, ",") {
				if s = strings.TrimSpace(s); s != "" {
					out = append(out, s)
				}
			}
		case float64:
			out = append(out, strconv.FormatFloat(x, 'f', -1, 64))
		default:
			v.add(loc, "type_error", "Input should be a text or a list of texts")
		}
	}
	return out
}

// kinds maps OpenViking's context types. Turns and archives are resources there.
func kinds(types []string, v *issues) []skald.DocKind {
	var out []skald.DocKind
	for _, t := range types {
		switch t {
		case "memory":
			out = append(out, skald.DocMemory)
		case "resource":
			out = append(out, skald.DocResource, skald.DocTurn, skald.DocArchive)
		case "skill":
			out = append(out, skald.DocSkill)
		default:
			v.add(inBody("context_type"), "enum", "Input should be memory, resource or skill")
		}
	}
	return out
}

func levels(given []string, v *issues) map[int]bool {
	var out map[int]bool
	for _, s := range given {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 || n > 2 {
			v.add(inBody("level"), "value_error", "Input should be 0, 1 or 2")
			continue
		}
		if out == nil {
			out = map[int]bool{}
		}
		out[n] = true
	}
	return out
}

// searchAll searches every target and keeps the best hits: the limit is a limit, and nothing comes twice.
func (h *Handler) searchAll(r *http.Request, id skald.Identity, p plan) ([]skald.RecallCandidate, error) {
	var all []skald.RecallCandidate
	seen := map[skald.URI]bool{}
	for _, target := range p.targets {
		q := p.query
		q.Scope = target
		found, err := h.inspector.Find(r.Context(), id, q)
		if err != nil {
			return nil, err
		}
		for _, hit := range found.Hits {
			if !seen[hit.URI] && (p.levels == nil || p.levels[level(hit.Kind)]) {
				seen[hit.URI] = true
				all = append(all, hit)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b skald.RecallCandidate) int { return cmp.Compare(b.Score, a.Score) })
	return all[:min(len(all), p.query.Limit)], nil
}

// level is OpenViking's level of a hit: an archive is found by its overview.
func level(k skald.DocKind) int {
	if k == skald.DocArchive {
		return 1
	}
	return 2
}

type hit struct {
	Type     string    `json:"context_type"`
	URI      skald.URI `json:"uri"`
	Level    int       `json:"level"`
	Score    float64   `json:"score"`
	Abstract string    `json:"abstract"`
	Tags     []string  `json:"tags"`
}

func group(hits []skald.RecallCandidate) map[string]any {
	memories, resources, skills := []hit{}, []hit{}, []hit{}
	for _, c := range hits {
		x := hit{Type: "resource", URI: c.URI, Level: level(c.Kind), Score: c.Score, Abstract: c.Text, Tags: []string{}}
		if math.IsNaN(x.Score) || math.IsInf(x.Score, 0) {
			x.Score = 0
		}
		switch c.Kind {
		case skald.DocMemory:
			x.Type = "memory"
			memories = append(memories, x)
		case skald.DocSkill:
			x.Type = "skill"
			skills = append(skills, x)
		default:
			resources = append(resources, x)
		}
	}
	return map[string]any{"memories": memories, "resources": resources, "skills": skills, "total": len(hits)}
}

type grepBody struct {
	URI        string `json:"uri"`
	Pattern    string `json:"pattern"`
	Exclude    string `json:"exclude_uri"`
	IgnoreCase bool   `json:"case_insensitive"`
	Limit      *int   `json:"node_limit"`
	Levels     *int   `json:"level_limit"`
}

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
	found, err := h.backend.Grep(r.Context(), id, q)
	if err != nil {
		return nil, err
	}
	n := len(found.Matches)
	return map[string]any{
		"matches": wire.List(found.Matches), "count": n, "match_count": n, "files_scanned": found.Files,
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
