package api

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// The bounds of a brief, in tokens of what is rendered.
const (
	briefTokens = 1600
	leastTokens = 64
	mostTokens  = 32_000
)

// presets are the quotas for a purpose.
var presets = map[string]map[string]int{
	"chat": {
		CategoryEvents: 3, CategoryEntities: 3, CategoryPreferences: 1, CategoryExperiences: 1, CategoryResources: 1, CategorySkills: 1,
	},
	"coding": {
		CategoryEvents: 1, CategoryEntities: 2, CategoryPreferences: 1, CategoryExperiences: 1, CategoryResources: 3, CategorySkills: 2,
	},
}

// penalties are what another peer's entry is set back by.
var penalties = map[string]float64{CategoryEvents: 0.1, CategoryEntities: 0.1, CategoryPreferences: 0.02, CategoryExperiences: 0.02,
	CategoryResources: 0.02, CategorySkills: 0.02, CategoryMemories: 0.1}

// brief answers mode=context.
func (h *Handler) brief(r *http.Request, id skald.Identity, b *body) (any, error) {
	if len(b.oneOrMore("target_uri")) > 0 {
		b.add(inBody(), "value_error", "Value error, target_uri is not supported in mode='context'")
	}
	q, asked := b.briefQuery()
	return h.answerBrief(r, id, b, q, asked)
}

// asked is what the answer repeats of the request.
type asked struct {
	purpose *string
	detail  any
	ignored []string
	scope   string
	bare    bool // leave out what is rendered
	old     any  // of the deprecated route
}

func (h *Handler) answerBrief(r *http.Request, id skald.Identity, b *body, q BriefQuery, a asked) (any, error) {
	var err error
	if q.SearchQuery, err = b.searchQuery(time.Now()); err != nil {
		return nil, err
	}
	if a.scope == "" {
		a.scope = "all"
	}
	found, err := h.deps.Search.Brief(r.Context(), id, q)
	if err != nil {
		return nil, err
	}
	s := &found.Stats
	s.Purpose, s.Detail, s.PeerScope, s.Ignored, s.Deprecated = a.purpose, a.detail, a.scope, a.ignored, a.old
	s.Threshold, s.Penalties, s.Rewrite, s.Quotas, s.MaxTokens = b.number("score_threshold"), q.Penalties, "off", q.Quotas, q.MaxTokens
	if a.bare {
		found.Rendered = ""
	}
	return map[string]any{"entries": wire.List(found.Entries), "rendered": found.Rendered, "digest": "", "stats": s}, nil
}

// briefQuery reads the members of a brief beside those of a search.
func (b *body) briefQuery() (BriefQuery, asked) {
	q := BriefQuery{
		MaxTokens: b.int("max_tokens", briefTokens, leastTokens, mostTokens), Quotas: b.quotas(), DedupTurns: b.int("dedup_turns", 0, 0, 100),
		Exclude: b.list("exclude_uris"), OwnPeer: b.oneOf("peer_scope", "actor", "all") == "actor", Penalties: b.penalties(),
		Expand: b.oneOf("query_expansion", "off", "auto") != "off",
	}
	if len(q.Exclude) > 200 {
		b.add(inBody("exclude_uris"), "too_long", "List should have at most 200 items after validation, not %d", len(q.Exclude))
	}
	a := asked{detail: b.value("detail"), scope: b.text("peer_scope")}
	q.Detail, q.Details = b.detail()
	if purpose := b.oneOf("purpose", "chat", "coding"); purpose != "" {
		a.purpose = &purpose
		if q.Quotas == nil {
			q.Quotas = maps.Clone(presets[purpose])
		}
	}
	if q.Quotas != nil && (b.has("limit") || b.has("node_limit")) {
		a.ignored = append(a.ignored, "limit")
	}
	b.int("rewrite_max_bullets", 6, 1, 20)
	if s, auto := b.value("rewrite").(string); (!auto || s != "auto") && b.flag("rewrite") {
		a.ignored = append(a.ignored, "rewrite") // it needs a model
	}
	return q, a
}

// quotas are entries by category, nil for none given. Less than none is none.
func (b *body) quotas() map[string]int {
	given := b.object("quotas")
	if given == nil {
		return nil
	}
	out := map[string]int{}
	for name, v := range given {
		n, ok := wholeNumber(v)
		if !ok {
			b.add(inBody("quotas", name), "int_type", "Input should be a valid integer")
		}
		out[name] = min(maxHits, max(0, n))
	}
	b.categories("quota", given, Categories)
	return out
}

// categories checks the keys of an object.
func (b *body) categories(what string, given map[string]any, allowed []string) {
	var unknown []string
	for name := range given {
		if !slices.Contains(allowed, name) {
			unknown = append(unknown, name)
		}
	}
	if slices.Sort(unknown); len(unknown) > 0 {
		b.add(inBody(), "value_error", "Value error, unknown %s keys: %s; allowed: %s", what, strings.Join(unknown, ", "),
			strings.Join(allowed, ", "))
	}
}

// detail is one tier for all ("" for auto), or tiers by category.
func (b *body) detail() (string, map[string]string) {
	tiers := []string{TierAbstract, TierOverview, TierFull}
	switch v := b.value("detail").(type) {
	case nil:
	case string:
		if one := b.oneOf("detail", append([]string{"auto"}, tiers...)...); one != "auto" {
			return one, nil
		}
	case map[string]any:
		out := map[string]string{}
		for name, tier := range v {
			s, _ := tier.(string)
			if !slices.Contains(tiers, s) {
				b.add(inBody("detail", name), "literal_error", "Input should be %s", alternatives(tiers))
			}
			out[name] = s
		}
		b.categories("detail", v, append(slices.Clone(Categories), CategoryMemories))
		return "", out
	default:
		b.add(inBody("detail"), "literal_error", "Input should be %s, or an object of these by category",
			alternatives(append([]string{"auto"}, tiers...)))
	}
	return "", nil
}

// penalties are the defaults with what is given: one number for all, or numbers by category.
func (b *body) penalties() map[string]float64 {
	out := maps.Clone(penalties)
	given, isObject := b.value("other_peer_penalty").(map[string]any)
	if !isObject {
		if n := b.number("other_peer_penalty"); n != nil {
			for name := range out {
				out[name] = *n
			}
		}
		return out
	}
	for name, v := range given {
		n, ok := v.(float64)
		if !ok {
			b.add(inBody("other_peer_penalty", name), "float_parsing", "Input should be a valid number")
		}
		if _, known := out[name]; known {
			out[name] = n
		}
	}
	return out
}
