package evidence

import (
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Superseded is about questions whose answer has changed: category knowledge-update, with two pieces of evidence or more. The oldest piece
// has the old value; of the others the one that shares most with the answer, of equals the latest, has the newest. What counts is the
// questions in whose context the old value stands.
type Superseded struct {
	Questions int     `json:"questions"`
	Old       int     `json:"old_shown"`
	Newest    int     `json:"newest_shown_too"` // of those
	Marked    int     `json:"old_marked"`       // of those with the old value: every item that holds it is marked superseded
	Held      int     `json:"both"`
	Share     float64 `json:"share"` // of both, 1 where no old value is shown
}

const updateCategory = "knowledge-update"

// supersede takes up a question.
func (t *tally) supersede(p *player, q Question, a answer) {
	if q.Category != updateCategory || len(q.Evidence) < 2 || a.tokens() > t.Budget {
		return
	}
	if t.Superseded == nil {
		t.Superseded = &Superseded{Share: 1}
	}
	s := t.Superseded
	s.Questions++
	old, newest := p.values(q)
	wanted := wantedWords(q)
	shown, marked := holds(a.context, p.texts[old], wanted, p.words)
	if shown {
		s.Old++
		after := there(fold(p.texts[newest]), wanted, p.words, views(a.context))
		if after {
			s.Newest++
		}
		if marked {
			s.Marked++
		}
		if after && marked {
			s.Held++
		}
		s.Share = float64(s.Held) / float64(s.Old)
	}
}

// values are the messages with the old and the newest value.
func (p *player) values(q Question) (old, newest string) {
	list := slices.Clone(q.Evidence)
	slices.SortStableFunc(list, func(a, b string) int { return p.order[a] - p.order[b] })
	best := math.Inf(-1)
	for _, id := range list[1:] {
		if v := p.words.common(p.texts[id], set(stems(q.Answer))); v >= best {
			best, newest = v, id
		}
	}
	return list[0], newest
}

// common is how much a text tells of the wanted words, rare ones counting more.
func (w words) common(text string, wanted map[string]bool) (sum float64) {
	for _, word := range slices.Sorted(maps.Keys(set(stems(text)))) {
		if wanted[word] {
			sum += w.weight(word)
		}
	}
	return sum
}

var mark = regexp.MustCompile(`(?i)\[[^\]\n]*superseded`)

// holds reports whether an item of the context holds a message, and whether each of those that do is marked superseded before its words.
func holds(context, text string, wanted map[string]bool, w words) (shown, marked bool) {
	marked = true
	for _, item := range items(context) {
		if !there(fold(text), wanted, w, []string{fold(item)}) {
			continue
		}
		shown = true
		at := mark.FindStringIndex(item)
		marked = marked && at != nil && !strings.Contains(item[:at[0]], beginning(text))
	}
	return shown, shown && marked
}

// beginning is how a text begins.
func beginning(text string) string {
	r := []rune(fold(text))
	return string(r[:min(len(r), 20)])
}

// items are the single things that a context shows: the strings of the JSON in it, or its lines.
func items(context string) (list []string) {
	for line := range strings.Lines(context) {
		var v any
		if json.Unmarshal([]byte(line), &v) == nil {
			list = append(list, leaves(v)...)
		} else {
			list = append(list, line)
		}
	}
	return list
}

func leaves(v any) (list []string) {
	switch v := v.(type) {
	case string:
		list = append(list, v)
	case []any:
		for _, x := range v {
			list = append(list, leaves(x)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			list = append(list, leaves(v[key])...)
		}
	}
	return list
}
