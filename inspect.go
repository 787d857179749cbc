package skald

import (
	"context"
	"time"
)

// Inspector is what people and tools ask of an engine beside the lifecycle. The engine implements it in process, client.Client
// over HTTP; the CLI works on either.
type Inspector interface {
	// Status sums up the store, the jobs, the sessions that need attention.
	Status(ctx context.Context, id Identity) (Status, error)
	// ListSessions lists the identity's sessions, newest first. limit 0: all.
	ListSessions(ctx context.Context, id Identity, limit int) ([]SessionInfo, error)
	// ListTurns returns the turns from..to (0: all) of a session, with their verbatim bytes.
	ListTurns(ctx context.Context, id Identity, session string, from, to int64) ([]TurnInfo, error)
	// Explain returns the packet behind the assemble at or before seq (0: the newest).
	Explain(ctx context.Context, id Identity, session string, seq int64) (Explanation, error)
	// Expand leads from a summary, archive, turn or memory URI to its source turns (000-121 to 000-123). limit 0: the default.
	Expand(ctx context.Context, id Identity, uri, query string, limit int) (Expansion, error)
	// Find searches memories, archives and turns.
	Find(ctx context.Context, id Identity, q FindQuery) (FindResult, error)
	// List lists a folder of the viking:// tree; depth 1 is its children.
	List(ctx context.Context, id Identity, uri string, depth int) ([]FileInfo, error)
	// Read returns the text of a file of the tree: a memory, an overview, an abstract, a run of turns.
	Read(ctx context.Context, id Identity, uri string) (string, error)
	// Verify checks chain, sequences and references of a session ("": all of the identity's).
	Verify(ctx context.Context, id Identity, session string) (VerifyResult, error)
	// Commit archives a session's open turns; with wait it returns after phase 2.
	Commit(ctx context.Context, id Identity, session string, wait bool) (CommitResult, error)
	// ListJobs lists the background jobs that are still to be done or have failed, oldest first; with all those that are done too.
	ListJobs(ctx context.Context, id Identity, all bool) ([]JobInfo, error)
	// RetryJob has a failed, cancelled or waiting job run now; CancelJob ends a waiting or running one. KindConflict: it is too late.
	RetryJob(ctx context.Context, id Identity, job int64) (JobInfo, error)
	CancelJob(ctx context.Context, id Identity, job int64) (JobInfo, error)
	// DeleteSession removes a session for good: turns, archives, index, jobs. Its memories stay, and so does a receipt.
	DeleteSession(ctx context.Context, id Identity, session string) (SessionDeletion, error)
	// ForgetSource forgets or purges a memory or turns, with everything that was made of them. Nothing is changed when several could be
	// meant (Choices), or in a dry run.
	ForgetSource(ctx context.Context, id Identity, r ForgetRequest) (ForgetReceipt, error)
	// DryAssemble is what assemble would return now; an unknown session id means a new session of the same user.
	DryAssemble(ctx context.Context, id Identity, session, prompt string, budget int) (AssembleResult, error)
}

// Status is the answer of Inspector.Status.
type Status struct {
	Version        string      `json:"version"`
	Protocol       int         `json:"protocol"`
	Started        time.Time   `json:"started,omitzero"`
	Store          StoreHealth `json:"store"`
	Strategy       string      `json:"strategy"`
	Sessions       int         `json:"sessions"`
	JobsReady      int         `json:"jobs_ready"`
	JobsFailed     int         `json:"jobs_failed"`
	DeadLetters    int         `json:"dead_letters"`
	Attention      []string    `json:"attention"`                 // sessions that need a person's attention, with the reason
	LastCommitTurn time.Time   `json:"last_commit_turn,omitzero"` // zero: none yet
	CaptureOff     int         `json:"capture_off"`               // exchanges acknowledged but not stored at the user's wish
	Faults         []Fault     `json:"faults"`                    // recent failures inside the engine
	RecallSkips    int         `json:"recall_skips"`              // recalls cut by their deadline
	Bypassed       []Bypass    `json:"bypassed,omitempty"`        // sessions whose turns go past the engine at present
}

