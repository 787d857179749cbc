package recall

import (
	"sort"
	"strings"

	"github.com/skald-engine/skald"
)

// Group is the items of one session and day, in the order they were said.
type Group struct {
	Session string   `json:"session"` // URI of the turns, or "memory"
	Date    string   `json:"date"`
	Items   []string `json:"items"` // "speaker: text"
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
			g = &group{Group: Group{Date: day(it)}}
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
		g.Session = groupURI(g.items)
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

func groupKey(it Item) string { return it.Group + " " + day(it) }

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
	return short(ref(items[0].Doc).TurnsURI(from, to), items[0].Doc.Scope)
}

const memoryGroup = "memory"

// short writes a user's URI with the alias "~", which every reader of URIs accepts.
func short(u skald.URI, s skald.Scope) string {
	if rest, ok := strings.CutPrefix(string(u), string(s.RootURI())+"/"); ok && s.Kind == skald.ScopeUser {
		return "viking://~/" + rest
	}
	return string(u)
}

// line is an item as the model reads it.
func (it Item) line() string {
	var b strings.Builder
	if it.Label != "" {
		b.WriteString("[" + it.Label + "] ")
	}
	if it.Superseded {
		b.WriteString("[superseded] ")
	}
	if it.Speaker != "" {
		b.WriteString(it.Speaker + ": ")
	}
	b.WriteString(it.Text)
	return b.String()
}
