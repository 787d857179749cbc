package archive

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive/sentence"
)

const (
	lineOverhead = 11    // tokens of date, speaker, status and sequences
	worthless    = 0.001 // value for each token below which a unit is not looked at
	quoteLength  = 200   // characters of a quote
)

// pick chooses the units that tell most within the budget. What an earlier choice told already counts for nothing, so that
// restatements fall out by themselves. Values only fall, so an outdated one needs to be looked at again only when it is on top.
//
// Costs are estimated high; what is left of the budget after rendering is offered again.
func pick(all []*unit, budget int) (chosen []*unit) {
	offer := budget
	for range 4 {
		more := pickOnce(all, offer)
		used := lineTokens(compose(more))
		if used > budget {
			break
		}
		chosen = more
		if budget-used < 20 {
			break
		}
		offer += budget - used
	}
	return chosen
}

func pickOnce(all []*unit, budget int) []*unit {
	known, titles, turns := map[string]bool{}, map[string]bool{}, map[turnSection]bool{}
	q := make(queue, 0, len(all))
	for i, u := range all {
		q = append(q, &ranked{unit: u, order: i, value: value(u, known)})
	}
	heap.Init(&q)
	var chosen []*ranked
	for len(q) > 0 && budget > 0 {
		top := q[0]
		if fresh := value(top.unit, known); fresh < top.value {
			top.value = fresh
			if fresh < worthless {
				heap.Pop(&q)
			} else {
				heap.Fix(&q, 0)
			}
			continue
		}
		heap.Pop(&q)
		n := cost(top.unit, titles, turns)
		if n > budget {
			continue
		}
		budget -= n
		titles[top.unit.section] = true
		turns[turnSection{top.unit.turn, top.unit.section}] = true
		for k := range top.unit.features {
			known[k] = true
		}
		chosen = append(chosen, top)
	}
	slices.SortFunc(chosen, func(a, b *ranked) int { return cmp.Compare(a.order, b.order) })
	out := make([]*unit, len(chosen))
	for i, r := range chosen {
		out[i] = r.unit
	}
	return out
}

type turnSection struct {
	turn    int
	section string
}

func cost(u *unit, titles map[string]bool, turns map[turnSection]bool) int {
	n := tokens(quote(u)) + 2
	if u.task != "" || !turns[turnSection{u.turn, u.section}] {
		n += lineOverhead
	}
	if !titles[u.section] {
		n += tokens(u.section) + 2
	}
	return n
}

// value is what a unit tells that is not known yet, for each token.
func value(u *unit, known map[string]bool) float64 {
	var all, fresh float64
	for k, w := range u.features {
		all += w
		if !known[k] {
			fresh += w
		}
	}
	if all == 0 || fresh/all < 0.15 {
		return 0
	}
	return u.weight * (fresh/all*u.cue + fresh) / float64(tokens(u.text)+lineOverhead)
}

// quote is the unit's text as a line shows it.
func quote(u *unit) string {
	text := sentence.Clip(u.text, cmp.Or(u.length, quoteLength))
	if u.prefix == "" {
		return text
	}
	return u.prefix + "“" + strings.Trim(text, "“”\"") + "”"
}

// compose makes the sections of the chosen units. Neighbours of one turn share a line, except tasks: each has its own status.
func compose(chosen []*unit) []skald.Section {
	byTitle := map[string][]skald.Line{}
	lastTurn := map[string]int{}
	for _, u := range chosen {
		lines := byTitle[u.section]
		text := quote(u)
		if n := len(lines) - 1; n >= 0 && lastTurn[u.section] == u.turn && u.prefix == "" && u.task == "" && lines[n].Status == u.status &&
			len([]rune(lines[n].Text+text)) < quoteLength*5/4 {
			lines[n].Text += gap(lines[n].Text, text) + text
			continue
		}
		byTitle[u.section] = append(lines, skald.Line{Text: text, Time: u.at, Speaker: u.speaker, Status: u.status, From: u.from, To: u.to})
		lastTurn[u.section] = u.turn
	}
	return ordered(byTitle)
}

// gap is what stands between two quotes of one turn.
func gap(a, b string) string {
	if last := []rune(a)[len([]rune(a))-1]; sentence.IsHan(string(last)) || strings.ContainsRune("。！？；，", last) {
		if sentence.IsHan(b) {
			return ""
		}
	}
	return " "
}

// ordered puts sections into the fixed order and leaves empty ones out.
func ordered(byTitle map[string][]skald.Line) []skald.Section {
	var out []skald.Section
	for _, t := range Titles {
		if len(byTitle[t]) > 0 {
			out = append(out, skald.Section{Title: t, Lines: byTitle[t]})
		}
	}
	return out
}

// abstract is one sentence made of the few quotes that tell most, in their order.
func abstract(chosen []*unit) string {
	if len(chosen) == 0 {
		return ""
	}
	best := slices.Clone(chosen)
	none := map[string]bool{}
	slices.SortStableFunc(best, func(a, b *unit) int {
		return cmp.Compare(value(b, none)*float64(tokens(b.text)+lineOverhead), value(a, none)*float64(tokens(a.text)+lineOverhead))
	})
	best = best[:min(3, len(best))]
	slices.SortStableFunc(best, func(a, b *unit) int { return cmp.Compare(a.from, b.from) })
	parts := make([]string, len(best))
	for i, u := range best {
		parts[i] = strings.TrimRight(u.prefix+sentence.Clip(u.text, 80), ".。;；!！ ")
	}
	return day(chosen[0].at) + ": " + strings.Join(parts, "; ") + "."
}

type ranked struct {
	*unit
	order int
	value float64
}

// queue is a max-heap by value; ties by order, so that the choice is deterministic.
type queue []*ranked

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].value > q[j].value || q[i].value == q[j].value && q[i].order < q[j].order
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*ranked)) }
func (q *queue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}
