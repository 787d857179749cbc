package backend

import (
	"context"
	"slices"
	"strings"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
)

// categories are OpenViking's categories of memories. Skald makes the first six.
var categories = []string{"profile", "preferences", "entities", "events", "cases", "patterns", "tools", "skills"}

// hot is the number of reported uses from which a memory is hot.
const hot = 5

// MemoryStats implements api.System.
func (b *Backend) MemoryStats(ctx context.Context, id skald.Identity, category string) (out api.MemoryStats, err error) {
	wanted := categories
	switch {
	case category == "":
	case !slices.Contains(categories, category):
		valid := strings.Join(categories, ", ")
		return out, skald.Invalid("backend.stats", "category", "Unknown category: %s. Valid categories: %s", category, valid)
	default:
		wanted = []string{category}
	}
	out.ByCategory = map[string]int{}
	for _, c := range wanted {
		out.ByCategory[c] = 0
	}
	now := b.engine.Now()
	err = b.store.View(ctx, func(tx skald.Tx) error {
		list, err := tx.Memories(skald.MemoryQuery{Scopes: b.scopes(id)})
		for _, m := range list {
			if _, ok := out.ByCategory[string(m.Type)]; ok {
				countMemory(&out, m, now)
			}
		}
		return err
	})
	return out, err
}

func countMemory(s *api.MemoryStats, m skald.Memory, now time.Time) {
	const day = 24 * time.Hour
	s.Total++
	s.ByCategory[string(m.Type)]++
	switch {
	case m.Uses == 0:
		s.Hotness.Cold++
	case m.Uses < hot:
		s.Hotness.Warm++
	default:
		s.Hotness.Hot++
	}
	touched := m.Updated
	if m.Used.After(touched) {
		touched = m.Used
	}
	if now.Sub(touched) > 7*day {
		s.Staleness.Week++
	}
	if now.Sub(touched) > 30*day {
		s.Staleness.Month++
	}
	s.Staleness.Oldest = max(s.Staleness.Oldest, int(now.Sub(m.Created)/day))
}

// SessionStats implements api.System.
func (b *Backend) SessionStats(ctx context.Context, id skald.Identity, session string) (out api.SessionStats, err error) {
	err = b.store.View(ctx, func(tx skald.Tx) error {
		s, err := full(tx, b.ref(id, session))
		out = api.SessionStats{Session: s.ID, Turns: s.Total, Contexts: s.ContextsUsed, Skills: s.SkillsUsed}
		for _, n := range s.Memories {
			out.Memories += n
		}
		return err
	})
	return out, err
}
