package memory

import (
	"time"

	"github.com/skald-engine/skald"
)

type kind = skald.MemoryType

const (
	none       kind = ""
	profile         = skald.MemoryProfile
	preference      = skald.MemoryPreference
	entity          = skald.MemoryEntity
	event           = skald.MemoryEvent
	caseOf          = skald.MemoryCase
	pattern         = skald.MemoryPattern
)

// anyDay is a day to resolve against where only the presence of a date matters.
var anyDay = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
