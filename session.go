package skald

import (
	"encoding/json"
	"time"
)

// Session is the state of one session. All of it lives in the store; a strategy keeps nothing of its own (C-4).
type Session struct {
	Ref      SessionRef
	Agent    string // the agent that owns the session
	Key      string // the host's session key, or ""
	HostID   string // the host's session id, or ""
	Audience Audience
	Created  time.Time
	Updated  time.Time

	LastSeq   int64 // sequence of the newest turn; 0 when empty
	Epoch     int   // current epoch, from 1
	EpochFrom int64 // first sequence of the current epoch
	// EpochPosition is the host position of the current epoch's first message; 0 unknown. A later delivery with a smaller
	// position belongs to the epoch before.
	EpochPosition int64
	Lifecycle     string // the host's lifecycle revision that began the epoch

	// Open turns are those since the last commit. Only PurposeTalk turns count.
	OpenFrom      int64 // first sequence that no archive covers
	OpenTokens    int
	OpenUserTurns int
	OpenSince     time.Time // time of the first counted open turn
	LastCommit    time.Time
	CommitFails   int       // commits failed in a row
	RetryAt       time.Time // no automatic commit before
	Attention     string    // what needs a person's attention, or ""
	Archives      int       // index of the newest archive; 0 when there is none

	// What the model sees. Turns of the epoch up to Published are replaced by Head.
	Published   int64        // last sequence that summaries replaced; EpochFrom-1 when none
	Publication int          // number of publications in all; part of the context projection's epoch
	Head        string       // text of the first user-role message; set at the epoch's start and by publications only
	Compactions []Compaction // publications so far, oldest first; the newest 1,000
	HeadSet     bool         // Head was settled for this epoch (it may be empty)

	Budget         int       // effective token budget of the last turn
	ReportedInput  int       // tokens of input that the provider last reported, 0 after a publication
	ViewTokens     int       // tokens of the last assembled view
	Unviewed       int       // tokens of the turns stored since
	LastCommitTurn time.Time // when a turn was last stored for the host

	Cursor     json.RawMessage // the host's transcript cursor
	Parent     string          // URI of the parent session's turns, for a sub-agent
	Policy     json.RawMessage // auto-commit policy of sessions written through /api/v1
	Meta       json.RawMessage // transport data of /api/v1 sessions
	UsedCount  int             // contexts reported used
	SkillCount int
}

// Compaction is one publication: turns after it were said to a model that was shown a summary (000-105).
type Compaction struct {
	After      int64  // newest turn at the time
	Checkpoint string // id of the checkpoint of the newest archive that was published; "" when it was still being made
}
