package recall

import (
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/index/analyze"
)

// nearCopy is the share of common words above which two texts say the same.
const nearCopy = 0.85

// dedupe keeps one of several candidates that say the same: equal texts, near copies (REC-04), and a memory or overview line beside the
// turn it was made of. The better one stays; of equals the newer.
func (c *course) dedupe() {
	c.preferTurns()
	texts := map[string]bool{}
	turns := map[turnKey]bool{}
	var sets []map[string]bool
	notes := c.hasNotes()
	for _, k := range c.kept() {
		folded := strings.ToLower(strings.Join(strings.Fields(k.text), " "))
		if texts[folded] {
			k.drop("the same text")
			continue
		}
		if k.turn == nil && covered(k.sources, turns) {
			k.drop("its source is shown")
			continue
		}
		if k.turn != nil && turns[turnKey{keyOf(k).ref, -k.doc.Seq}] {
			k.drop("a memory of it is shown")
			continue
		}
		if notes {
			set := termSet(k.text)
			if k.turn == nil && copied(set, sets) {
				k.drop("nearly the same text")
				continue
			}
			sets = append(sets, set)
		}
		texts[folded] = true
		c.remember(k, turns)
	}
}

// ownWords is the share of a note's score from which the turn that it was made of is shown instead: what was really said, with its date,
// beside its neighbours. A note stays where it says more than the turn, or stands for several.
const ownWords = 0.6

// preferTurns drops notes beside the turn that they were made of; the turn gets the better score of both.
func (c *course) preferTurns() {
	if !c.hasNotes() {
		return
	}
	turns := map[turnKey]*candidate{}
	for _, k := range c.kept() {
		if key := keyOf(k); k.turn != nil && turns[key] == nil {
			turns[key] = k
		}
	}
	for _, k := range c.kept() {
		if k.turn != nil || len(k.sources) != 1 || k.sources[0].To-k.sources[0].From > 1 {
			continue
		}
		var best *candidate
		for seq := k.sources[0].From; seq <= k.sources[0].To; seq++ {
			if t := turns[turnKey{k.sources[0].Session, seq}]; t != nil && (best == nil || t.base > best.base) {
				best = t
			}
		}
		if best == nil || best.base < ownWords*k.base {
			continue
		}
		k.drop("its turn is shown")
		if k.score > best.score && !k.superseded {
			best.parts["note"], best.score = round(k.score), k.score
		}
	}
	c.order()
}

// hasNotes reports whether anything but turns is among the candidates: only those can be near copies.
func (c *course) hasNotes() bool {
	for _, k := range c.found {
		if k.why == "" && k.turn == nil {
			return true
		}
	}
	return false
}

// remember notes the turns that a kept candidate stands for: shown ones as they are, sources of memories with a negative sequence.
func (c *course) remember(k *candidate, turns map[turnKey]bool) {
	if k.turn != nil {
		turns[keyOf(k)] = true
		return
	}
	for _, s := range k.sources {
		if s.To-s.From > 1 && k.doc.Kind == skald.DocArchive {
			continue // a line over a longer run is no copy of each of its turns
		}
		for seq := s.From; seq <= s.To && seq-s.From < 2; seq++ {
			turns[turnKey{s.Session, -seq}] = true
		}
	}
}

func covered(sources []skald.MemorySource, turns map[turnKey]bool) bool {
	if len(sources) == 0 {
		return false
	}
	for _, s := range sources {
		for seq := s.From; seq <= s.To; seq++ {
			if turns[turnKey{s.Session, seq}] {
				return true
			}
			if seq-s.From > 8 {
				return false
			}
		}
	}
	return false
}

func termSet(text string) map[string]bool {
	m := map[string]bool{}
	for _, t := range analyze.Query(text) {
		m[t] = true
	}
	return m
}

// copied reports whether a text has nearly the words of one before it; a difference in a number is a difference.
func copied(set map[string]bool, sets []map[string]bool) bool {
	if len(set) < 3 {
		return false
	}
next:
	for _, other := range sets {
		common := 0
		for t := range set {
			if other[t] {
				common++
			} else if exact(t) || t[0] >= '0' && t[0] <= '9' {
				continue next
			}
		}
		if float64(common) >= nearCopy*float64(len(set)+len(other)-common) {
			return true
		}
	}
	return false
}
