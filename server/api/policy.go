package api

import (
	"encoding/json"
	"maps"
	"slices"
)

// policyField is one member of an auto-commit policy. Values are clamped to 0..most.
type policyField struct {
	byDefault, most int
	set             func(*AutoCommitPolicy, int)
}

var policyFields = map[string]policyField{
	"pending_token_threshold":     {150_000, 1_000_000, func(p *AutoCommitPolicy, n int) { p.PendingTokens = n }},
	"message_count_threshold":     {100, 1000, func(p *AutoCommitPolicy, n int) { p.Messages = n }},
	"idle_timeout_seconds":        {86_400, 604_800, func(p *AutoCommitPolicy, n int) { p.IdleSeconds = n }},
	"keep_recent_count":           {0, 1000, func(p *AutoCommitPolicy, n int) { p.KeepRecent = n }},
	"min_commit_interval_seconds": {0, 604_800, func(p *AutoCommitPolicy, n int) { p.MinInterval = n }},
}

// parseAutoCommit reads a policy; absent or null is off. Unknown members and nulls are refused.
func parseAutoCommit(raw json.RawMessage, loc []string) (*AutoCommitPolicy, error) {
	raw, err := objectOrNil(raw, loc)
	if raw == nil || err != nil {
		return nil, err
	}
	var given map[string]*int
	if err := decodeAt(raw, &given, loc); err != nil {
		return nil, err
	}
	var v issues
	for _, name := range slices.Sorted(maps.Keys(given)) {
		at := append(loc[:len(loc):len(loc)], name)
		if _, known := policyFields[name]; !known {
			v.add(at, "extra_forbidden", "Extra inputs are not permitted")
		} else if given[name] == nil {
			v.add(at, "int_type", "Input should be a valid integer")
		}
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	var p AutoCommitPolicy
	for name, f := range policyFields {
		n := f.byDefault
		if g := given[name]; g != nil {
			n = min(max(*g, 0), f.most)
		}
		f.set(&p, n)
	}
	return &p, nil
}
