package record

import (
	"fmt"
	"maps"
	"slices"

	"github.com/skald-engine/skald/ingest"
)

// Tally counts by its kind what is no message, where an item for each would only be noise.
type Tally map[string]int

// Items is one skipped item for each kind, in alphabetical order; the place tells how many there were.
func (t Tally) Items(origin string) []ingest.Item {
	var items []ingest.Item
	for _, kind := range slices.Sorted(maps.Keys(t)) {
		items = append(items, Skip(fmt.Sprintf("%s (%d)", origin, t[kind]), kind))
	}
	return items
}
