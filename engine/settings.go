package engine

import (
	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/strategy"
)

// settings are the resolved values for one request: the request's own, else the engine's, else the defaults of the documents.
type settings struct {
	strategy.Settings
	chosen          strategy.Strategy // nil: the request names one that is not known
	autoCapture     bool
	commitThreshold float64 // share of the budget (000-044)
	commitTokens    int     // 000-045; a configured commitTokenThreshold replaces it (C-12)
	expandResults   int
	policy          skald.Policy
	noCommit        bool
	patient         bool // the strategy makes no commit for pressure
}

// Triggers of document 000, section 3.2 (000-045 to 000-047).
const (
	defaultCommitTokens = 30_000
	commitUserTurns     = 20
	commitMinutes       = 30
)

func (e *Engine) settings(r skald.Settings) settings {
	d := e.opts.Settings
	chosen := e.strategy
	if r.Strategy != "" {
		chosen, _ = strategy.ByName(r.Strategy) // known tells
	}
	_, patient := chosen.(strategy.Patient)
	return settings{
		Settings: strategy.Settings{
			AutoRecall:     pick(r.AutoRecall, d.AutoRecall, true),
			Limit:          max(0, pick(r.RecallLimit, d.RecallLimit, 0)),
			Threshold:      clamp(pick(r.RecallScoreThreshold, d.RecallScoreThreshold, 0.15), 0, 1),
			MaxChars:       clamp(pick(r.RecallMaxContentChars, d.RecallMaxContentChars, 1000), 50, 100_000),
			PreferAbstract: pick(r.RecallPreferAbstract, d.RecallPreferAbstract, false),
			RecallTokens:   clamp(pick(r.RecallTokenBudget, d.RecallTokenBudget, 2000), 0, 1_000_000),
			RecentTurns:    clamp(pick(r.RecentRawTurnCount, d.RecentRawTurnCount, 8), 1, 10_000),
			Window:         clamp(pick(r.AssembleRecallWindow, d.AssembleRecallWindow, 5), 1, 100),
			Form:           first(r.RecallForm, d.RecallForm, "auto"),
		},
		autoCapture:     pick(r.AutoCapture, d.AutoCapture, true),
		commitThreshold: clamp(pick(r.CompactCommitThreshold, d.CompactCommitThreshold, 0.75), 0.05, 1),
		commitTokens:    max(1, pick(r.CommitTokenThreshold, d.CommitTokenThreshold, defaultCommitTokens)),
		chosen:          chosen,
		patient:         patient,
		noCommit:        pick(r.NoCommit, d.NoCommit, false),
		expandResults:   clamp(pick(r.MemoryExpandMaxResults, d.MemoryExpandMaxResults, 6), 1, 100),
		policy: skald.Policy{
			IsolateUserScopeByAgent: pick(r.IsolateUserByAgent, nil, e.opts.Policy.IsolateUserScopeByAgent),
			IsolateAgentScopeByUser: pick(r.IsolateAgentByUser, nil, e.opts.Policy.IsolateAgentScopeByUser),
		},
	}
}

// known fails when a request names a strategy that there is not: nothing takes its place unasked (C-16).
func (s settings) known(r skald.Settings) error {
	if s.chosen != nil {
		return nil
	}
	_, err := strategy.ByName(r.Strategy)
	return err
}

func pick[T any](request, engine *T, fallback T) T {
	switch {
	case request != nil:
		return *request
	case engine != nil:
		return *engine
	}
	return fallback
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

func clamp[T int | float64](v, low, high T) T { return min(max(v, low), high) }
