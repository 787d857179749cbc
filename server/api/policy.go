package api

import (
	"encoding/json"
	"maps"
	"slices"
)

// PolicyChange is what a request says about an auto-commit policy: nothing (the zero value), off, or values to be set.
type PolicyChange struct {
	Off    bool
	Values map[string]int // by member name, clamped already
}

// Apply makes the policy that a change leaves; the members that it does not name keep old's values, or the defaults without one.
func (c PolicyChange) Apply(old *AutoCommitPolicy) *AutoCommitPolicy {
	switch {
	case c.Off:
		return nil
	case c.Values == nil:
		return old
	}
	var p AutoCommitPolicy
	for _, f := range policyFields {
		*f.at(&p) = f.byDefault
	}
	if old != nil {
		p = *old
	}
	for name, n := range c.Values {
		*policyFields[name].at(&p) = n
	}
	return &p
}

// policyField is one member of an auto-commit policy. Values are clamped to 0..most; those between 0 and least are refused.
type policyField struct {
	byDefault, least, most int
	at                     func(*AutoCommitPolicy) *int
}

var policyFields = map[string]policyField{
	"pending_token_threshold":     {150_000, 0, 1_000_000, func(p *AutoCommitPolicy) *int { return &p.PendingTokens }},
	"message_count_threshold":     {100, 0, 1000, func(p *AutoCommitPolicy) *int { return &p.Messages }},
	"idle_timeout_seconds":        {86_400, 300, 604_800, func(p *AutoCommitPolicy) *int { return &p.IdleSeconds }},
	"keep_recent_count":           {0, 0, 1000, func(p *AutoCommitPolicy) *int { return &p.KeepRecent }},
	"min_commit_interval_seconds": {0, 0, 604_800, func(p *AutoCommitPolicy) *int { return &p.MinInterval }},
}

// parseAutoCommit reads a policy; absent changes nothing, null is off. Unknown members and nulls are refused.
func parseAutoCommit(raw json.RawMessage, loc []string) (PolicyChange, error) {
	switch {
	case len(raw) == 0:
		return PolicyChange{}, nil
	case string(raw) == "null":
		return PolicyChange{Off: true}, nil
	}
	var given map[string]*int
	if err := decodeObject(raw, loc, &given); err != nil {
		return PolicyChange{}, err
	}
	var v issues
	out := PolicyChange{Values: map[string]int{}}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		f, known := policyFields[name]
		n, at := given[name], append(loc[:len(loc):len(loc)], name)
		switch {
		case !known:
			v.add(at, "extra_forbidden", "Extra inputs are not permitted")
		case n == nil:
			v.add(at, "int_type", "Input should be a valid integer; auto_commit_policy=null turns automatic commits off")
		case f.least > 0 && *n != 0 && *n < f.least:
			v.add(at, "value_error", "must be 0 or at least %d", f.least)
		default:
			out.Values[name] = min(max(*n, 0), f.most)
		}
	}
	return out, v.err()
}

// decodeObject decodes a JSON object that stands at loc.
func decodeObject(raw json.RawMessage, loc []string, v any) error {
	if len(raw) == 0 || raw[0] != '{' {
		return invalid(loc, "dict_type", "Input should be a valid dictionary or object")
	}
	return decodeAt(raw, v, loc)
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
