// Package conformance checks what OpenViking's clients see: the Python SDK, the `ov` command and Skald's own HTTP suite run against the
// real OpenViking server and against `skald serve`, and every answer is compared member by member. What differs stands, with its reason,
// in testdata/differences.txt, and with the state of every endpoint in docs/openviking-compat.md, which the tests write (-update) and check.
package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// exact are the members whose values belong to the contract; of all others the type is.
var exact = map[string]bool{
	"status": true, "code": true, "mode": true, "role": true, "type": true, "context_type": true, "isDir": true, "is_dir": true, "name": true,
	"task_type": true, "session_id": true, "message_count": true, "added": true, "archived": true, "reason": true, "total": true, "line": true,
	"deleted": true, "enabled": true, "is_active": true, "valid": true, "tags": true, "action": true, "archive_id": true, "account_id": true,
	"user_id": true, "content": true, "text": true, "rel_path": true, "match_count": true, "uri": true, "root_uri": true, "archive_uri": true,
	"healthy": true, "initialized": true, "retention_mode": true, "tool_id": true, "tool_name": true, "tool_status": true, "level": true,
}

// loose are members with keys of their own: their type is all that is compared.
var loose = map[string]bool{
	"memories_extracted": true, "queue_status": true, "by_category": true, "validation_errors": true, "components": true,
}

// Shape is what a JSON value must look like: types of scalars ("string", "number", "bool", "null"), "=value" where the value belongs to
// the contract, a list of one shape (all elements are merged), or the members' shapes.
func Shape(v any) any { return shape("", v) }

func shape(key string, v any) any {
	if loose[key] {
		return kind(v)
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, member := range v {
			out[k] = shape(k, member)
		}
		return out
	case []any:
		if len(v) == 0 {
			return []any{}
		}
		merged := shape(key, v[0])
		for _, element := range v[1:] {
			merged = merge(merged, shape(key, element))
		}
		return []any{merged}
	}
	if exact[key] && !tabular(v) {
		return "=" + volatile.ReplaceAllString(fmt.Sprint(v), "<…>")
	}
	return kind(v)
}

// tabular tells a table drawn for people, which OpenViking puts into `status`.
func tabular(v any) bool {
	s, ok := v.(string)
	return ok && strings.Contains(s, "\n")
}

// volatile is what differs from run to run: ids, times, random names.
var volatile = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|[0-9a-f]{16,}|\d{4}-\d\d-\d\dT[0-9:.+Z-]+|\d{8}-\d{6}-[0-9a-z]+`)

func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "bool"
	case float64, json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "list"
	}
	return "object"
}

// merge is a shape that both shapes fit: members that only one has are optional (`name?`), values that differ become their type.
func merge(a, b any) any {
	x, isX := a.(map[string]any)
	y, isY := b.(map[string]any)
	switch {
	case isX && isY:
		return mergeMembers(x, y)
	case isList(a) && isList(b):
		return mergeLists(a.([]any), b.([]any))
	case fmt.Sprint(a) == fmt.Sprint(b):
		return a
	}
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(append(alternatives(a), alternatives(b)...)))), "|")
}

func isList(v any) bool { _, ok := v.([]any); return ok }

func alternatives(v any) []string {
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, "=") {
			return []string{"string"}
		}
		return strings.Split(v, "|")
	case []any:
		return []string{"list"}
	}
	return []string{"object"}
}

func mergeMembers(x, y map[string]any) map[string]any {
	out := map[string]any{}
	for k := range maps.Keys(both(x, y)) {
		name := strings.TrimSuffix(k, "?")
		a, inX := member(x, name)
		b, inY := member(y, name)
		optional := has(x, name+"?") || has(y, name+"?") || !inX || !inY
		value := a
		switch {
		case inX && inY:
			value = merge(a, b)
		case inY:
			value = b
		}
		if optional {
			name += "?"
		}
		out[name] = value
	}
	return out
}

func both(x, y map[string]any) map[string]bool {
	out := map[string]bool{}
	for _, m := range []map[string]any{x, y} {
		for k := range m {
			out[strings.TrimSuffix(k, "?")] = true
		}
	}
	return out
}

func has(m map[string]any, key string) bool { _, ok := m[key]; return ok }

func member(m map[string]any, name string) (any, bool) {
	if v, ok := m[name]; ok {
		return v, true
	}
	v, ok := m[name+"?"]
	return v, ok
}

func mergeLists(a, b []any) any {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	return []any{merge(a[0], b[0])}
}

// Differences compares a shape that was seen with the one that is wanted; at is where both stand. One line each.
func Differences(at string, want, have any) (list []string) {
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s: want an object, have %s", at, brief(have))}
		}
		return memberDifferences(at, w, h)
	case []any:
		h, ok := have.([]any)
		switch {
		case !ok:
			return []string{fmt.Sprintf("%s: want a list, have %s", at, brief(have))}
		case len(w) == 0:
			return nil
		case len(h) == 0:
			return []string{at + ": the list is empty"}
		}
		return Differences(at+"[]", w[0], h[0])
	}
	if !fits(fmt.Sprint(want), have) {
		return []string{fmt.Sprintf("%s: want %v, have %s", at, want, brief(have))}
	}
	return nil
}

func memberDifferences(at string, want, have map[string]any) (list []string) {
	for _, k := range slices.Sorted(maps.Keys(both(want, have))) {
		w, wanted := member(want, k)
		h, there := member(have, k)
		optional := has(want, k+"?")
		switch {
		case wanted && there:
			list = append(list, Differences(at+"."+k, w, h)...)
		case wanted && !optional:
			list = append(list, fmt.Sprintf("%s.%s: missing", at, k))
		case !wanted:
			list = append(list, fmt.Sprintf("%s.%s: not OpenViking's", at, k))
		}
	}
	return list
}

func fits(want string, have any) bool {
	seen := alternatives(have)
	if s, ok := have.(string); ok && strings.HasPrefix(s, "=") && strings.HasPrefix(want, "=") {
		return s == want
	}
	allowed := strings.Split(want, "|")
	if strings.HasPrefix(want, "=") {
		allowed = []string{"string"}
	}
	for _, a := range seen {
		if !slices.Contains(allowed, a) && !strings.HasPrefix(fmt.Sprint(have), "=") {
			return false
		}
	}
	return true
}

func brief(v any) string {
	b, _ := json.Marshal(v)
	if len(b) > 60 {
		return string(b[:60]) + "…"
	}
	return string(b)
}
