package openviking

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/skald-engine/skald"
)

// The kinds of records that a store keeps beside the sessions.
const (
	kindState   = "openviking.session" // by session id: state
	kindDue     = "openviking.due"     // by session id: due; only while the server lacks something of it
	kindArchive = "openviking.archive" // by session id / archive index: committed
	kindJournal = "openviking.journal" // by number: entry; only until it is delivered
	kindRebuilt = "openviking.rebuilt" // one, in the identity's scope: the server's sessions were read
)

// state is how far a session is delivered.
type state struct {
	Name    string      `json:"name"`    // the session's id on the server
	Created bool        `json:"created"` // it was made there
	Pushed  int64       `json:"pushed"`  // turns up to here are there
	Commits int         `json:"commits"` // archives up to here are there
	Waiting []committed `json:"waiting"` // archives of which the server still makes memories
	Lost    []int64     `json:"lost"`    // turns whose bytes the server refuses to take
}

// committed is an archive that the server has too.
type committed struct {
	Index int       `json:"index"`
	URI   string    `json:"uri"`  // on the server; "" when it had nothing to archive
	Task  string    `json:"task"` // there; "" when its id is not known
	Since time.Time `json:"since"`
	State string    `json:"state"` // waiting, done, failed
	Error string    `json:"error,omitempty"`
}

// due is a session of which the server lacks something.
type due struct {
	Since    time.Time `json:"since"` // of the oldest thing it lacks
	RunAt    time.Time `json:"run_at"`
	Attempts int       `json:"attempts"` // failed in a row
	Error    string    `json:"error,omitempty"`
}

// remoteName is a session's id on the server unless that is taken: its own. A session in a scope of one agent alone gets a mark of it.
func remoteName(ref skald.SessionRef) string {
	if ref.Scope.Agent == "" {
		return ref.ID
	}
	sum := sha256.Sum256([]byte(ref.Scope.Key()))
	return ref.ID + "-" + hex.EncodeToString(sum[:4])
}

func readState(tx skald.Tx, ref skald.SessionRef) (st state, err error) {
	found, err := readRecord(tx, ref.Scope, kindState, ref.ID, &st)
	if !found {
		st.Name = remoteName(ref)
	}
	return st, err
}

func putState(tx skald.Tx, ref skald.SessionRef, st state, now time.Time) error {
	return putRecord(tx, ref.Scope, kindState, ref.ID, st, now)
}

// putDue marks a session; a mark that is there keeps its pauses.
func putDue(tx skald.Tx, ref skald.SessionRef, now time.Time) error {
	var d due
	found, err := readRecord(tx, ref.Scope, kindDue, ref.ID, &d)
	if err != nil || found && d.Error != "" {
		return err
	}
	if !found {
		d.Since = now
	}
	d.RunAt = now
	return putRecord(tx, ref.Scope, kindDue, ref.ID, d, now)
}

func forgetSession(tx skald.Tx, ref skald.SessionRef) error {
	for _, kind := range []string{kindState, kindDue} {
		if err := tx.DeleteRecord(ref.Scope, kind, ref.ID); err != nil {
			return err
		}
	}
	return nil
}

func readRecord(tx skald.Tx, scope skald.Scope, kind, id string, into any) (found bool, err error) {
	r, err := tx.Record(scope, kind, id)
	switch {
	case skald.KindOf(err) == skald.KindNotFound:
		return false, nil
	case err != nil:
		return false, err
	}
	return true, json.Unmarshal(r.Body, into)
}

func putRecord(tx skald.Tx, scope skald.Scope, kind, id string, v any, now time.Time) error {
	body, err := json.Marshal(v)
	if err != nil {
		return skald.E("openviking.record", skald.KindInternal, "%s %s: %w", kind, id, err)
	}
	return tx.PutRecord(skald.Record{Scope: scope, Kind: kind, ID: id, Body: body, Updated: now})
}
