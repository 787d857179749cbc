package recall

import (
	"sort"
	"strings"
)

// Group is the items of one session and day, in the order they were said; memories are one group. Every token here is paid in every
// recall: one string says when and where.
type Group struct {
	From  string   `json:"from"`  // "2026-03-01 viking://~/6b0829b9f7/3-5", or "memory"
	Items []string `json:"items"` // "speaker: text"
}

// Render groups items by session and day: the group with the best item first, inside by time.
func Render(items []Item) []Group {
	type group struct {
		Group
		best  float64
		items []Item
	}
	var list []*group
	at := map[string]*group{}
	for _, it := range items {
		key := groupKey(it)
		g := at[key]
		if g == nil {
			g = &group{}
			at[key] = g
			list = append(list, g)
		}
		g.best = max(g.best, it.Score)
		g.items = append(g.items, it)
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].best > list[j].best })
	out := make([]Group, len(list))
	for i, g := range list {
		sort.SliceStable(g.items, func(a, b int) bool { return earlier(g.items[a], g.items[b]) })
		g.From = from(g.items)
		for _, it := range g.items {
			g.Items = append(g.Items, it.line())
		}
		out[i] = g.Group
	}
	return out
}

func earlier(a, b Item) bool {
	if !a.Time.Equal(b.Time) {
		return a.Time.Before(b.Time)
	}
	if a.Doc.Seq != b.Doc.Seq {
		return a.Doc.Seq < b.Doc.Seq
	}
	return a.Doc.Start < b.Doc.Start
}

func groupKey(it Item) string {
	if it.Group == memoryGroup {
		return memoryGroup
	}
	return it.Group + " " + day(it)
}

// from says when and where the items of a group were said.
func from(items []Item) string {
	where := groupURI(items)
	if date := day(items[0]); date != "" && where != memoryGroup {
		return date + " " + where
	}
	return where
}

func day(it Item) string {
	if it.Time.IsZero() {
		return ""
	}
	return it.Time.UTC().Format("2006-01-02")
}

// groupURI names the run of turns that the items stand in, so that one call expands them.
func groupURI(items []Item) string {
	if items[0].Group == memoryGroup {
		return memoryGroup
	}
	var from, to int64
	for _, it := range items {
		t, err := it.URI.Resolve(it.Doc.Scope.Account)
		if err != nil || t.From == 0 {
			continue
		}
		if from == 0 || t.From < from {
			from = t.From
		}
		to = max(to, t.To)
	}
	if from == 0 {
		return items[0].Group
	}
	return ref(items[0].Doc).TurnsURI(from, to).Short(items[0].Doc.Scope)
}

const memoryGroup = "memory"

// ShortURI is how the item's place is written in what a model is shown.
func (it Item) ShortURI() string { return it.URI.Short(it.Doc.Scope) }

// line is an item as the model reads it.
func (it Item) line() string {
	var b strings.Builder
	if it.Label != "" {
		b.WriteString("[" + it.Label + "] ")
	}
	if it.Superseded {
		b.WriteString("[superseded] ")
	}
	if date := day(it); it.Group == memoryGroup && date != "" && !strings.Contains(it.Text, date) {
		b.WriteString(date + " ")
	}
	if it.Speaker != "" {
		b.WriteString(it.Speaker + ": ")
	}
	b.WriteString(it.Text)
	return b.String()
}
