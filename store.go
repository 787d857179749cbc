package skald

import (
	"context"
	"time"
)

// Store keeps everything. Implementations pass storetest.Run; the memory store is the model that the others are compared with.
//
// Update runs fn in one transaction and returns when it is durable: after a nil result the changes survive kill -9 and power
// loss, after an error none of them exists. Updates are serialised per session at least (I3); several may share one sync to
// disk. fn may run more than once (a transaction that is repeated after a conflict), so it must not have effects outside tx.
// View runs fn on a consistent snapshot and never waits for a writer. A Tx must not be used after fn returned, nor by several
// goroutines at once.
//
// A nil ctx error is never swallowed: a cancelled Update either happened as a whole or not at all, and returns nil only when it
// happened.
type Store interface {
	View(ctx context.Context, fn func(Tx) error) error
	Update(ctx context.Context, fn func(Tx) error) error
	// Health says whether the store can serve, with sizes for status and doctor.
	Health(ctx context.Context) (StoreHealth, error)
	Close() error
}

// StoreHealth describes a store.
type StoreHealth struct {
	Engine  string `json:"engine"`
	Schema  int    `json:"schema"`
	Path    string `json:"path,omitempty"`
	Bytes   int64  `json:"bytes"`
	Free    int64  `json:"free_bytes"` // on the same disk; -1 unknown
	Turns   int64  `json:"turns"`
	Docs    int64  `json:"docs"`
	Writing bool   `json:"writable"`
	// Meaning is how far the documents are known by their meaning; nil: they are searched by words alone.
	Meaning *MeaningHealth `json:"meaning,omitempty"`
	// Remote is the server that holds the sessions, for a store that has one.
	Remote *RemoteHealth `json:"remote,omitempty"`
}

// MeaningHealth tells of the vectors of documents.
type MeaningHealth struct {
	Model   string `json:"model"`
	Docs    int64  `json:"docs"`    // documents
	Waiting int64  `json:"waiting"` // of those: not embedded by this model yet; that goes on in the background
	Error   string `json:"error,omitempty"`
}

// Tx is one transaction. Reads see the transaction's own writes. Read methods return KindNotFound errors for single things that
// do not exist and empty lists otherwise. Write methods fail with KindInvalid in a View.
type Tx interface {
	SessionTx
	TurnTx
	ArchiveTx
	MemoryTx
	IndexTx
	FileTx
	RecordTx
	ScopeTx
	TraceTx
	JobTx
}

// SessionTx reads and writes session state.
type SessionTx interface {
	Session(ref SessionRef) (Session, error)
	// Sessions lists the sessions of the given scopes, newest Updated first, ties by id.
	Sessions(q SessionQuery) ([]Session, error)
	PutSession(s Session) error
	// DeleteSession removes a session for good with all that stands under it: its turns and their keys, archives, checkpoints, placed
	// recalls, traces, dead letters and jobs, and the documents of its turns and archives. Memories stay, also where they name it as
	// their source. None is no error.
	DeleteSession(ref SessionRef) error
}

// SessionQuery selects sessions.
type SessionQuery struct {
	Scopes []Scope // empty: all scopes (daemon-internal sweeps only)
	Key    string  // host session key, exact; "" any
	Open   bool    // only those with turns that no archive covers
	Limit  int     // 0: no limit
}

// TurnTx reads and writes turns. Payloads are immutable: UpdateTurn changes metadata only, unless t.Purged is set, which destroys
// Raw and Salt for good.
type TurnTx interface {
	// AppendTurns stores turns whose Seq continue the session's stored sequence; KindConflict when they do not (I3).
	AppendTurns(ref SessionRef, turns []Turn) error
	// Turns returns turns in order of sequence (or the reverse).
	Turns(ref SessionRef, q TurnQuery) ([]Turn, error)
	UpdateTurn(ref SessionRef, t Turn) error
	// ReplaceRaw puts the original in the place of a SourceView turn (and of no other): Raw, Tokens, Salt, Leaf and the chain from
	// there on are the caller's to recompute.
	ReplaceRaw(ref SessionRef, t Turn) error
	// LastLink is the chain's newest link and sequence; nil and 0 when the session is empty.
	LastLink(ref SessionRef) (link []byte, seq int64, err error)

	// TurnKey looks up an idempotency key of the session (advancement keys and client keys).
	TurnKey(ref SessionRef, key string) (TurnRange, bool, error)
	PutTurnKey(ref SessionRef, key string, r TurnRange) error

	// PutRecall places a recall after the turn AfterSeq, replacing one that stands there.
	PutRecall(ref SessionRef, r PlacedRecall) error
	// Recalls lists the placed recalls with AfterSeq >= from, in order.
	Recalls(ref SessionRef, from int64) ([]PlacedRecall, error)

	PutDeadLetter(d DeadLetter) error
	DeadLetters(scopes []Scope, limit int) ([]DeadLetter, error)
}