// Bypass tells of turns that the host ran without the engine: another agent runtime, or an engine that could not be asked. It ends with
// the next turn that is stored, and a daemon that restarts forgets it until the next such turn.
type Bypass struct {
	Session string    `json:"session"`
	Since   time.Time `json:"since"`
	Last    time.Time `json:"last"`
	Turns   int       `json:"turns"`
	Reason  string    `json:"reason"`
}

// Fault is a failure inside the engine that a host survived.
type Fault struct {
	Time    time.Time `json:"time"`
	Op      string    `json:"op"`
	Session string    `json:"session,omitempty"`
	Error   string    `json:"error"`
}

// SessionInfo describes a session.
type SessionInfo struct {
	ID         string    `json:"session_id"`
	URI        URI       `json:"uri"`
	Key        string    `json:"session_key,omitempty"`
	Agent      string    `json:"agent"`
	Audience   Audience  `json:"audience"`
	Turns      int64     `json:"turns"`
	Epoch      int       `json:"epoch"`
	Open       int64     `json:"open_turns"`
	Archives   int       `json:"archives"`
	Published  int64     `json:"published"`
	Created    time.Time `json:"created"`
	Updated    time.Time `json:"updated"`
	Attention  string    `json:"attention,omitempty"`
	Parent     string    `json:"parent,omitempty"`
	LastStored time.Time `json:"last_commit_turn,omitzero"` // when the host last handed a turn over
}

// SessionDeletion is what was deleted with a session. Copies that are out of reach (the host's transcript, backups) are not among it.
type SessionDeletion struct {
	Session  string    `json:"session_id"`
	URI      URI       `json:"uri"`
	Deleted  time.Time `json:"deleted_at"`
	Turns    int64     `json:"turns"`
	Archives int       `json:"archives"`
	Memories int       `json:"memories_kept"`   // made of it; they stay
	Recalls  int       `json:"recalls_emptied"` // in other sessions, that showed something of it
}

// ForgetRequest says what is to be forgotten.
type ForgetRequest struct {
	What   string `json:"what"`              // the URI of a memory or of turns, or a query
	Purge  bool   `json:"purge,omitempty"`   // destroy the payloads, too: no run of eight words stays
	DryRun bool   `json:"dry_run,omitempty"` // say what would go
}

// ForgetReceipt names what was forgotten or purged, without its words.
type ForgetReceipt struct {
	URI       URI               `json:"uri,omitempty"` // empty: nothing was removed
	At        time.Time         `json:"at"`
	DryRun    bool              `json:"dry_run"`
	Purged    bool              `json:"purged"`
	Turns     []URI             `json:"turns"`
	Memories  []URI             `json:"memories"`
	Archives  []URI             `json:"archives"`          // whose overviews lost lines
	Unreached []string          `json:"unreached"`         // copies that are out of reach
	Choices   []RecallCandidate `json:"choices,omitempty"` // what a query could mean
}

// TurnInfo is a stored turn: the envelope, and the host's own message. Raw is base64 in JSON, since it is bytes.
type TurnInfo struct {
	Envelope  TurnEnvelope `json:"envelope"`
	Raw       []byte       `json:"raw"`
	URI       URI          `json:"uri"`
	Epoch     int          `json:"epoch"`
	Tokens    int          `json:"tokens"`
	Origin    Origin       `json:"origin"`
	Audience  Audience     `json:"audience"`
	Purpose   Purpose      `json:"purpose,omitempty"`
	EntryID   string       `json:"entry_id,omitempty"`
	Source    Source       `json:"source,omitempty"`
	Forgotten bool         `json:"forgotten,omitempty"`
	Purged    bool         `json:"purged,omitempty"`
}

// Explanation says what one assemble chose, what it dropped, and why.
type Explanation struct {
	Session  string                 `json:"session_id"`
	TurnID   string                 `json:"turn_id"`
	AfterSeq int64                  `json:"after_seq"`
	Time     time.Time              `json:"time"`
	Strategy string                 `json:"strategy"`
	Budget   int                    `json:"budget"`
	Tokens   int                    `json:"tokens"`
	Head     int                    `json:"head_tokens"`
	RawFrom  int64                  `json:"raw_from"`
	RawTo    int64                  `json:"raw_to"`
	Recall   RecallTrace            `json:"recall"`
	Cut      []string               `json:"cut,omitempty"`
	Packet   AssembledContextPacket `json:"packet"`
}

