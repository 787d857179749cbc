package skald

import "time"

// Record is a small piece of state that one room alone reads: an account, a key, a watch, an upload, a setting. Kind and ID name it within its
// scope. The zero Scope is the daemon's own: accounts and keys, which are looked up before an identity is known.
type Record struct {
	Scope   Scope
	Kind    string
	ID      string
	Body    []byte // JSON
	Updated time.Time
}

// RecordShown is the kind of the records that say what a session has been shown; their ID is the session's.
const RecordShown = "search.shown"

// RecordTx reads and writes records.
type RecordTx interface {
	// PutRecord stores a record, replacing the one of the same scope, kind and id.
	PutRecord(r Record) error
	Record(scope Scope, kind, id string) (Record, error)
	// DeleteRecord removes a record; none is no error.
	DeleteRecord(scope Scope, kind, id string) error
	// Records lists the records of a kind, by scope and id.
	Records(q RecordQuery) ([]Record, error)
}

// RecordQuery selects records of one kind.
type RecordQuery struct {
	Scopes []Scope // empty: all scopes (daemon-internal sweeps only)
	Kind   string
	Limit  int // 0: no limit
}
