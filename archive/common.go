package archive

import (
	"maps"
	"strings"
	"unicode"
)

// A word is common in an archive when so many units have it, and at least one in commonShare of all.
const (
	commonUnits = 5
	commonShare = 40
	leastWeight = 0.25 // of what has nothing of its own: where there is nothing else, it is still quoted
	strongCue   = 1.2  // of a unit that is a decision, a task, an order or a preference
)

// dampen lets units weigh less that hold little else than what is said all the time: the reports and requests that return with every
// step. Their changing numbers count for as little as their words.
func dampen(all []*unit) {
	in := map[string]int{}
	for _, u := range all {
		for k := range u.features {
			in[k]++
		}
	}
	limit := max(commonUnits, len(all)/commonShare)
	for _, u := range all {
		if u.user && u.cue >= strongCue {
			continue // decided, ordered or told about oneself in the same words again: still each its own
		}
		words, common := 0.0, 0.0
		for k, w := range u.features {
			if strings.IndexFunc(k, unicode.IsLetter) < 0 {
				continue
			}
			words += w
			if in[k] >= limit {
				common += w
			}
		}
		if words == 0 || common/words < 0.5 {
			continue
		}
		keep := max(1-common/words, leastWeight)
		u.weight *= keep
		u.features = maps.Clone(u.features)
		for k, w := range u.features {
			if strings.IndexFunc(k, unicode.IsLetter) < 0 {
				u.features[k] = w * keep
			}
		}
	}
}
