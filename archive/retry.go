package archive

import (
	"slices"
	"time"

	"github.com/skald-engine/skald"
)

// Retry gives the session's failed and failing archives another five attempts and clears its Attention: a manual compact or
// API commit does this. s is updated and stored.
func Retry(tx skald.Tx, s *skald.Session, now time.Time) error {
	return retry(tx, s, now, skald.ArchiveFailed, skald.ArchiveFailing)
}

func retry(tx skald.Tx, s *skald.Session, now time.Time, states ...skald.ArchiveState) error {
	if s.Attention == "" && s.CommitFails == 0 {
		return nil
	}
	archives, err := tx.Archives(s.Ref, 1)
	if err != nil {
		return err
	}
	for _, a := range archives {
		if !slices.Contains(states, a.State) {
			continue
		}
		if err := requeue(tx, a, now); err != nil {
			return err
		}
	}
	s.Attention, s.CommitFails, s.RetryAt = "", 0, time.Time{}
	return tx.PutSession(*s)
}

// RetryOne gives one archive of the session all its attempts again, now, whether its job is still there or not. KindConflict: it is done, or
// is being worked on. s is updated, not stored.
func RetryOne(tx skald.Tx, s *skald.Session, a skald.Archive, now time.Time) error {
	if a.State == skald.ArchiveDone {
		return skald.E("archive.retry", skald.KindConflict, "%s is done already", skald.ArchiveID(a.Index))
	}
	jobs, err := tx.Jobs([]skald.Scope{a.Session.Scope}, 0)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		if j.Session == a.Session && j.Archive == a.Index && j.State == skald.JobReady && j.Lease.After(now) {
			return skald.E("archive.retry", skald.KindConflict, "%s is being worked on at this moment", skald.ArchiveID(a.Index))
		}
	}
	s.Attention, s.CommitFails, s.RetryAt = "", 0, time.Time{}
	return requeue(tx, a, now)
}

// Redo makes the summary of an archive again, for example when a model is there that was not (CMP-07). Its memories stay.
func Redo(tx skald.Tx, ref skald.SessionRef, index int, now time.Time) error {
	a, err := tx.Archive(ref, index)
	if err != nil {
		return err
	}
	a.Steps = slices.DeleteFunc(slices.Clone(a.Steps), func(s string) bool { return s == stepSummary || s == stepCheckpoint })
	return requeue(tx, a, now)
}

func requeue(tx skald.Tx, a skald.Archive, now time.Time) error {
	a.State, a.Error, a.Updated = skald.ArchiveClosed, "", now
	if err := tx.PutArchive(a); err != nil {
		return err
	}
	return tx.PutJob(newJob(a, now))
}
