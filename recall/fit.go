package recall

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

const (
	groupTokens = 8 // JSON around a group, escaped inside the message
	itemTokens  = 2 // quotes and comma
)

// fit packs the candidates, best first, into budget and limit. The overhead of a group counts with its first item.
func (c *course) fit() {
	groups := map[string]bool{}
	for _, p := range c.paced() {
		k, it := p.candidate, p.item
		if c.r.Limit > 0 && len(c.items) >= c.r.Limit {
			k.drop("over the limit of items")
			continue
		}
		cost := it.tokens
		if !groups[p.group] {
			cost += groupTokens + message.TextTokens(from([]Item{it}))
		}
		if c.tokens+cost > c.r.Budget {
			k.drop("no room in the budget")
			continue
		}
		if k.library() && float64(c.shelved+cost) > c.libraryShare()*float64(c.r.Budget) {
			k.drop("no more room for files")
			continue
		}
		if k.library() {
			c.shelved += cost
		}
		groups[p.group] = true
		c.tokens += cost
		k.item = &it
		c.items = append(c.items, it)
	}
}

// libraryShare is the part of the budget that files may take where conversations are asked for too.
func (c *course) libraryShare() float64 {
	for _, s := range shares {
		if !s.library() && len(c.wanted(s.kinds)) > 0 {
			return 0.25
		}
	}
	return 1
}

// openBonus is what an item is worth more when its group is open already: it costs no date and no URI. An item of more than usualItem tokens
// has to be worth its length: what it takes is taken from others.
const (
	openBonus = 0.5
	usualItem = 80
)

// paced is a candidate before it is packed.
type paced struct {
	*candidate
	item  Item
	group string
	value float64
}

// paced lists the candidates in the order of packing: by what they are worth for their length, with the bonus for open groups.
func (c *course) paced() []paced {
	var list []paced
	for _, k := range c.kept() {
		it := c.item(k)
		p := paced{k, it, groupKey(it), k.score}
		if c.has(StageLength) && k.parts["exact"] == 0 { // what holds the identifier that was asked for is worth any length
			p.value /= math.Sqrt(float64(max(usualItem, it.tokens)) / usualItem)
		}
		list = append(list, p)
	}
	slices.SortStableFunc(list, func(a, b paced) int { return cmp.Compare(b.value, a.value) })
	out := make([]paced, 0, len(list))
	open := map[string]bool{}
	used := make([]bool, len(list))
	for range list {
		best, at := -1.0, 0
		for i, p := range list {
			if used[i] {
				continue
			}
			if p.value*(1+openBonus) < best {
				break // the list is in order: nothing better follows
			}
			v := p.value
			if open[p.group] && c.has(StageGroups) {
				v *= 1 + openBonus
			}
			if v > best {
				best, at = v, i
			}
		}
		used[at] = true
		open[list[at].group] = true
		out = append(out, list[at])
	}
	return out
}

// group is what the candidate is shown under.
func (k *candidate) group() string {
	switch {
	case k.doc.Kind == skald.DocTurn || k.doc.Kind == skald.DocArchive:
		return string(ref(k.doc).URI())
	case k.library():
		return k.uri.Short(k.doc.Scope)
	}
	return memoryGroup
}

// item makes the leaf that is shown of a candidate.
func (c *course) item(k *candidate) Item {
	it := Item{Doc: k.doc, URI: k.uri, Group: k.group(), Speaker: k.speaker, Time: k.time, Score: round(calibrated(k.score)),
		Superseded: k.superseded, Label: k.label}
	it.Text = message.Escape(c.cut(k))
	it.tokens = quoted(it.line()) + itemTokens
	return it
}

// quoted is what a text costs inside JSON inside a message.
func quoted(s string) int {
	escapes := strings.Count(s, `"`)*3 + strings.Count(s, `\`)*3 + strings.Count(s, "\n")*2 + strings.Count(s, "\t")*2
	return message.TextTokens(s) + (escapes+3)/4
}

// cut shortens a passage to MaxChars around the part that matches, with an ellipsis at each cut end; the item's URI leads to the rest.
func (c *course) cut(k *candidate) string {
	text := strings.TrimSpace(k.text)
	if k.turn != nil {
		before, after := k.doc.Start > 0, k.doc.End < len(k.turn.text)
		text = ellipsis(window(text, c.r.MaxChars, c.words), before, after)
		return text
	}
	return window(text, c.r.MaxChars, c.words)
}

func ellipsis(s string, before, after bool) string {
	if before && !strings.HasPrefix(s, "…") {
		s = "…" + s
	}
	if after && !strings.HasSuffix(s, "…") {
		s += "…"
	}
	return s
}

// window is the part of max characters that has the first word of the query at its first third.
func window(text string, limit int, words []word) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	runes := []rune(text)
	start := 0
	lower := strings.ToLower(text)
	for _, w := range words {
		if at := strings.Index(lower, w.Term); at >= 0 && len(lower) == len(text) {
			start = max(0, utf8.RuneCountInString(text[:at])-limit/3)
			break
		}
	}
	start = min(start, len(runes)-limit)
	return ellipsis(strings.TrimSpace(string(runes[start:start+limit])), start > 0, start+limit < len(runes))
}
