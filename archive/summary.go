package archive

import (
	"context"
	"time"

	"github.com/skald-engine/skald"
)

// The titles of an overview's sections, in their order. A section without lines is not written.
const (
	SectionGoals     = "Goals and current state"
	SectionDecisions = "Decisions"
	SectionFacts     = "Facts and identifiers"
	SectionTasks     = "Open tasks and instructions"
	SectionPeople    = "People and preferences"
	SectionFiles     = "Files and artefacts"
	SectionTools     = "Tool outcomes and errors"
)

// Titles lists the section titles in their order.
var Titles = []string{SectionGoals, SectionDecisions, SectionFacts, SectionTasks, SectionPeople, SectionFiles, SectionTools}

// The statuses of a line. StatusReversed may be followed by " by [seq]".
const (
	StatusOpen     = "open" // a question without an answer
	StatusProposed = "proposed"
	StatusAgreed   = "agreed"
	StatusDone     = "done"
	StatusReversed = "reversed"
)

// Summariser makes an archive's summary. A model's may fail or answer nonsense; the runner checks every answer and lets Builtin
// stand in (CMP-07).
type Summariser interface {
	Summarise(ctx context.Context, in Input) (Summary, error)
}

// Input is what a summary is made of.
type Input struct {
	Turns     []Turn
	Previous  []skald.Section // merged overview of the archives before, of the same epoch
	Now       time.Time
	MaxTokens int // upper bound of the rendered overview; 0: Size of the turns
}

// Summary is L0 and L1 of an archive.
type Summary struct {
	Abstract string // one sentence
	Overview []skald.Section
}

// Extractor makes memories of an archive's turns within the caller's transaction. diff is JSON (memory_diff.json). It is called
// once for each part of a long archive (ARC-05).
type Extractor interface {
	Extract(ctx context.Context, tx skald.Tx, ref skald.SessionRef, agent string, a skald.Archive, turns []Turn, now time.Time) (uris []skald.URI, diff []byte, err error)
}

// Size is how many tokens a rendered overview of source tokens may take: about an eighth, from 400 (or half of a small source) to 1,500.
func Size(source int) int { return min(max(source/8, min(400, source/2), 200), 1500) }