// TurnQuery selects turns of one session. Zero values don't restrict.
type TurnQuery struct {
	From, To  int64 // sequences, inclusive
	Epoch     int
	EntryIDs  []string
	MatchKeys []string // any of
	Source    *Source
	Desc      bool
	Limit     int
	NoRaw     bool // leave Raw nil: metadata only
}

// PlacedRecall is a recall that stands in the assembled view until the next publication.
type PlacedRecall struct {
	AfterSeq int64  // it stands after this turn, before the prompt it was made for
	TurnID   string // links to the packet
	Time     time.Time
	Messages [][]byte // host messages, serialised
	Tokens   int
	URIs     []string // what was injected
}

// DeadLetter is input that can never be stored; it is kept aside, acknowledged, and shown by doctor.
type DeadLetter struct {
	Session SessionRef
	Time    time.Time
	Reason  string
	Bytes   int64
	Head    []byte // at most 4 KB of it
}

// ArchiveTx reads and writes archives and checkpoints.
type ArchiveTx interface {
	PutArchive(a Archive) error
	Archive(ref SessionRef, index int) (Archive, error)
	// Archives lists a session's archives by index, from first on.
	Archives(ref SessionRef, first int) ([]Archive, error)
	PutCheckpoint(ref SessionRef, c CompactCheckpoint) error
	Checkpoints(ref SessionRef) ([]CompactCheckpoint, error)
}

// MemoryTx reads and writes memories.
type MemoryTx interface {
	PutMemory(m Memory) error
	Memory(scope Scope, uri URI) (Memory, error)
	DeleteMemory(scope Scope, uri URI) error
	Memories(q MemoryQuery) ([]Memory, error)
}

// MemoryQuery selects memories, ordered by URI.
type MemoryQuery struct {
	Scopes  []Scope
	Types   []MemoryType
	Prefix  URI  // below this URI
	After   URI  // with a greater URI only: where a former page ended
	Current bool // leave out the superseded ones
	// Source, with From and To, finds what was made of a run of turns (I5).
	Source   *SessionRef
	From, To int64
	Limit    int
}

// DocKind is the kind of an indexed document.
type DocKind string

// The kinds.
const (
	DocTurn     DocKind = "turn"
	DocArchive  DocKind = "archive"
	DocMemory   DocKind = "memory"
	DocResource DocKind = "resource"
	DocSkill    DocKind = "skill"
)

// Doc is one passage in the lexical index. Its text is not kept: Start and End (bytes) cut it out of the text of the thing it
// belongs to (message.Text of a turn, the rendered overview of an archive, the body of a memory).
type Doc struct {
	ID         int64 // assigned by the store, stable
	Scope      Scope
	Kind       DocKind
	Session    string // session id, for turns and archives; of the first source for memories
	Seq        int64  // turn: its sequence; archive: its index; memory: sequence of the first source
	URI        URI    // memories, resources and skills; "" for turns and archives
	Start, End int
	Time       time.Time
	Role       Role
	Origin     Origin
	Audience   Audience
	Type       MemoryType
	Terms      []string // the analyser's tokens; written only, never read back
	Length     int      // number of terms
	Text       string   // the passage, for a store that embeds it (model/meaning); written only, never kept
	Vector     []int8   // what the passage means, nil when unknown or nothing; written only, never read back
	Model      string   // the Embedder that Vector is of, also where it found no meaning; "" when none was asked; written only
}

// IndexTx is the index of words and of meaning. Terms are opaque tokens from the one analyser (index/analyze).
type IndexTx interface {
	PutDocs(docs []Doc) error
	// DeleteDocs removes the documents of one thing: of the turns seq from..to of a session, or of a URI.
	DeleteTurnDocs(ref SessionRef, from, to int64) error
	DeleteURIDocs(scope Scope, uri URI) error
	DeleteArchiveDocs(ref SessionRef, index int) error
	Search(q SearchQuery) (SearchResult, error)
	// Near finds the documents whose vectors point where the query's does.
	Near(q NearQuery) (NearResult, error)
	// PutVectors says what documents mean to a model, in place of what was known. Documents that are gone are passed over.
	PutVectors(model string, list []DocVector) error
	// Unembedded lists the documents of all scopes that are of none of the models, by id, from the first after one on.
	Unembedded(models []string, after int64, limit int) ([]Doc, error)
	// Embedded counts the documents that are of a model, and all there are.
	Embedded(model string) (of, all int64, err error)
}

