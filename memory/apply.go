package memory

import (
	"slices"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive/sentence"
)

// Likeness of two statements, as the share of weight that they have in common.
const (
	sameStatement = 0.85 // says the same
	sameSubject   = 0.6  // says more about the same
	changedWith   = 0.34 // with a word of change: is its change
)

// Apply puts candidates into the store within the caller's transaction: a statement that is there already gets a further source, one
// that changes an older one supersedes it, and nothing else is touched (MEM-01, MEM-07, MEM-09). Candidates see each other. Those
// that must not become a memory (I10) are dropped.
func Apply(tx skald.Tx, scopes Scopes, candidates []Candidate, archive int, now time.Time) (Diff, error) {
	b := &book{tx: tx, scopes: scopes, archive: archive, now: now, known: map[kind][]*skald.Memory{}}
	for _, c := range candidates {
		if !allowed(c) {
			b.diff.Skipped++
			continue
		}
		if _, err := b.apply(c); err != nil {
			return b.diff, err
		}
	}
	return b.diff, nil
}

// allowed is who may say what: user memories come from the owner, agent memories from owner or agent.
func allowed(c Candidate) bool {
	if strings.TrimSpace(c.Text) == "" {
		return false
	}
	return c.Origin == skald.OriginOwner || c.Origin == skald.OriginAgent && (c.Type.OfAgent() || c.Explicit && c.Type != profile && c.Type != preference)
}

// apply finds the candidate's place: in the memory that says the same, in its slot, as the change of another, or on its own.
func (b *book) apply(c Candidate) (*skald.Memory, error) {
	list, err := b.current(c.Type)
	if err != nil {
		return nil, err
	}
	for _, m := range list {
		if m.Audience == c.Audience && says(m, c.Text) {
			return m, b.repeat(m, c)
		}
	}
	if sl, ok := slotOf(c.Text); ok {
		if m, done, err := b.slotted(c, sl); done || err != nil {
			return m, err
		}
	} else if m := b.alike(list, c); m != nil {
		return m, b.merge(m, c)
	}
	return b.place(c)
}

// place adds a candidate that no memory says yet, and ends what it changes.
func (b *book) place(c Candidate) (*skald.Memory, error) {
	old, err := b.changed(c)
	if err != nil {
		return nil, err
	}
	m, err := b.enter(c)
	if err != nil {
		return nil, err
	}
	for _, o := range slices.Backward(old) { // the last line of a memory first, so that the others keep their places
		if err := b.retire(o, m, c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// enter adds a candidate: the profile is one memory with a line for each statement, other statements are memories of their own.
func (b *book) enter(c Candidate) (*skald.Memory, error) {
	if c.Type == profile && c.ValidTo.IsZero() {
		for _, m := range b.known[profile] {
			if m.URI.Name() == "profile.md" && m.Audience == c.Audience {
				return m, b.rewrite(m, append(parseBody(m.Text), newLine(c)), c)
			}
		}
	}
	return b.add(c)
}

// says reports whether a memory states a sentence already.
func says(m *skald.Memory, text string) bool {
	n := normal(text)
	return slices.ContainsFunc(parseBody(m.Text), func(l line) bool { return normal(l.text) == n })
}

// alike finds a memory that says nearly the same, with the same names and numbers.
func (b *book) alike(list []*skald.Memory, c Candidate) *skald.Memory {
	if change(c.Text) || c.Type == profile {
		return nil
	}
	f := weigh(c.Text)
	var best *skald.Memory
	like := sameSubject
	for _, m := range list {
		if m.Audience != c.Audience || c.Type == event && !sameDay(m.ValidFrom, c.valid()) {
			continue
		}
		for _, l := range parseBody(m.Text) {
			g := weigh(l.text)
			if negative(l.text) != negative(c.Text) {
				continue
			}
			if o := sentence.Overlap(f, g); o > like && (len(f) > 2 && len(g) > 2 || o >= sameStatement) {
				best, like = m, o
			}
		}
	}
	return best
}

// merge adds a like statement to a memory: as a further source when it tells nothing new, else as a further line, in whose favour
// lines that it contains go.
func (b *book) merge(m *skald.Memory, c Candidate) error {
	f := weigh(c.Text)
	lines := parseBody(m.Text)
	known := map[string]float64{}
	for _, l := range lines {
		for k, w := range weigh(l.text) {
			known[k] = w
		}
	}
	if !tellsNew(f, known) {
		return b.repeat(m, c)
	}
	lines = slices.DeleteFunc(lines, func(l line) bool { return !tellsNew(weigh(l.text), f) })
	return b.rewrite(m, append(lines, newLine(c)), c)
}

// tellsNew reports whether f has a name, number or identifier, or several words, that known lacks.
func tellsNew(f, known map[string]float64) bool {
	missing := 0.0
	for k, w := range f {
		if _, ok := known[k]; !ok {
			missing += w
		}
	}
	return missing >= 0.3
}

func change(s string) bool   { return cueChange.In(strings.ToLower(s)) }
func negative(s string) bool { return cueNegative.In(strings.ToLower(s)) }

func sameDay(a, b time.Time) bool {
	return a.UTC().Format(time.DateOnly) == b.UTC().Format(time.DateOnly)
}

func lang(s string) string { return sentence.Lang(s) }
