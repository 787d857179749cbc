package search

import (
	"fmt"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/recall"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/tree"
)

// tier is a text of some length for an entry.
type tier struct{ name, text string }

// fill gives each entry a text, best first: the least that says something; then, where the request leaves it to the budget, more to each
// within its share, and what is left to whoever can use it. Entries for which not even the URI has room are dropped. What is rendered never
// costs more than MaxTokens: the tokens of the parts, each rounded up, are no less than those of the whole.
func (b *briefing) fill() error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	b.left = b.q.MaxTokens
	b.stats.PerEntryCap = 2 * (b.q.MaxTokens / max(1, len(b.entries)))
	var kept []*entry
	for _, e := range b.entries {
		e.tiers = tiers(b.tx, e.match)
		if b.floor(e) {
			kept = append(kept, e)
		}
	}
	b.stats.Dropped = len(b.entries) - len(kept)
	b.entries = kept
	b.stats.Fill.Floor = b.q.MaxTokens - b.left
	b.stats.Fill.Overview = b.upgrade(api.TierOverview, true)
	b.stats.Fill.Full = b.upgrade(api.TierFull, true)
	b.stats.Fill.Spare = b.upgrade(api.TierOverview, false) + b.upgrade(api.TierFull, false)
	b.stats.UsedTokens = message.TextTokens(b.render())
	return nil
}

// floor gives an entry the tier that is asked for, or less where that has no room; false when nothing has.
func (b *briefing) floor(e *entry) bool {
	for at := b.first(e); at >= -1; at-- {
		if cost := b.cost(e, at); cost <= b.left && (at <= 0 || cost <= b.stats.PerEntryCap) {
			e.at, e.tokens = at, cost
			b.left -= cost
			return true
		}
	}
	return false
}

// wanted is the tier that the request names for an entry, or "".
func (b *briefing) wanted(e *entry) string {
	if b.q.Detail != "" {
		return b.q.Detail
	}
	return b.q.Details[e.category]
}

// first is the index of the tier to begin with: the longest that is not beyond the named one, else the shortest.
func (b *briefing) first(e *entry) int {
	at, named := 0, rankOf(b.wanted(e))
	for i, t := range e.tiers {
		if rankOf(t.name) <= named {
			at = i
		}
	}
	return min(at, len(e.tiers)-1)
}

func rankOf(tier string) int {
	switch tier {
	case api.TierAbstract:
		return 1
	case api.TierOverview:
		return 2
	case api.TierFull:
		return 3
	}
	return 0
}

// upgrade gives entries that are left to the budget a longer tier, and counts them.
func (b *briefing) upgrade(name string, capped bool) (n int) {
	for _, e := range b.entries {
		if b.wanted(e) != "" {
			continue
		}
		for at := e.at + 1; at < len(e.tiers); at++ {
			if e.tiers[at].name != name {
				continue
			}
			cost := b.cost(e, at)
			if cost-e.tokens > b.left || capped && cost > b.stats.PerEntryCap {
				continue
			}
			b.left -= cost - e.tokens
			e.at, e.tokens, n = at, cost, n+1
			break
		}
	}
	return n
}

func (b *briefing) cost(e *entry, at int) int { return message.TextTokens(e.block(at) + "\n") }

// shown is the tier that an entry is shown with.
func (e *entry) shown() tier { return e.tier(e.at) }

func (e *entry) tier(at int) tier {
	if at < 0 {
		return tier{name: api.TierURI}
	}
	return e.tiers[at]
}

var attribute = strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;", "\n", " ")

// block is an entry as the model reads it. Its text cannot close the block (SEC-05); what a tool or a stranger said is marked.
func (e *entry) block(at int) string {
	t := e.tier(at)
	var b strings.Builder
	fmt.Fprintf(&b, `<memory uri="%s" type="%s" score="%.2f" detail="%s"`, attribute.Replace(string(e.uri)), e.category, e.match.Score, t.name)
	if e.match.Label != "" {
		fmt.Fprintf(&b, ` from="%s"`, e.match.Label)
	}
	if e.match.Superseded {
		b.WriteString(` superseded="true"`)
	}
	if t.text == "" {
		return b.String() + " />"
	}
	return b.String() + ">\n" + message.Escape(t.text) + "\n</memory>"
}

func (b *briefing) render() string {
	blocks := make([]string, len(b.entries))
	for i, e := range b.entries {
		blocks[i] = e.block(e.at)
	}
	return strings.Join(blocks, "\n")
}

// tiers are the texts of a thing, each longer than the one before. The one that says all is named full.
func tiers(tx skald.Tx, m recall.Match) []tier {
	whole := strings.TrimSpace(content(tx, m))
	short := tree.Line(strings.TrimSpace(m.Text))
	if m.File != nil && m.File.Abstract != "" {
		short = m.File.Abstract
	}
	var out []tier
	for _, t := range []tier{{api.TierAbstract, short}, {api.TierOverview, strings.TrimSpace(m.Text)}} {
		if t.text != "" && len(t.text) < len(whole) && (len(out) == 0 || len(t.text) > len(out[len(out)-1].text)) {
			out = append(out, t)
		}
	}
	if whole != "" {
		out = append(out, tier{api.TierFull, whole})
	}
	return out
}
