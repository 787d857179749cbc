package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/skald-engine/skald"
)

// JobKind is the kind of the phase-2 job.
const JobKind = "commit_phase2"

// Automatic reports whether a cause is a trigger rather than somebody's wish.
func Automatic(cause string) bool {
	switch cause {
	case "budget", "tokens", "turns", "interval", "stop":
		return true
	}
	return false
}

// Close is phase 1 of a commit, inside the caller's transaction (000-084, 000-085): it archives all open turns of the session as
// the next archive, in state closed, updates and stores s, writes a first checkpoint and enqueues phase 2. Nothing is read of the
// turns but their metadata, so that it is fast however long they are.
//
// ok is false when nothing is open, or when the cause is automatic and only turns that never count (heartbeat, cron, internal)
// are. Turns of different epochs get archives of their own; a is then the newest. A wish (any other cause) also gives
// failed archives of the session another try and clears its Attention.
func Close(tx skald.Tx, s *skald.Session, cause string, now time.Time) (a skald.Archive, ok bool, err error) {
	if !Automatic(cause) {
		if err := Retry(tx, s, now); err != nil {
			return a, false, err
		}
	}
	from := max(s.OpenFrom, 1)
	if from > s.LastSeq {
		return a, false, nil
	}
	open, err := tx.Turns(s.Ref, skald.TurnQuery{From: from, To: s.LastSeq, NoRaw: true})
	if err != nil {
		return a, false, err
	}
	if len(open) == 0 || Automatic(cause) && !counts(open) {
		return a, false, nil
	}
	for _, run := range byEpoch(open) {
		if a, err = closeRun(tx, s, run, cause, now); err != nil {
			return a, false, err
		}
	}
	s.OpenFrom, s.OpenTokens, s.OpenUserTurns, s.OpenSince = s.LastSeq+1, 0, 0, time.Time{}
	s.LastCommit = now
	return a, true, tx.PutSession(*s)
}

// closeRun writes the archive of one run of turns, its first checkpoint and its job.
func closeRun(tx skald.Tx, s *skald.Session, run []skald.Turn, cause string, now time.Time) (skald.Archive, error) {
	last := run[len(run)-1]
	s.Archives++
	a := skald.Archive{
		Session: s.Ref, Index: s.Archives, Epoch: last.Epoch, From: run[0].Seq, To: last.Seq,
		Cause: cause, State: skald.ArchiveClosed, Created: now, Updated: now,
	}
	if err := tx.PutArchive(a); err != nil {
		return a, err
	}
	if err := tx.PutCheckpoint(s.Ref, Checkpoint(a)); err != nil {
		return a, err
	}
	return a, tx.PutJob(newJob(a, now))
}

func newJob(a skald.Archive, now time.Time) skald.Job {
	return skald.Job{
		Key:  fmt.Sprintf("%s|%s|%s|%d", JobKind, a.Session.Scope.Key(), a.Session.ID, a.Index),
		Kind: JobKind, Session: a.Session, Archive: a.Index, State: skald.JobReady, Created: now, Updated: now, RunAt: now,
	}
}

// counts reports whether any of the turns counts for a trigger.
func counts(turns []skald.Turn) bool {
	for _, t := range turns {
		if t.Purpose == skald.PurposeTalk {
			return true
		}
	}
	return false
}

// byEpoch splits a run where the epoch changes: an archive never mixes what a reset has parted. A late delivery of an older epoch
// stands between turns of the newer one.
func byEpoch(turns []skald.Turn) [][]skald.Turn {
	var runs [][]skald.Turn
	from := 0
	for i := range turns {
		if i+1 == len(turns) || turns[i+1].Epoch != turns[i].Epoch {
			runs, from = append(runs, turns[from:i+1]), i+1
		}
	}
	return runs
}

// Checkpoint says what the archive's commit covered and, as far as phase 2 got, produced (000-111). Its id is made of the
// archive's URI, so that a repeated transaction and a resumed job write the same one.
func Checkpoint(a skald.Archive) skald.CompactCheckpoint {
	uri := a.Session.ArchiveURI(a.Index)
	sum := sha256.Sum256([]byte(a.Session.Scope.Account + "|" + string(uri)))
	c := skald.CompactCheckpoint{
		CheckpointID:        "ckpt_" + hex.EncodeToString(sum[:10]),
		SessionID:           a.Session.ID,
		CommittedAt:         a.Created.UTC().Format(time.RFC3339),
		ArchiveIndex:        a.Index,
		SourceTurnRange:     skald.TurnRange{StartSequence: a.From, EndSequence: a.To},
		ExtractedMemoryURIs: []string{},
	}
	if len(a.Overview) > 0 {
		c.SummaryURI = string(uri.Join(".overview.md"))
	}
	for _, m := range a.Memories {
		c.ExtractedMemoryURIs = append(c.ExtractedMemoryURIs, string(m))
	}
	return c
}
