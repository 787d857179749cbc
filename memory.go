package skald

import (
	"slices"
	"time"
)

// MemoryType is the type of a memory: a folder below memories/.
type MemoryType string

// The types (000-094, 000-095). The first four belong to the user, the last two to the agent.
const (
	MemoryProfile    MemoryType = "profile"
	MemoryPreference MemoryType = "preferences"
	MemoryEntity     MemoryType = "entities"
	MemoryEvent      MemoryType = "events"
	MemoryCase       MemoryType = "cases"
	MemoryPattern    MemoryType = "patterns"
)

// OfAgent reports whether memories of this type live in the agent's scope.
func (t MemoryType) OfAgent() bool { return t == MemoryCase || t == MemoryPattern }

// Memory is a long-lived note extracted from turns, or stored on request.
type Memory struct {
	URI        URI // …/memories/<type>/<name>.md; the profile is …/memories/profile.md
	Scope      Scope
	Type       MemoryType
	Text       string // Markdown body
	Created    time.Time
	Updated    time.Time
	ValidFrom  time.Time // zero: unknown
	ValidTo    time.Time // zero: still valid
	Origin     Origin
	Audience   Audience
	Session    string // session id of the first source
	Sources    []MemorySource
	Superseded URI  // the memory that replaced this one, or ""
	Explicit   bool // stored by memory_store
	Archive    int  // archive whose extraction produced it, 0 for explicit ones
	Uses       int
	Used       time.Time // when a use was reported last; zero: never
	Lang       string    // "zh" or "en": language of the text
	Tags       []string  // "key=value"
}

// Readable are the sources whose turns can be read: those of sessions that were not deleted.
func (m Memory) Readable() []MemorySource {
	return slices.DeleteFunc(slices.Clone(m.Sources), func(s MemorySource) bool { return !s.Deleted.IsZero() })
}

// MemorySource is a run of turns behind a memory (000-016, 000-150).
type MemorySource struct {
	Session SessionRef `json:"session"`
	From    int64      `json:"from"`
	To      int64      `json:"to"`
	// Deleted is when the session was deleted: its turns are gone, and the memory stays. Zero while the source can be read. No query by
	// source finds such a one, since another session may have taken the id.
	Deleted time.Time `json:"deleted,omitzero"`
}
