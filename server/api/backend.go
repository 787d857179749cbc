package api

import (
	"context"
	"encoding/json"
	"time"

	skald "github.com/skald-engine/skald"
)

// Backend is what /api/v1 needs of the engine beside skald.Inspector. Session ids are safe identifiers, UUIDs in lower case;
// URIs are as the caller wrote them. Errors carry kinds: NotFound, Exists, Unsupported, Invalid, …
type Backend interface {
	// CreateSession makes an empty session. KindExists when there is one of that id.
	CreateSession(ctx context.Context, id skald.Identity, s NewSession) (Session, error)
	// GetSession reads a session; with create a missing one is made.
	GetSession(ctx context.Context, id skald.Identity, session string, create bool) (Session, error)
	// AddMessages stores host messages, all or none, and makes a missing session. Entry ids are unique.
	AddMessages(ctx context.Context, id skald.Identity, session string, entries []skald.Entry) (Session, error)
	// ArchiveSession commits: phase 1 is done when it returns, and the task of phase 2 exists.
	ArchiveSession(ctx context.Context, id skald.Identity, session string, o CommitOptions) (Committed, error)
	// SessionContext is the history that fits into budget tokens.
	SessionContext(ctx context.Context, id skald.Identity, session string, budget int) (Context, error)
	// SessionArchive reads an archive, in every state of its phase 2.
	SessionArchive(ctx context.Context, id skald.Identity, session string, index int) (Archive, error)
	// MarkUsed counts contexts and skills that the caller used, for good.
	MarkUsed(ctx context.Context, id skald.Identity, session string, u Used) (UsedTotals, error)
}

// NewSession is a session to be made.
type NewSession struct {
	ID         string
	AutoCommit *AutoCommitPolicy // nil: off
	Memory     *MemoryPolicy     // nil: everything is made
	EventTags  []string          // "k=v", given to the events of its commits
}

// AutoCommitPolicy says when a session written through /api/v1 commits by itself.
type AutoCommitPolicy struct {
	PendingTokens int `json:"pending_token_threshold"`
	Messages      int `json:"message_count_threshold"`
	IdleSeconds   int `json:"idle_timeout_seconds"`
	KeepRecent    int `json:"keep_recent_count"`
	MinInterval   int `json:"min_commit_interval_seconds"`
}

// Session is a session's state. Live, archived and total counts are fields of their own.
type Session struct {
	ID             string
	URI            skald.URI
	Created        time.Time
	Updated        time.Time
	LastMessage    time.Time      // zero: none
	LastCommit     time.Time      // zero: none
	Live           int            // messages that no archive covers
	Total          int            // all messages ever stored
	Commits        int            // up as soon as a commit is accepted
	PendingTokens  int            // of the live messages, those apart that the last commit kept open
	Memories       map[string]int // extracted, by type
	ContextsUsed   int
	SkillsUsed     int
	AutoCommit     *AutoCommitPolicy
	Memory         *MemoryPolicy
	EventTags      []string
	LastAutoCommit time.Time
	LastIdleCommit time.Time
	Keep           CommitOptions // what the last commit by a caller kept open
}

// CommitOptions say what a commit leaves open.
type CommitOptions struct {
	KeepRecent int // newest messages to keep open; 0: archive all

	// Retention by turns ("turn_budget"): keep the newest KeepTurns exchanges within RetainTokens.
	TurnBudget   bool
	KeepTurns    int
	RetainTokens int
	MinTailSteps int

	EventTags []string // "k=v" for the events of this commit; nil: the session's
	Reset     bool     // the context begins anew behind this commit
}

// Committed is the outcome of phase 1.
type Committed struct {
	Archived       bool
	Reason         string // why nothing was archived: no_messages, all_within_keep_window
	Task           string // task id of phase 2
	Archive        skald.URI
	ActiveTokens   int // tokens of what stays open
	BudgetExceeded bool
}

// HostMessage is a stored turn's message.
type HostMessage struct {
	Seq  int64
	Time time.Time
	Raw  json.RawMessage
}

// Context is the answer of SessionContext.
type Context struct {
	Overview  string            // of the newest archive that has one and fits
	Abstracts []ArchiveAbstract // of archives before that, oldest first
	Messages  []HostMessage
	Tokens    int
	Stats     ContextStats
}

// ArchiveAbstract is one line about an archive.
type ArchiveAbstract struct {
	Archive  string `json:"archive_id"`
	Abstract string `json:"abstract"`
}

// ContextStats counts archives and tokens.
type ContextStats struct {
	TotalArchives    int `json:"totalArchives"`
	IncludedArchives int `json:"includedArchives"`
	DroppedArchives  int `json:"droppedArchives"`
	FailedArchives   int `json:"failedArchives"`
	ActiveTokens     int `json:"activeTokens"`
	ArchiveTokens    int `json:"archiveTokens"`
}

// Archive is an archive with its messages.
type Archive struct {
	Index    int
	Abstract string
	Overview string
	Messages []HostMessage
}

// Used is a report of what a caller used.
type Used struct {
	Contexts []string // URIs
	Skill    *skald.UsedSkill
}

// UsedTotals are the session's counts after the report.
type UsedTotals struct {
	Contexts int
	Skills   int
}

// Removed says what a removal did.
type Removed struct {
	URI   skald.URI // canonical
	Count int       // things removed
}
