package memory

import (
	"slices"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive/sentence"
)

// stale is a statement that a newer one ended: a whole memory, or one line of the profile.
type stale struct {
	memory *skald.Memory
	line   int
}

// slotted handles a statement that has a slot. done is false when the slot is free: the candidate is then placed as usual.
func (b *book) slotted(c Candidate, sl slot) (m *skald.Memory, done bool, err error) {
	for _, t := range []kind{profile, entity, preference, event} {
		list, err := b.current(t)
		if err != nil {
			return nil, true, err
		}
		for _, m := range list {
			if m.Audience != c.Audience {
				continue
			}
			for i, l := range parseBody(m.Text) {
				old, ok := slotOf(l.text)
				if !ok || old.key != sl.key || old.past {
					continue
				}
				m, err := b.meet(c, sl, stale{m, i}, old)
				return m, true, err
			}
		}
	}
	return nil, false, nil
}

// meet brings a statement together with the current one of its slot.
func (b *book) meet(c Candidate, sl slot, at stale, old slot) (*skald.Memory, error) {
	switch {
	case sl.list != nil:
		return at.memory, b.list(c, sl, at.memory)
	case sl.past || !c.ValidTo.IsZero():
		return b.add(c) // of a time that is over: it ends nothing
	case sl.value == old.value:
		return at.memory, b.repeat(at.memory, c)
	case c.valid().Before(saidAt(at)): // told late, true earlier
		c.ValidTo = saidAt(at)
		m, err := b.add(c)
		if err == nil {
			err = b.supersede(m, at.memory.URI, c.ValidTo)
		}
		return m, err
	}
	m, err := b.enter(c)
	if err == nil {
		err = b.retire(at, m, c)
	}
	return m, err
}

// list adds names to a list of people: nothing when all are known, else the statement, in the place of those whose names it has
// all (MEM-09).
func (b *book) list(c Candidate, sl slot, m *skald.Memory) error {
	lines := parseBody(m.Text)
	known := map[string]bool{}
	for _, l := range lines {
		if old, ok := slotOf(l.text); ok {
			for _, n := range old.list {
				known[n] = true
			}
		}
	}
	if !slices.ContainsFunc(sl.list, func(n string) bool { return !known[n] }) {
		return b.repeat(m, c)
	}
	lines = slices.DeleteFunc(lines, func(l line) bool {
		old, ok := slotOf(l.text)
		return ok && !slices.ContainsFunc(old.list, func(n string) bool { return !slices.Contains(sl.list, n) })
	})
	return b.rewrite(m, append(lines, newLine(c)), c)
}

// changed finds what a statement without slot changes: with a word of change, statements that share much with it; without, likes
// and rules that say the opposite.
func (b *book) changed(c Candidate) ([]stale, error) {
	if _, slotted := slotOf(c.Text); slotted || !c.ValidTo.IsZero() || c.Type == caseOf {
		return nil, nil
	}
	f, changes := weigh(c.Text), change(c.Text)
	var out []stale
	for _, t := range related(c.Type) {
		list, err := b.current(t)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			if m.Audience != c.Audience {
				continue
			}
			for i, l := range parseBody(m.Text) {
				o := shared(f, weigh(l.text))
				opposite := t == c.Type && t == preference && negative(l.text) != negative(c.Text) && o >= 0.7
				if changes && o >= changedWith || opposite {
					out = append(out, stale{m, i})
				}
			}
		}
	}
	return out, nil
}

// related are the types whose memories a statement of a type may end.
func related(t kind) []kind {
	switch t {
	case preference, pattern:
		return []kind{preference, pattern}
	case event, entity:
		return []kind{event, entity}
	}
	return []kind{t}
}

// shared is the likeness of two statements, without the words of liking and change themselves.
func shared(a, b map[string]float64) float64 {
	return sentence.Overlap(without(a), without(b))
}

func without(f map[string]float64) map[string]float64 {
	out := map[string]float64{}
	for k, w := range f {
		if !commonWords[k] {
			out[k] = w
		}
	}
	return out
}

var commonWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`prefer like love hate dislike enjoy longer anymore instead rather always never remember decided decide switch switched
		change changed moved now more any from than want usually stopped replaced better much really currently these days
		喜欢 不再 改用 改成 改为 换成 现在 以后 决定 更喜 讨厌 习惯 尽量 再用 欢用 在改 在用 再喝 再吃`) {
		m[w] = true
	}
	return m
}()

// retire ends a statement: a memory is superseded; a line leaves the profile and is kept as a superseded memory of its own.
func (b *book) retire(old stale, by *skald.Memory, c Candidate) error {
	lines := parseBody(old.memory.Text)
	if old.memory != by && len(lines) < 2 {
		return b.supersede(old.memory, by.URI, c.valid())
	}
	if old.line >= len(lines) {
		return nil
	}
	l := lines[old.line]
	past := Candidate{Type: old.memory.Type, Text: l.text, Speaker: l.speaker, Said: saidAt(old), ValidFrom: saidAt(old), ValidTo: c.valid(),
		Origin: old.memory.Origin, Audience: old.memory.Audience, Explicit: old.memory.Explicit}
	m, err := b.add(past)
	if err != nil {
		return err
	}
	b.diff.Added = b.diff.Added[:len(b.diff.Added)-1] // nothing new was said
	m.Sources, m.Session = slices.Clone(old.memory.Sources), old.memory.Session
	if err := b.supersede(m, by.URI, c.valid()); err != nil {
		return err
	}
	old.memory.Text, old.memory.Updated = body(slices.Delete(lines, old.line, old.line+1)), b.now
	return save(b.tx, *old.memory)
}

// saidAt is the day of a statement.
func saidAt(s stale) time.Time {
	lines := parseBody(s.memory.Text)
	if len(lines) > 1 && s.line < len(lines) {
		if t, err := time.Parse(time.DateOnly, lines[s.line].said); err == nil {
			return t
		}
	}
	return s.memory.ValidFrom
}
