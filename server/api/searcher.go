package api

import (
	"context"

	skald "github.com/skald-engine/skald"
)

// Searcher is what the search routes need of the daemon. URIs are as the caller wrote them. KindInvalid and KindPermission for bad ones.
type Searcher interface {
	// Search lists what matches, best first, at most q.Limit things and none twice. Without a query it lists what the filter lets through, in
	// order of URI and with score 0. A session that is not stored has no history.
	Search(ctx context.Context, id skald.Identity, q SearchQuery) (SearchResult, error)
	// Brief puts together what bears on a query, within a budget of tokens.
	Brief(ctx context.Context, id skald.Identity, q BriefQuery) (Brief, error)
}

// SearchQuery is a search. Every part restricts it further.
type SearchQuery struct {
	Query      string
	Session    string   // its newest turns say more about a short query; "" none
	Keywords   bool     // words only, no meaning
	Targets    []string // URIs to search below, any of; none: everywhere
	Types      []string // context types: memory, resource, skill; none: all
	Levels     []int    // nil: all
	Tags       []string // every one
	Filter     *Filter  // nil: all
	Threshold  float64  // least score
	Limit      int
	Content    bool // the whole text of each hit, too
	Provenance bool // where each hit came from, too
}

// SearchHit is one thing that was found.
type SearchHit struct {
	Type     string    `json:"context_type"`
	URI      skald.URI `json:"uri"`
	Level    int       `json:"level"`
	Score    float64   `json:"score"`
	Abstract string    `json:"abstract"`
	Tags     []string  `json:"tags"`
	Content  *string   `json:"content,omitempty"`
}

// SearchResult lists hits, best first.
type SearchResult struct {
	Hits       []SearchHit
	Provenance []Provenance
}

// Provenance says where a hit came from.
type Provenance struct {
	URI     skald.URI `json:"uri"`
	Source  string    `json:"source,omitempty"` // where a resource was imported from
	Sources []Origin  `json:"sources"`
}

// Origin is a run of turns.
type Origin struct {
	Session skald.URI `json:"session_uri"`
	Archive skald.URI `json:"archive_uri,omitempty"`
	Turns   skald.URI `json:"turns_uri"`
	Deleted bool      `json:"deleted,omitempty"` // the session is gone
}

// The categories of a brief. A memory of a type that is not among them is of CategoryMemories.
const (
	CategoryEvents      = "events"
	CategoryEntities    = "entities"
	CategoryPreferences = "preferences"
	CategoryExperiences = "experiences"
	CategoryResources   = "resources"
	CategorySkills      = "skills"
	CategoryMemories    = "memories"
)

// Categories are those that a quota can be given for.
var Categories = []string{CategoryEvents, CategoryEntities, CategoryPreferences, CategoryExperiences, CategoryResources, CategorySkills}

// The tiers of an entry's text.
const (
	TierURI      = "uri"
	TierAbstract = "abstract"
	TierOverview = "overview"
	TierFull     = "full"
)

// BriefQuery asks for what bears on a query.
type BriefQuery struct {
	SearchQuery
	MaxTokens  int            // of what is rendered
	Quotas     map[string]int // entries by category; nil: Limit entries of all
	Detail     string         // one tier for all; "" the budget decides
	Details    map[string]string
	DedupTurns int      // leave out what was shown to the session within so many turns; 0: nothing
	Exclude    []string // URIs to leave out, with all below
	OwnPeer    bool     // of peers only the one on whose behalf the caller acts
	Penalties  map[string]float64
	Expand     bool // earlier turns of the session may add words
}

// Brief is the answer to a BriefQuery.
type Brief struct {
	Entries  []BriefEntry
	Rendered string
	Stats    BriefStats
}

// BriefEntry is one entry.
type BriefEntry struct {
	URI      skald.URI `json:"uri"`
	Category string    `json:"category"`
	Score    float64   `json:"score"`
	Detail   string    `json:"detail"`
	Text     string    `json:"text"`
	Origin   string    `json:"origin"` // self, actor_peer, other_peer
}

// BriefStats says how a brief came about.
type BriefStats struct {
	Searched     map[string]int     `json:"searched"` // by category, or "all"
	Candidates   int                `json:"candidates"`
	Excluded     int                `json:"excluded"`
	Origins      map[string]int     `json:"origins"`
	PeerScope    string             `json:"peer_scope"`
	Quotas       map[string]int     `json:"quotas"`
	MaxTokens    int                `json:"max_tokens"`
	UsedTokens   int                `json:"used_tokens"`
	PerEntryCap  int                `json:"per_entry_cap"`
	Returned     int                `json:"returned"`
	Dropped      int                `json:"dropped"` // no room
	Deduped      int                `json:"deduped"` // said the same as one before
	Detail       any                `json:"detail"`  // as asked
	TierCounts   map[string]int     `json:"tier_counts"`
	Fill         BriefFill          `json:"fill"`
	Purpose      *string            `json:"purpose"`
	Expansion    string             `json:"query_expansion"` // ok: earlier turns added words; off
	Queries      []string           `json:"planned_queries"`
	Threshold    *float64           `json:"score_threshold"`
	Penalties    map[string]float64 `json:"other_peer_penalties"`
	Rewrite      string             `json:"rewrite"` // off: Skald rewrites nothing
	RewriteUsage any                `json:"rewrite_usage"`
	Dedup        BriefDedup         `json:"dedup"`
	Ignored      []string           `json:"ignored,omitempty"`
	Deprecated   any                `json:"deprecated,omitempty"`
}

// BriefFill says how the budget was spent: tokens of the least texts, and how many entries got more.
type BriefFill struct {
	Floor    int `json:"floor_tokens"`
	Overview int `json:"overview_upgrades"`
	Full     int `json:"full_upgrades"`
	Spare    int `json:"spare_upgrades"` // beyond an entry's share, with what was left
}

// BriefDedup says what the session had been shown.
type BriefDedup struct {
	Turns  int    `json:"turns"`
	Status string `json:"status"` // off, new, ok
	Cooled int    `json:"cooled"` // left out
	Turn   *int64 `json:"turn"`   // messages that the session has
}
