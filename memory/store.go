package memory

import (
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive/sentence"
)

// Note is what memory_store asks to keep.
type Note struct {
	Text     string
	Type     skald.MemoryType // "": guessed from the text
	Origin   skald.Origin     // on whose word; "": the owner's
	Audience skald.Audience   // "": direct
	Speaker  string
	Session  skald.SessionRef
	From, To int64 // the exchange that asked for it, when known
}

// Store keeps an explicit note within the caller's transaction and returns the memory that says it: the one that is there already
// when the same was stored before, by this transaction or another one. KindInvalid when there is no text, or when somebody else
// than the owner states profile or preferences (I10).
func Store(tx skald.Tx, scopes Scopes, n Note, now time.Time) (skald.Memory, error) {
	const op = "memory.store"
	text := oneLine(n.Text)
	if sentence.Letters(text) == 0 {
		return skald.Memory{}, skald.Invalid(op, "text", "is empty")
	}
	c := Candidate{Type: n.Type, Text: text, Said: now, Speaker: n.Speaker, Origin: n.Origin, Audience: n.Audience, Explicit: true,
		Session: n.Session, From: n.From, To: max(n.To, n.From)}
	c.defaults()
	if !known(c.Type) {
		return skald.Memory{}, skald.Invalid(op, "type", "%q is not a type of memory", n.Type)
	}
	if !allowed(c) {
		return skald.Memory{}, skald.Invalid(op, "type", "%s memories come from the owner only", c.Type)
	}
	b := &book{tx: tx, scopes: scopes, now: now, known: map[kind][]*skald.Memory{}}
	m, err := b.apply(c)
	if err != nil {
		return skald.Memory{}, err
	}
	return *m, nil
}

// defaults fills in what the note left open.
func (c *Candidate) defaults() {
	if c.Origin == "" {
		c.Origin = skald.OriginOwner
	}
	if c.Audience == "" {
		c.Audience = skald.AudienceDirect
	}
	c.Type = skald.MemoryType(strings.ToLower(string(c.Type)))
	if c.Type == none {
		if c.Type = typed(c.Text); c.Type == none || !allowed(*c) {
			c.Type = entity
		}
	}
	if day, _, ok := resolve(c.Text, c.Said); ok && c.Type == event {
		c.ValidFrom, c.Dated = day, true
	}
}

func known(t kind) bool {
	switch t {
	case profile, preference, entity, event, caseOf, pattern:
		return true
	}
	return false
}
