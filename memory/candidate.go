package memory

import (
	"time"

	"github.com/skald-engine/skald"
)

// Candidate is a statement that may become a memory.
type Candidate struct {
	Type      skald.MemoryType
	Text      string // the sentence, as it was said
	Said      time.Time
	Speaker   string
	ValidFrom time.Time // when it became or becomes true; the event's day; zero: when it was said
	ValidTo   time.Time // zero: still true
	Dated     bool      // ValidFrom was named in the sentence
	Origin    skald.Origin
	Audience  skald.Audience
	Explicit  bool
	Tags      []string // "key=value"
	Session   skald.SessionRef
	From, To  int64 // sequences of the source turns; 0: none known
}

// Scopes are where memories go: the user's types into User, cases and patterns into Agent.
type Scopes struct{ User, Agent skald.Scope }

// ScopesOf are the scopes of an identity.
func ScopesOf(p skald.Policy, id skald.Identity) Scopes {
	return Scopes{User: p.UserScope(id), Agent: p.AgentScope(id)}
}

func (s Scopes) of(t skald.MemoryType) skald.Scope {
	if t.OfAgent() {
		return s.Agent
	}
	return s.User
}

// valid is the time from which a candidate's statement holds.
func (c Candidate) valid() time.Time {
	if c.ValidFrom.IsZero() {
		return c.Said
	}
	return c.ValidFrom
}
