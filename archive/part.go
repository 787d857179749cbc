package archive

import (
	"encoding/json"
	"fmt"

	"github.com/skald-engine/skald"
)

// Parts splits turns into runs of at most size tokens, where an exchange begins if possible, so that no summariser or extractor
// is given more than its window holds (ARC-05). A single longer turn is a part of its own.
func Parts(turns []Turn, size int) [][]Turn {
	var parts [][]Turn
	start, sum, exchange := 0, 0, 0
	for i, t := range turns {
		n := weigh(turns[i : i+1])
		if sum+n > size && i > start {
			cut := i
			if exchange > start {
				cut = exchange
			}
			parts = append(parts, turns[start:cut])
			if start, sum = cut, weigh(turns[cut:i]); sum+n > size && i > start {
				parts = append(parts, turns[start:i])
				start, sum = i, 0
			}
		}
		if t.Role == skald.RoleUser {
			exchange = i
		}
		sum += n
	}
	if start < len(turns) {
		parts = append(parts, turns[start:])
	}
	return parts
}

func weigh(turns []Turn) (n int) {
	for _, t := range turns {
		n += max(t.Tokens, tokens(t.Text))
	}
	return n
}

// joinDiff adds the diff of a further part to an archive's: lists are joined, numbers added, other values kept.
func joinDiff(old string, diff []byte) (string, error) {
	if old == "" || len(diff) == 0 {
		return old + string(diff), nil
	}
	var a, b map[string]any
	if err := json.Unmarshal([]byte(old), &a); err != nil {
		return old, fmt.Errorf("memory diff: %w", err)
	}
	if err := json.Unmarshal(diff, &b); err != nil {
		return old, fmt.Errorf("memory diff: %w", err)
	}
	for k, v := range b {
		switch w := a[k].(type) {
		case []any:
			if list, ok := v.([]any); ok {
				a[k] = append(w, list...)
			}
		case float64:
			if n, ok := v.(float64); ok {
				a[k] = w + n
			}
		case nil:
			a[k] = v
		}
	}
	out, err := json.Marshal(a)
	return string(out), err
}
