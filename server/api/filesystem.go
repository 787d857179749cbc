package api

import (
	"context"
	"io"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/tree/view"
)

// Files is the viking:// tree, as fs, content, grep, glob and pack need it. URIs are as the caller wrote them; answers hold canonical ones.
type Files interface {
	Stat(ctx context.Context, id skald.Identity, uri string) (view.Node, error)
	// List lists a folder down to depth levels, at most limit nodes; keep says which are wanted (they alone count).
	List(ctx context.Context, id skald.Identity, uri string, depth, limit int, keep func(view.Node) bool) ([]view.Node, error)
	// Read returns the bytes of a node; of a memory with its front matter when whole is set.
	Read(ctx context.Context, id skald.Identity, uri string, whole bool) (view.Node, []byte, error)
	// Digest is a folder's L0 (abstract) or L1; a file has its folder's. "" when there is none.
	Digest(ctx context.Context, id skald.Identity, uri string, abstract bool) (folder skald.URI, text string, err error)

	Mkdir(ctx context.Context, id skald.Identity, uri, description string) (skald.URI, error)
	// Remove removes a node with all below it. Memories are forgotten, with the turns behind them.
	Remove(ctx context.Context, id skald.Identity, uri string) (Removed, error)
	// Copy copies a node with all below it and says how many nodes there are of it now.
	Copy(ctx context.Context, id skald.Identity, from, to string) (uri skald.URI, count int, err error)
	Move(ctx context.Context, id skald.Identity, from, to string) (fromURI, toURI skald.URI, err error)

	// Write makes all changes or none.
	Write(ctx context.Context, id skald.Identity, list []Change) ([]Changed, error)
	// WriteBelow is Write of changes that all lie below a folder, each of another file.
	WriteBelow(ctx context.Context, id skald.Identity, root skald.URI, list []Change) ([]Changed, error)
	SetTags(ctx context.Context, id skald.Identity, t Tagging) (Tagged, error)
	Reindex(ctx context.Context, id skald.Identity, q ReindexQuery) (Reindexed, error)
	// ReindexLater does the same as a task.
	ReindexLater(ctx context.Context, id skald.Identity, q ReindexQuery) (task string, n view.Node, err error)
	// Settle brings the texts of all folders up to date that the identity may read.
	Settle(ctx context.Context, id skald.Identity) error

	Grep(ctx context.Context, id skald.Identity, q GrepQuery) (GrepResult, error)
	// Glob finds nodes by their path below a folder; keep says which are wanted.
	Glob(ctx context.Context, id skald.Identity, uri, pattern string, limit int, keep func(view.Node) bool) (found []view.Node, cut bool, err error)

	// Export writes a pack of a folder.
	Export(ctx context.Context, id skald.Identity, uri string, w io.Writer) error
	// Backup writes a pack of all that the identity's account holds.
	Backup(ctx context.Context, id skald.Identity, w io.Writer) error
	// Import reads a pack of a folder into another folder, and returns where it is.
	Import(ctx context.Context, id skald.Identity, parent, onConflict string, r io.ReaderAt, size int64) (skald.URI, error)
	// Restore reads a backup into the identity's account.
	Restore(ctx context.Context, id skald.Identity, onConflict string, r io.ReaderAt, size int64) error
}

// What is done when something stands where a pack is read to.
const (
	ConflictFail      = "fail"
	ConflictOverwrite = "overwrite" // it is replaced
	ConflictSkip      = "skip"      // it stays
)

// The modes of a change.
const (
	ModeReplace = "replace"
	ModeAppend  = "append"
	ModeCreate  = "create"
	ModeUpsert  = "upsert"
)

// Change is one write.
type Change struct {
	URI     string
	Mode    string
	Content []byte
	Tags    []string // set them, when there are any
	TagAdd  bool     // to those that are there
	Text    bool     // only the names that a single write may make
}

// Changed says what a write did.
type Changed struct {
	Node    view.Node
	Created bool
	Same    bool // the content was there already
}

// Tagging changes the tags of a node.
type Tagging struct {
	URI       string
	Tags      []string // "key=value"
	Append    bool     // keep the others; a key has one value
	Recursive bool
}

// Tagged says what was tagged.
type Tagged struct {
	Node    view.Node // the named one, as it is now
	Tags    []string  // those that were set, in their normal form
	Updated []skald.URI
	Skipped int // had these tags, or can have none
}

// The modes of a reindexing.
const (
	ReindexVectors  = "vectors_only"
	ReindexSemantic = "semantic_and_vectors"
	ReindexPrune    = "prune_orphans"
)

// ReindexQuery asks for the index of a node to be made anew.
type ReindexQuery struct {
	URI       string
	Mode      string
	Recursive bool
	DryRun    bool // prune only
	Tags      []string
	TagAppend bool
}

// Reindexed says what was indexed.
type Reindexed struct {
	URI         skald.URI `json:"uri"`
	Mode        string    `json:"mode"`
	Status      string    `json:"status"`
	ObjectType  string    `json:"object_type"`
	Scanned     int       `json:"scanned_records"`
	Rebuilt     int       `json:"rebuilt_records"`
	Deleted     int       `json:"deleted_records"`
	WouldDelete int       `json:"would_delete_records"`
	Unsupported int       `json:"unsupported_records"`
	Failed      int       `json:"failed_records"`
	Duration    int64     `json:"duration_ms"`
	Warnings    []string  `json:"warnings"`
}
