package skald

import "time"

// File is a node of the viking:// tree that is neither part of a session nor a memory: a resource, a skill, a note. A folder is a
// File without content. The store knows no parents: who writes below a folder makes the folder.
type File struct {
	Scope    Scope
	URI      URI // canonical; it lies below the scope's root
	Dir      bool
	Body     []byte // content, byte for byte; nil in listings
	Size     int64  // bytes of the content
	Hash     string // SHA-256 of the content, hex; "" for folders
	Media    string // media type, "" unknown
	Created  time.Time
	Modified time.Time
	Tags     []string // "key=value"
	Abstract string   // L0: one line
	Overview string   // L1: what is in it, for folders
	Source   string   // where it was imported from, "" when it was written here
	Extra    []byte   // JSON that only its writer reads, or nil
}

// FileTx reads and writes files. Listings leave Body nil.
type FileTx interface {
	// PutFile stores a file or folder, replacing what has its URI.
	PutFile(f File) error
	// File reads one, with its content.
	File(scope Scope, uri URI) (File, error)
	// Files lists files in order of URI, without content.
	Files(q FileQuery) ([]File, error)
	// DeleteFiles removes a file, or a folder and all below it, and says how many nodes went. None is no error.
	DeleteFiles(scope Scope, uri URI) (int, error)
}

// FileQuery selects files of some scopes.
type FileQuery struct {
	Scopes []Scope
	Under  URI  // below this URI, itself left out; "" everything
	Direct bool // children of Under only
	After  URI  // with a greater URI only: where a former page ended
	Limit  int  // 0: no limit
}

// Parent is the URI of the folder that a URI stands in, and Root for a scope's first segment.
func (u URI) Parent() URI {
	for i := len(u) - 1; i > len(Root); i-- {
		if u[i] == '/' {
			return u[:i]
		}
	}
	return Root
}
