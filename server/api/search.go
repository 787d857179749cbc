package api

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

const (
	maxHits     = 1000 // what one search answers with at most, whatever is asked for
	defaultHits = 10
)

func (h *Handler) search(mux *http.ServeMux) {
	if h.deps.Search == nil {
		notServed(mux, "POST /api/v1/search/find", "POST "+searchPath, "POST "+recallPath)
		return
	}
	short(mux, "POST /api/v1/search/find", h.find)
	short(mux, "POST "+searchPath, h.searchOrBrief)
	deprecated(mux, "POST "+recallPath, h.recall)
}

// The members of a search's body. The brief's are those of mode=context.
var (
	findMembers = []string{"query", "image_url", "target_uri", "context_type", "limit", "node_limit", "score_threshold", "filter",
		"include_provenance", "tags", "since", "until", "time_field", "level", "read_content", "events_time_decay_protection", "telemetry"}
	searchMembers = append([]string{"session_id", "mode", "search_type"}, findMembers...)
	briefMembers  = []string{"query_expansion", "max_tokens", "quotas", "purpose", "detail", "dedup_turns", "exclude_uris", "peer_scope",
		"other_peer_penalty", "rewrite", "rewrite_max_bullets"}
)

func (h *Handler) find(r *http.Request, id skald.Identity) (any, error) {
	b, err := readBody(r, findMembers...)
	if err != nil {
		return nil, err
	}
	q, err := b.searchQuery(time.Now())
	if err != nil {
		return nil, err
	}
	return h.found(r, id, q)
}

func (h *Handler) searchOrBrief(r *http.Request, id skald.Identity) (any, error) {
	b, err := readBody(r, slices.Concat(searchMembers, briefMembers)...)
	if err != nil {
		return nil, err
	}
	if b.oneOf("mode", "list", "context") == "context" {
		return h.brief(r, id, b)
	}
	for _, name := range briefMembers {
		if _, given := b.given[name]; given {
			b.add(inBody(), "value_error", "Value error, %s require mode='context'; set mode='context' or drop these fields", name)
		}
	}
	q, err := b.searchQuery(time.Now())
	if err != nil {
		return nil, err
	}
	return h.found(r, id, q)
}

func (h *Handler) found(r *http.Request, id skald.Identity, q SearchQuery) (any, error) {
	found, err := h.deps.Search.Search(r.Context(), id, q)
	if err != nil {
		return nil, err
	}
	return listed(found, q), nil
}

// listed groups hits by type, as OpenViking answers.
func listed(found SearchResult, q SearchQuery) map[string]any {
	groups := map[string][]SearchHit{"memory": {}, "resource": {}, "skill": {}}
	for _, hit := range found.Hits {
		groups[hit.Type] = append(groups[hit.Type], hit)
	}
	out := map[string]any{"memories": groups["memory"], "resources": groups["resource"], "skills": groups["skill"], "total": len(found.Hits)}
	if q.Provenance {
		out["provenance"] = wire.List(found.Provenance)
	}
	return out
}

// searchQuery reads what find, search and a brief have in common.
func (b *body) searchQuery(now time.Time) (q SearchQuery, err error) {
	q = SearchQuery{
		Query: strings.TrimSpace(b.text("query")), Session: b.session(), Targets: b.oneOrMore("target_uri"), Types: b.words("context_type"),
		Keywords: b.oneOf("search_type", "semantic", "keywords") == "keywords", Content: b.flag("read_content"),
		Provenance: b.flag("include_provenance"),
	}
	q.Limit = min(maxHits, b.int("node_limit", b.int("limit", defaultHits, 1, 0), 1, 0))
	if t := b.number("score_threshold"); t != nil {
		q.Threshold = *t
	}
	q.Levels = b.levels()
	field := cmp.Or(b.oneOf("time_field", FieldUpdated, FieldCreated), FieldUpdated)
	from, to, tags, object := b.text("since"), b.text("until"), b.list("tags"), b.object("filter")
	b.telemetry()
	b.protection()
	if err := b.err(); err != nil {
		return q, err
	}
	for i, t := range q.Types {
		if q.Types[i] = strings.ToLower(t); !slices.Contains([]string{"memory", "resource", "skill"}, q.Types[i]) {
			return q, refused("context_type", "context_type must be one or more of: memory, resource, skill")
		}
	}
	if q.Tags, err = cleanTags(tags); err != nil {
		return q, err
	}
	given, err := ParseFilter(object)
	if err != nil {
		return q, err
	}
	period, err := b.period(field, from, to, now)
	if err != nil {
		return q, err
	}
	q.Filter = All(given, period)
	return q, b.asked(q)
}

