package memory

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/skald-engine/skald"
)

// book is what is known while a batch is applied: the current memories of each type, with the batch's own (MEM-01).
type book struct {
	tx      skald.Tx
	scopes  Scopes
	archive int
	now     time.Time
	known   map[kind][]*skald.Memory
	diff    Diff
}

// current lists the valid memories of a type.
func (b *book) current(t kind) ([]*skald.Memory, error) {
	if list, ok := b.known[t]; ok {
		return list, nil
	}
	found, err := b.tx.Memories(skald.MemoryQuery{Scopes: []skald.Scope{b.scopes.of(t)}, Types: []skald.MemoryType{t}, Current: true})
	if err != nil {
		return nil, err
	}
	list := make([]*skald.Memory, 0, len(found))
	for i := range found {
		if found[i].Superseded == "" {
			list = append(list, &found[i])
		}
	}
	b.known[t] = list
	return list, nil
}

// add stores a candidate as a memory of its own.
func (b *book) add(c Candidate) (*skald.Memory, error) {
	m := &skald.Memory{Scope: b.scopes.of(c.Type), Type: c.Type, Text: body([]line{newLine(c)}), Created: b.now, Updated: b.now,
		ValidFrom: c.valid(), ValidTo: c.ValidTo, Origin: c.Origin, Audience: c.Audience, Session: c.Session.ID,
		Explicit: c.Explicit, Archive: b.archive, Lang: lang(c.Text)}
	if c.Explicit {
		m.Archive = 0
	}
	tag(m, c)
	source(m, c)
	for salt := 0; ; salt++ {
		m.URI = name(m.Scope, c, salt)
		_, err := b.tx.Memory(m.Scope, m.URI)
		if skald.KindOf(err) == skald.KindNotFound {
			break
		}
		if err != nil {
			return nil, err
		}
		if c.Type == profile { // another audience's profile holds the name: this statement gets a file of its own
			p := c
			p.Type = preference
			m.URI = m.Scope.RootURI().Join("memories", string(profile), name(m.Scope, p, salt).Name())
			if _, err := b.tx.Memory(m.Scope, m.URI); skald.KindOf(err) == skald.KindNotFound {
				break
			}
		}
	}
	if err := save(b.tx, *m); err != nil {
		return nil, err
	}
	b.known[c.Type] = append(b.known[c.Type], m)
	b.diff.Added = append(b.diff.Added, Change{m.URI, m.Text})
	return m, nil
}

// rewrite gives a memory new lines and the candidate's source.
func (b *book) rewrite(m *skald.Memory, lines []line, c Candidate) error {
	m.Text, m.Updated = body(lines), b.now
	m.Explicit = m.Explicit || c.Explicit
	tag(m, c)
	source(m, c)
	if err := save(b.tx, *m); err != nil {
		return err
	}
	b.diff.Updated = append(b.diff.Updated, Change{m.URI, m.Text})
	return nil
}

// repeat adds the source of a statement that is stored already.
func (b *book) repeat(m *skald.Memory, c Candidate) error {
	b.diff.Skipped++
	before := len(m.Sources)
	source(m, c)
	if len(m.Sources) == before && (m.Explicit || !c.Explicit) {
		return nil
	}
	m.Explicit = m.Explicit || c.Explicit
	return b.tx.PutMemory(*m)
}

// supersede ends a memory's validity for the benefit of another. It stays, marked.
func (b *book) supersede(old *skald.Memory, by skald.URI, at time.Time) error {
	old.Superseded, old.Updated = by, b.now
	if old.ValidTo.IsZero() || old.ValidTo.After(at) {
		old.ValidTo = at
	}
	if err := b.tx.PutMemory(*old); err != nil {
		return err
	}
	b.known[old.Type] = slices.DeleteFunc(b.known[old.Type], func(m *skald.Memory) bool { return m == old })
	b.diff.Superseded = append(b.diff.Superseded, Superseded{old.URI, by})
	return nil
}

// tag gives a memory the candidate's tags, of which the last of a key counts.
func tag(m *skald.Memory, c Candidate) {
	for _, t := range c.Tags {
		key, _, _ := strings.Cut(t, "=")
		m.Tags = slices.DeleteFunc(slices.Clone(m.Tags), func(old string) bool { return strings.HasPrefix(old, key+"=") })
		m.Tags = append(m.Tags, t)
	}
	slices.Sort(m.Tags)
}

// source adds the candidate's turns to a memory's sources, in order, each once.
func source(m *skald.Memory, c Candidate) {
	if c.From == 0 {
		return
	}
	for _, s := range m.Sources {
		if s.Session == c.Session && s.Deleted.IsZero() && s.From <= c.From && c.To <= s.To {
			return
		}
	}
	m.Sources = append(m.Sources, skald.MemorySource{Session: c.Session, From: c.From, To: c.To})
	slices.SortStableFunc(m.Sources, func(a, b skald.MemorySource) int {
		if a.Session != b.Session {
			return 0
		}
		return cmp.Compare(a.From, b.From)
	})
	if m.Session == "" {
		m.Session = c.Session.ID
	}
}
