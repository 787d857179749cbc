package api

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	skald "github.com/skald-engine/skald"
)

// The deprecated route, and what stands in its place.
const (
	recallPath = "/api/v1/search/recall"
	searchPath = "/api/v1/search/search"
)

// recallQuotas are the route's own when none are given.
var recallQuotas = map[string]int{CategoryEvents: 10, CategoryEntities: 10, CategoryPreferences: 3, CategoryExperiences: 0}

const (
	recallTurns = 5    // dedup_turns within a session
	recallScore = 0.1  // min_score
	charsAToken = 4    // max_chars
	recallChars = 6500 // the default of max_chars, which no budget follows from: that is briefTokens
)

var recallMembers = []string{
	"query", "quotas", "max_chars", "min_score", "peer_scope", "other_peer_penalty", "render", "telemetry", "session_id", "query_expansion",
	"max_tokens", "purpose", "detail", "score_threshold", "dedup_turns", "exclude_uris", "rewrite",
	"rewrite_max_bullets",
}

// deprecated adds a route whose answers name the one that took its place.
func deprecated(mux *http.ServeMux, pattern string, a action) {
	inner := http.NewServeMux()
	short(inner, pattern, a)
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Deprecation", "true")
		w.Header().Set("Link", "<"+searchPath+`>; rel="successor-version"`)
		inner.ServeHTTP(w, r)
	})
}

// recall answers as mode=context does, with the old route's defaults.
func (h *Handler) recall(r *http.Request, id skald.Identity) (any, error) {
	b, err := readBody(r, recallMembers...)
	if err != nil {
		return nil, err
	}
	if !b.has("query") {
		b.add(inBody("query"), "missing", "Field required")
	}
	used := b.aliases()
	q, a := b.briefQuery()
	if coding := "coding"; a.purpose == nil {
		a.purpose = &coding
	}
	if q.Quotas == nil || !b.has("quotas") && !b.has("purpose") {
		q.Quotas = maps.Clone(recallQuotas)
	}
	render := b.render()
	a.bare = render == "none"
	if render == "compact" && !b.has("detail") {
		q.Detail, a.detail = TierAbstract, TierAbstract
	}
	a.old = map[string]any{
		"endpoint": recallPath, "successor": searchPath, "successor_body": map[string]string{"mode": "context"}, "aliases_used": used,
	}
	return h.answerBrief(r, id, b, q, a)
}

// aliases turns the old names into today's, and lists those that were there.
func (b *body) aliases() []string {
	used := []string{}
	for _, name := range []string{"max_chars", "min_score", "render"} {
		if b.has(name) {
			used = append(used, name)
		}
	}
	chars, score := b.int("max_chars", recallChars, -1<<31, 0), b.number("min_score")
	if b.has("max_chars") && !b.has("max_tokens") {
		b.set("max_tokens", min(mostTokens, max(leastTokens, chars/charsAToken)))
	}
	if least := recallScore; !b.has("score_threshold") {
		if score != nil {
			least = *score
		}
		b.set("score_threshold", least)
	}
	if b.has("session_id") && !b.has("dedup_turns") {
		b.set("dedup_turns", recallTurns)
	}
	if b.text("query") == "" && !b.has("context_type") { // it lists memories then
		b.set("context_type", "memory")
	}
	return used
}

// set gives a member that the request left out.
func (b *body) set(name string, v any) {
	raw, _ := json.Marshal(v) // numbers and texts always encode
	if b.given == nil {
		b.given = map[string]json.RawMessage{}
	}
	b.given[name] = raw
}

// render is full, compact or none.
func (b *body) render() string {
	if s, ok := b.value("render").(string); ok && slices.Contains([]string{"full", "compact"}, s) {
		return s
	}
	if b.has("render") && !b.flag("render") {
		return "none"
	}
	return "full"
}
