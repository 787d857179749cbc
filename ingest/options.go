package ingest

import (
	"time"

	"github.com/skald-engine/skald"
)

// Options of an import. The zero value imports everything for skald.DefaultIdentity.
type Options struct {
	Identity skald.Identity
	// Session takes every message into this session; "" keeps a session for each conversation.
	Session string
	Since   time.Time // messages older than this are left out; zero: none is
	Limit   int       // most messages to import in this run; 0: all
	DryRun  bool      // read everything, write nothing
	// Progress is told of every batch, from one goroutine; nil: nobody is.
	Progress func(Progress)
}

// Progress says how far an import is.
type Progress struct {
	Conversations int           // finished
	Messages      int           // read so far
	Imported      int           // of them stored by this run
	Bytes         int64         // read, of Total
	Total         int64         // bytes in all; 0 unknown
	Elapsed       time.Duration // since the start
	Remaining     time.Duration // estimated; 0 unknown
}

// Sizer is a Source that knows beforehand how much there is to read, in bytes.
type Sizer interface{ Size() int64 }

// The most that one delivery holds. It is one transaction, and one request body over HTTP (server.Deps.BodyLimit).
const (
	batchMessages = 2000
	batchBytes    = 4 << 20
	// maxMessage is the longest message that is imported, in bytes: what no model could be shown, and no daemon takes in one request.
	maxMessage = 32 << 20
)
