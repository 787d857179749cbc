package engine

import (
	"context"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/memory"
)

// What /api/v1 (package server/backend) needs beside skald.Engine and skald.Inspector: the steps of the write path inside a
// transaction of its own, so that messages, policy and commit are one.

// Policy says how this engine shares namespaces.
func (e *Engine) Policy() skald.Policy { return e.opts.Policy }

// NewSession is the state of a session that is not stored yet.
func (e *Engine) NewSession(id skald.Identity, session string) skald.Session {
	r := skald.Request{Identity: id, Session: skald.SessionAddress{SessionID: session, AgentID: id.Agent}}
	return newSession(skald.SessionRef{Scope: e.opts.Policy.UserScope(id), ID: session}, r, e.Now())
}

// Said is an entry of a client that names its speakers.
type Said struct {
	skald.Entry
	Speaker string // another person than the session's owner; "" the owner
}

// incoming makes a person's words that person's: they never become the owner's profile (I10).
func (x Said) incoming() incoming {
	in := convert(x.Message)
	in.entryID = x.EntryID
	if x.Speaker != "" && in.msg != nil {
		owner := false
		in.msg.Sender, in.msg.SenderIsOwner = x.Speaker, &owner
	}
	return in
}

// Append stores entries within the caller's transaction and returns the turns that are new: an entry id that is stored already
// stores nothing (I2). s is updated, not stored, and no trigger is evaluated. KindInvalid when a message is too large to be
// stored at all.
func (e *Engine) Append(tx skald.Tx, s *skald.Session, said []Said) ([]skald.Turn, error) {
	d := delivery{by: byCursor, now: e.Now(), named: true}
	for _, x := range said {
		d.messages = append(d.messages, x.incoming())
		d.named = d.named && x.EntryID != ""
	}
	got, err := e.append(tx, s, d)
	if err != nil {
		return nil, err
	}
	if got.dead > 0 {
		return nil, skald.Invalid("engine.append", "messages", "a message is larger than %d bytes", e.opts.MaxMessage)
	}
	s.Updated, s.LastCommitTurn = d.now, d.now
	return got.stored, nil
}

// CloseThrough is archive.Close for the open turns up to a sequence: those after it stay open. s is updated and stored.
func CloseThrough(tx skald.Tx, s *skald.Session, through int64, cause string, now time.Time) (skald.Archive, bool, error) {
	newest := s.LastSeq
	s.LastSeq = min(through, newest) // Close takes what is open up to here; nobody else sees this state
	a, closed, err := archive.Close(tx, s, cause, now)
	s.LastSeq = newest
	if err != nil || !closed {
		return a, closed, err
	}
	kept, err := tx.Turns(s.Ref, skald.TurnQuery{From: s.OpenFrom, To: newest, NoRaw: true})
	if err != nil {
		return a, closed, err
	}
	unviewed := s.Unviewed
	for _, t := range kept {
		count(s, t, t.Purpose)
	}
	s.Unviewed = unviewed
	return a, closed, tx.PutSession(*s)
}

// StartEpoch begins the session's context anew, within the caller's transaction: what was said stays stored, and can be found.
func StartEpoch(tx skald.Tx, s *skald.Session, now time.Time) error {
	return startEpoch(tx, s, s.Lifecycle, now)
}

// ExtractOpen makes memories of the session's open turns now, within the caller's transaction. They stay open: the extraction of their archive
// finds the same statements again and adds nothing.
func (e *Engine) ExtractOpen(ctx context.Context, tx skald.Tx, s skald.Session, x skald.Extraction) ([]skald.URI, error) {
	if s.LastSeq < s.OpenFrom {
		return nil, nil
	}
	turns, err := tx.Turns(s.Ref, skald.TurnQuery{From: max(s.OpenFrom, 1), To: s.LastSeq})
	if err != nil {
		return nil, err
	}
	from := skald.Archive{Session: s.Ref, Extraction: x}
	uris, _, err := memory.Builtin{Policy: e.opts.Policy}.Extract(ctx, tx, s.Ref, s.Agent, from, archive.Turns(turns), e.Now())
	return uris, err
}

// RetryIn gives an archive all its attempts again, within the caller's transaction. KindConflict: it is done, or runs at this moment. s is
// updated, not stored; Wake comes after.
func (e *Engine) RetryIn(tx skald.Tx, s *skald.Session, a skald.Archive) error {
	return archive.RetryOne(tx, s, a, e.Now())
}

// Cancel ends a job that waits or runs. KindConflict: it has ended already.
func (e *Engine) Cancel(ctx context.Context, job int64) error { return e.runner.Cancel(ctx, job) }

// Ended is closed when the next job ends.
func (e *Engine) Ended() <-chan struct{} { return e.runner.Ended() }

// Forget takes a memory and the turns behind it out of everything that is shown, within the caller's transaction.
func (e *Engine) Forget(tx skald.Tx, id skald.Identity, uri skald.URI) (memory.Receipt, error) {
	return e.forget(tx, e.opts.Policy.Readable(id), uri, e.Now())
}

// Committed tells the background that an archive was closed.
func (e *Engine) Committed() {
	e.opts.Metrics.Count("commits", 1)
	e.runner.Wake()
}

// Stored counts turns that Append made durable.
func (e *Engine) Stored(n int) { e.opts.Metrics.Count("turns_stored", n) }

// Report records a failure for status; the caller still returns it (I8).
func (e *Engine) Report(op, session string, err error) { e.note(op, session, err) }
