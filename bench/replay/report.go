package replay

import (
	"slices"
	"time"

	"github.com/skald-engine/skald"
)

// Report is the outcome of a replay. Its JSON keys are fixed: checks depend on them.
type Report struct {
	SessionID string `json:"session_id"` // the stored session's
	Session   string `json:"session"`    // as given
	DataDir   string `json:"data_dir"`   // "" when nothing was kept, or a daemon keeps it
	Strategy  string `json:"strategy"`
	Budget    int    `json:"budget"` // tokens

	Stored     int `json:"turns_stored"`
	Duplicates int `json:"duplicates"`           // messages that were stored before
	NotStored  int `json:"not_stored,omitempty"` // at the user's wish
	Commits    int `json:"commits"`
	// Publications counts the moments at which the view changed, the compact at the end included.
	Publications int `json:"publications"`
	Assembles    int `json:"assembles"` // requests to the model that the engine's messages were in
	Refused      int `json:"refused"`   // assembles answered with budget_too_small: the host's own messages were used

	MaxRequest    int `json:"max_request_tokens"`
	MaxOverBudget int `json:"max_over_budget"` // tokens, by our own count; must be 0
	BrokenPairs   int `json:"broken_pairs"`    // must be 0

	// PrefixShare is the mean over pairs of neighbouring requests that no publication separates: the tokens of their longest common
	// prefix over the earlier one's tokens up to its prompt. PrefixShareTurns takes only the pairs that a new exchange separates.
	PrefixShare      float64   `json:"prefix_share"`
	PrefixShareTurns float64   `json:"prefix_share_turns"`
	CacheableShare   Cacheable `json:"cacheable_share"`
	AssembleMS       Spread    `json:"assemble_ms"` // the engine's calls; repeated model calls of an exchange need none
	CommitTurnMS     Spread    `json:"commit_turn_ms"`

	Compact *skald.CompactResult `json:"compact,omitempty"` // of the compact at the end
}

// Cacheable is the share of all request tokens that a provider could have read from its cache.
type Cacheable struct {
	LongestPrefix float64 `json:"longest_prefix"`
	Mark          float64 `json:"mark"`
}

// Spread sums up times, in milliseconds.
type Spread struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
}

func spread(list []time.Duration) Spread {
	return Spread{P50: percentile(list, 50), P95: percentile(list, 95)}
}

// percentile by nearest rank.
func percentile(list []time.Duration, p int) float64 {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	rank := (len(sorted)*p + 99) / 100
	return float64(sorted[max(rank, 1)-1].Microseconds()) / 1000
}