// DocVector is what a document means; nil: nothing.
type DocVector struct {
	ID     int64
	Vector []int8
}

// NearQuery asks for the documents that mean what Vector means to Model. Documents of another model, or whose vector has another length, are
// passed over.
type NearQuery struct {
	Scopes []Scope
	Kinds  []DocKind // empty: all
	Vector []int8
	Model  string
	Text   string    // in place of Vector and Model, for a store that embeds it (model/meaning); others find nothing
	By     time.Time // when the answer is needed: without a vector by then nothing is found; zero: no limit
	Limit  int       // nearest first; 0: all
}

// NearResult is the answer to a NearQuery. The score of a hit is the cosine of the angle, -1 to 1.
type NearResult struct {
	Hits []Hit
	// Of all documents of the scopes and kinds that have a vector: how many, the mean of their scores and the standard deviation.
	Docs            int64
	Mean, Deviation float64
}

// SearchQuery asks for documents that hold any of Terms. Terms come rarest-last or in any order: the store itself orders them by
// document frequency and stops adding terms when the candidates could exceed MaxPostings, so that frequent words cannot make a
// search slow; the terms left out are still in SearchResult.DF, for the caller to score with.
type SearchQuery struct {
	Scopes  []Scope
	Kinds   []DocKind // empty: all
	Session string    // only this session's documents; "" any
	Terms   []string
	All     bool // every term must occur
	// Must are terms that every hit holds beside any of Terms. They don't score and are not in SearchResult.DF.
	Must []string
	// Admit, when set, is asked of each candidate before it counts towards Limit. It looks at nothing but the document.
	Admit       func(Doc) bool
	Limit       int // candidates, best lexical score first
	MaxPostings int // 0: 4000
}

// SearchResult is the answer to a SearchQuery.
type SearchResult struct {
	Hits []Hit
	Docs int64            // documents in the scopes
	DF   map[string]int64 // documents that hold each term, in the scopes (may be approximate by a few per cent)
}

// Hit is a candidate with the engine's own lexical score (higher is better; comparable within one result only).
type Hit struct {
	Doc   Doc
	Score float64
}

// TraceTx keeps what was shown to the model and why.
type TraceTx interface {
	// PutTrace keeps the trace of an assemble; a session keeps its newest 200.
	PutTrace(ref SessionRef, t Trace) error
	// Traces lists a session's traces, newest first.
	Traces(ref SessionRef, q TraceQuery) ([]Trace, error)
	// DeleteTraces removes those of a session's traces in whose JSON the text stands: a URI's beginning, when that is deleted.
	DeleteTraces(ref SessionRef, naming string) error
}

// TraceQuery selects traces.
type TraceQuery struct {
	TurnID   string
	AfterSeq int64 // exactly; 0 any
	Limit    int
}

// Trace is one assemble: JSON of engine.Explanation.
type Trace struct {
	TurnID   string
	AfterSeq int64 // newest stored turn at the time
	Time     time.Time
	JSON     []byte
}

// JobTx is the job queue.
type JobTx interface {
	// PutJob adds a job, or replaces the one with the same Key.
	PutJob(j Job) error
	// ClaimJob leases the oldest due job that no live lease holds, of a session for which no other job is leased; false when there
	// is none.
	ClaimJob(now time.Time, lease time.Duration) (Job, bool, error)
	DeleteJob(id int64) error
	Jobs(scopes []Scope, limit int) ([]Job, error) // empty scopes: all
	Job(id int64) (Job, error)
}

// JobState is the state of a job.
type JobState string

// The states. Finished jobs are kept as done or failed until they are deleted.
const (
	JobReady  JobState = "ready"
	JobDone   JobState = "done"
	JobFailed JobState = "failed"
)

// Job is a piece of background work that survives restarts. Key is unique; a job is idempotent.
type Job struct {
	ID       int64
	Key      string
	Kind     string // commit_phase2
	Session  SessionRef
	Archive  int
	State    JobState
	Attempts int
	Created  time.Time
	Updated  time.Time
	RunAt    time.Time
	Lease    time.Time // claimed until; zero when free
	Error    string
	Result   string // JSON
}