// asked wants a query, or something that restricts what is listed without one.
func (b *body) asked(q SearchQuery) error {
	if len(b.oneOrMore("image_url")) > 0 {
		return refused("image_url", "Image search requires a multimodal embedding model, and Skald has none.")
	}
	if q.Query == "" && q.Filter == nil && len(q.Tags)+len(q.Types)+len(q.Levels)+len(q.Targets) == 0 {
		return refused("query", "Search query or image_url must not be empty unless a filter is provided.")
	}
	return nil
}

// refused is OpenViking's error for a request that is well formed and wrong.
func refused(field, message string) error {
	return &wire.Failure{Kind: skald.KindInvalid, Field: field, Message: message, Details: map[string]any{"field": field}}
}

// session is the asking session; "" for none.
func (b *body) session() string {
	id := b.text("session_id")
	if id == "" {
		return ""
	}
	safe, err := safeSession(id, inBody("session_id"))
	if err != nil {
		b.add(inBody("session_id"), "value_error", "a session id has 1 to 128 letters, digits and _@.- only")
	}
	return safe
}

// levels reads 2, "0,1" or [0, 2]. A level that does not exist is a fault: nothing would be found.
func (b *body) levels() []int {
	var given []any
	switch v := b.value("level").(type) {
	case nil:
	case string:
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part != "" {
				given = append(given, part)
			}
		}
	case []any:
		given = v
	default:
		given = []any{v}
	}
	var out []int
	for _, v := range given {
		n, ok := wholeNumber(v)
		if !ok || n < 0 || n > 2 {
			b.add(inBody("level"), "value_error", "Input should be 0, 1 or 2, a list of these, or a text with commas between")
			continue
		}
		out = append(out, n)
	}
	return out
}

// period is the filter of since and until, nil for none.
func (b *body) period(field, from, to string, now time.Time) (*Filter, error) {
	first, err := since(from, false, now)
	if err != nil {
		return nil, refused("since", "since: "+err.Error())
	}
	last, err := since(to, true, now)
	if err != nil {
		return nil, refused("until", "until: "+err.Error())
	}
	if !first.IsZero() && !last.IsZero() && first.After(last) {
		return nil, refused("since", "since must be earlier than or equal to until")
	}
	return Between(field, first, last), nil
}

// cleanTags checks tags: one "=", something on either side. They are compared in lower case.
func cleanTags(given []string) ([]string, error) {
	var out []string
	for _, t := range given {
		key, value, ok := strings.Cut(strings.TrimSpace(t), "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case !ok || strings.Contains(value, "="):
			return nil, refused("tags", "invalid search tag '"+t+"': expected strict k=v format")
		case key == "" || value == "":
			return nil, refused("tags", "invalid search tag '"+t+"': key and value must both be non-empty")
		}
		if tag := strings.ToLower(key + "=" + value); !slices.Contains(out, tag) {
			out = append(out, tag)
		}
	}
	return out, nil
}

// telemetry checks the member; Skald measures at its edge, and adds nothing to answers.
func (b *body) telemetry() {
	switch v := b.value("telemetry").(type) {
	case nil, bool:
	case map[string]any:
		for _, x := range v {
			if _, ok := x.(bool); !ok {
				b.add(inBody("telemetry"), "bool_parsing", "Input should be a valid boolean, unable to interpret input")
			}
		}
	default:
		b.flag("telemetry")
	}
}

// protection checks a member that keeps young events from fading. Skald's do not fade, so that there is nothing to keep them from.
func (b *body) protection() {
	s := b.text("events_time_decay_protection")
	if s == "" || s == "0" {
		return
	}
	if _, err := strconv.Atoi(s[:len(s)-1]); err != nil || !strings.ContainsAny(s[len(s)-1:], "mhd") || s[0] == '-' || s[0] == '+' {
		b.add(inBody(), "value_error", "Value error, events_time_decay_protection must be '0' or a non-negative integer followed by m, h, or d")
	}
}
