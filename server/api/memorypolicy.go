package api

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// MemoryPolicy says what a session's commits make: of the user, of the peers, the working memory, and which types (nil: all).
type MemoryPolicy struct {
	Self    Switch   `json:"self"`
	Peer    Switch   `json:"peer"`
	Working Switch   `json:"working_memory"`
	Types   []string `json:"memory_types,omitzero"`
}

// Switch is a target of a memory policy that is on or off.
type Switch struct {
	Enabled bool `json:"enabled"`
}

// memoryTypes are the types that a policy may name: OpenViking's, and Skald's patterns.
var memoryTypes = []string{
	"cases", "entities", "events", "experiences", "identity", "patterns", "preferences", "profile", "skills", "soul", "tools", "trajectories",
}

// parseMemoryPolicy reads a policy and completes it; nil for none. What is wrong is said as OpenViking says it: no validation error.
func parseMemoryPolicy(raw json.RawMessage) (*MemoryPolicy, error) {
	if isNull(raw) {
		return nil, nil
	}
	var given map[string]json.RawMessage
	if err := decodeObject(raw, inBody("memory_policy"), &given); err != nil {
		return nil, err
	}
	p := MemoryPolicy{Self: Switch{true}, Peer: Switch{true}, Working: Switch{true}}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		var err error
		switch name {
		case "self":
			err = p.Self.read(given[name])
		case "peer":
			err = p.Peer.read(given[name])
		case "working_memory":
			err = p.Working.read(given[name])
		case "memory_types":
			p.Types, err = readTypes(given[name])
		default:
			err = badPolicy("memory_policy supports only: memory_types, peer, self, working_memory")
		}
		if err != nil {
			return nil, err
		}
	}
	return &p, nil
}

func badPolicy(message string) error {
	return &wire.Failure{Kind: skald.KindInvalid, Field: "memory_policy", Message: message}
}

func (s *Switch) read(raw json.RawMessage) error {
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil {
		return badPolicy("memory_policy target must be an object")
	}
	for name, on := range given {
		if name != "enabled" {
			return badPolicy("memory_policy target supports only: enabled")
		}
		if isNull(on) || json.Unmarshal(on, &s.Enabled) != nil {
			return badPolicy("memory_policy target enabled must be a boolean")
		}
	}
	return nil
}

// readTypes sorts the types. Experiences are made of cases and trajectories, which come with them and not without.
func readTypes(raw json.RawMessage) ([]string, error) {
	if isNull(raw) {
		return nil, nil
	}
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		return nil, badPolicy("memory_policy.memory_types must be a list of texts")
	}
	out := []string{}
	for _, t := range list {
		if !slices.Contains(memoryTypes, t) {
			return nil, badPolicy("Unknown memory_policy.memory_types: " + t)
		}
		out = append(out, t)
	}
	implied := []string{"cases", "trajectories"}
	out = slices.DeleteFunc(out, func(t string) bool { return slices.Contains(implied, t) })
	if slices.Contains(out, "experiences") {
		out = append(out, implied...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// parseExtraction reads a memory_extraction_config and returns its tags; nil for none. Tags that are no k=v are left out, as OpenViking
// does.
func parseExtraction(raw json.RawMessage, loc []string) ([]string, error) {
	if isNull(raw) {
		return nil, nil
	}
	var given map[string]json.RawMessage
	if err := decodeObject(raw, loc, &given); err != nil {
		return nil, err
	}
	if err := only(given, loc, "events"); err != nil {
		return nil, err
	}
	if isNull(given["events"]) {
		return []string{}, nil
	}
	return eventTags(given["events"], append(loc[:len(loc):len(loc)], "events"), false)
}

// eventTags reads {"tags": […]}; with strict a tag that is no k=v is an error.
func eventTags(raw json.RawMessage, loc []string, strict bool) ([]string, error) {
	var given map[string]json.RawMessage
	if err := decodeObject(raw, loc, &given); err != nil {
		return nil, err
	}
	if err := only(given, loc, "tags"); err != nil || isNull(given["tags"]) {
		return []string{}, err
	}
	var list []string
	if err := decodeAt(given["tags"], &list, append(loc[:len(loc):len(loc)], "tags")); err != nil {
		return nil, err
	}
	return tags(list, strict)
}

// tags are lower case and sorted, the last value of a key counts.
func tags(list []string, strict bool) ([]string, error) {
	byKey := map[string]string{}
	for _, t := range list {
		key, value, ok := strings.Cut(strings.ToLower(strings.TrimSpace(t)), "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case ok && key != "" && value != "" && !strings.Contains(value, "="):
			byKey[key] = key + "=" + value
		case strict:
			return nil, &wire.Failure{Kind: skald.KindInvalid, Field: "tags", Message: "invalid search tag '" + t + "': expected strict k=v format"}
		}
	}
	out := slices.Sorted(maps.Values(byKey))
	if out == nil {
		out = []string{}
	}
	return out, nil
}

// only refuses members that are not among the known ones.
func only(given map[string]json.RawMessage, loc []string, known ...string) error {
	var v issues
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, name) {
			v.add(append(loc[:len(loc):len(loc)], name), "extra_forbidden", "Extra inputs are not permitted")
		}
	}
	return v.err()
}