// RecallTrace is the course of one recall.
type RecallTrace struct {
	Query   string            `json:"query"`
	Skipped string            `json:"skipped,omitempty"` // why no search was made, or nothing was shown
	Terms   []string          `json:"terms,omitempty"`
	Form    string            `json:"form,omitempty"` // tool, text
	Tokens  int               `json:"tokens"`
	Millis  float64           `json:"ms"`
	Items   []RecallCandidate `json:"items"`
	Dropped []RecallCandidate `json:"dropped"`              // the best of them
	Left    int               `json:"not_listed,omitempty"` // dropped ones beyond these
}

// RecallCandidate is one thing that recall looked at.
type RecallCandidate struct {
	URI    URI                `json:"uri"`
	Kind   DocKind            `json:"kind"`
	Text   string             `json:"text,omitempty"`
	Score  float64            `json:"score"`
	Parts  map[string]float64 `json:"parts,omitempty"` // the score of each stage
	Tokens int                `json:"tokens,omitempty"`
	Why    string             `json:"why,omitempty"` // for dropped ones
	Time   time.Time          `json:"time,omitzero"`
}

// Expansion is the answer of memory_expand (000-122).
type Expansion struct {
	URI     URI            `json:"uri"`
	Session URI            `json:"session_uri"`
	Archive URI            `json:"archive_uri,omitempty"`
	Turns   []ExpandedTurn `json:"turns"`
	More    []URI          `json:"more"`              // raw context URIs that can be read further
	Derived []URI          `json:"derived,omitempty"` // of turns: archives that cover them, memories made of them (I5)
	Total   int            `json:"total"`
}

// ExpandedTurn is a digest of one source turn.
type ExpandedTurn struct {
	URI      URI       `json:"uri"`
	Sequence int64     `json:"sequence"`
	Time     time.Time `json:"time,omitzero"`
	Speaker  string    `json:"speaker"`
	Text     string    `json:"text"`
	Cut      bool      `json:"cut,omitempty"`
}

// FindQuery is a search by a person or a model.
type FindQuery struct {
	Query     string    `json:"query"`
	Scope     string    `json:"scope,omitempty"` // a URI to search below; "" everything readable
	Kinds     []DocKind `json:"kinds,omitempty"`
	Limit     int       `json:"limit,omitempty"` // default 10
	Threshold float64   `json:"threshold,omitempty"`
	Session   string    `json:"session,omitempty"` // the asking session: sets the audience
	Now       int64     `json:"now,omitempty"`
}

// FindResult lists hits, best first.
type FindResult struct {
	Hits  []RecallCandidate `json:"hits"`
	Trace RecallTrace       `json:"trace"`
}

// FileInfo is an entry of the viking:// tree.
type FileInfo struct {
	URI      URI       `json:"uri"`
	Name     string    `json:"name"`
	Dir      bool      `json:"is_dir"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified,omitzero"`
	Abstract string    `json:"abstract,omitempty"`
	Depth    int       `json:"depth"`
}

// VerifyResult is the outcome of a verification.
type VerifyResult struct {
	Sessions int      `json:"sessions"`
	Turns    int64    `json:"turns"`
	Archives int      `json:"archives"`
	Memories int      `json:"memories"`
	Problems []string `json:"problems"`
	OK       bool     `json:"ok"`
}

// JobInfo describes a background job.
type JobInfo struct {
	ID       int64     `json:"id"`
	Kind     string    `json:"kind"`
	State    string    `json:"state"` // waiting, running, failed, cancelled, done
	Session  string    `json:"session_id"`
	Archive  URI       `json:"archive_uri,omitempty"`
	Attempts int       `json:"attempts"`      // that failed
	Next     time.Time `json:"next,omitzero"` // of a waiting one: not before this time
	Error    string    `json:"error,omitempty"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
}

// CommitResult is the outcome of a commit.
type CommitResult struct {
	SessionID  string             `json:"session_id"`
	Archived   bool               `json:"archived"`
	Archive    URI                `json:"archive_uri,omitempty"`
	Reason     string             `json:"reason,omitempty"` // why nothing was archived
	State      ArchiveState       `json:"state,omitempty"`
	Job        int64              `json:"job,omitempty"`
	Memories   []URI              `json:"memories,omitempty"`
	Checkpoint *CompactCheckpoint `json:"checkpoint,omitempty"`
}
