package memory

import (
	"strings"
	"time"

	"github.com/skald-engine/skald"
)

// Folders are the types that a memory can be written to by its URI: those that Skald extracts, and those of OpenViking beside them.
var Folders = []skald.MemoryType{profile, preference, entity, event, caseOf, pattern, "identity", "soul", "trajectories", "experiences", "tools", "skills"}

// Write stores text under a URI, as an explicit memory of its type. One that stands there keeps its sources and its counts, and is valid
// again when it was superseded. KindInvalid without text.
func Write(tx skald.Tx, m skald.Memory, now time.Time) (skald.Memory, error) {
	if strings.TrimSpace(m.Text) == "" {
		return m, skald.Invalid("memory.write", "content", "a memory has text: delete it instead")
	}
	switch old, err := tx.Memory(m.Scope, m.URI); {
	case err == nil:
		text := m.Text
		m = old
		m.Text, m.Superseded, m.ValidTo = text, "", time.Time{}
	case skald.KindOf(err) != skald.KindNotFound:
		return m, err
	default:
		m.Created, m.Origin, m.Audience = now, skald.OriginOwner, skald.AudienceDirect
	}
	m.Updated, m.Explicit, m.Lang = now, true, lang(m.Text)
	return m, save(tx, m)
}

// Index makes the documents of a memory anew.
func Index(tx skald.Tx, m skald.Memory) error { return save(tx, m) }
