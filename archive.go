package skald

import (
	"slices"
	"time"
)

// ArchiveState is the state of an archive's phase 2. The archive is readable in every state (000-086).
type ArchiveState string

// The states.
const (
	ArchiveClosed  ArchiveState = "closed"  // phase 1 done: turns are archived, summary and memories are being made
	ArchiveDone    ArchiveState = "done"    // summary and memories are written
	ArchiveFailing ArchiveState = "failing" // a step failed and will be tried again
	ArchiveFailed  ArchiveState = "failed"  // bounded attempts are used up: needs attention
)

// Archive is a closed run of a session's turns with its abstract (L0) and overview (L1); L2 are the turns themselves.
type Archive struct {
	Session  SessionRef
	Index    int // 1 and up
	Epoch    int
	From, To int64  // sequences, inclusive
	Cause    string // budget, tokens, turns, interval, compact, reset, stop, api
	State    ArchiveState
	Created  time.Time
	Updated  time.Time
	Abstract string    // one sentence
	Overview []Section // fixed sections, lines with sources
	Tokens   int       // of the rendered overview
	Fallback bool      // the builtin summariser stood in for a model
	Memories []URI     // produced by this archive's extraction
	Steps    []string  // steps of phase 2 that are done
	Error    string    // of the last failed step
	Diff     string    // memory_diff.json

	Extraction Extraction // what its commit asked of the extraction
	Uses       int        // memories that were reported used since the archive before
}

// Extraction says which memories may be made of an archive. The zero value asks for all of them.
type Extraction struct {
	Off   bool         // none
	Types []MemoryType // these only; empty: all
	Tags  []string     // "key=value", given to the events
}

// Allows reports whether memories of a type may be made.
func (x Extraction) Allows(t MemoryType) bool {
	return !x.Off && (len(x.Types) == 0 || slices.Contains(x.Types, t))
}

// Section is a titled list of lines of an overview.
type Section struct {
	Title string `json:"title"`
	Lines []Line `json:"lines"`
}

// Line is one line of an overview. It always resolves to its turns (I5).
type Line struct {
	Text    string    `json:"text"`
	Time    time.Time `json:"time"`
	Speaker string    `json:"speaker"`
	Status  string    `json:"status,omitempty"` // proposed, agreed, done, reversed by …
	From    int64     `json:"from"`             // sequences of the turns behind it
	To      int64     `json:"to"`
}

// CompactCheckpoint says what one commit covered and produced (000-111).
type CompactCheckpoint struct {
	CheckpointID        string    `json:"checkpoint_id"`
	SessionID           string    `json:"session_id"`
	CommittedAt         string    `json:"committed_at"` // RFC 3339, UTC
	ArchiveIndex        int       `json:"archive_index"`
	SourceTurnRange     TurnRange `json:"source_turn_range"`
	SummaryURI          string    `json:"summary_uri,omitempty"`
	ExtractedMemoryURIs []string  `json:"extracted_memory_uris"`
}

// TurnRange is a run of sequences, both ends included.
type TurnRange struct {
	StartSequence int64 `json:"start_sequence"`
	EndSequence   int64 `json:"end_sequence"`
}
