package archive

import (
	"context"
	"fmt"
	"time"

	"github.com/skald-engine/skald"
)

// finish ends a job that succeeded. A success shows that what made others of the session fail may be over: those that had
// failed for good are tried again, and the session's Attention is cleared.
func (r *Runner) finish(ctx context.Context, j skald.Job) error {
	return r.store.Update(ctx, func(tx skald.Tx) error {
		s, err := tx.Session(j.Session)
		if err != nil {
			return err
		}
		if err := settle(tx, j.Session, j.Archive); err != nil {
			return err
		}
		if err := retry(tx, &s, r.clock(), skald.ArchiveFailed); err != nil {
			return err
		}
		j.State, j.Error, j.Lease, j.Updated = skald.JobDone, "", time.Time{}, r.clock()
		return tx.PutJob(j)
	})
}

// settle marks an archive done whose steps all were: its last step may have been recorded by a run before.
func settle(tx skald.Tx, ref skald.SessionRef, index int) error {
	a, err := tx.Archive(ref, index)
	if err != nil || a.State == skald.ArchiveDone {
		return err
	}
	a.State, a.Error = skald.ArchiveDone, ""
	return tx.PutArchive(a)
}

// giveBack frees the lease of a job that the daemon's end interrupted; it is not an attempt.
func (r *Runner) giveBack(ctx context.Context, j skald.Job) error {
	return r.update(ctx, j, func(j *skald.Job) { j.Lease = time.Time{} })
}

// update changes a job as it is stored now, if it still is.
func (r *Runner) update(ctx context.Context, j skald.Job, fn func(*skald.Job)) error {
	return r.store.Update(ctx, func(tx skald.Tx) error {
		now, err := tx.Job(j.ID)
		if err != nil {
			return err
		}
		fn(&now)
		return tx.PutJob(now)
	})
}

// fail records a failed attempt: back-off first, and after the last one a state that a person is told about.
func (r *Runner) fail(ctx context.Context, j skald.Job, cause error) error {
	now := r.clock()
	j.Attempts++
	j.Error, j.Lease, j.Updated = cause.Error(), time.Time{}, now
	last := j.Attempts >= Attempts || j.Kind != JobKind && hopeless(cause)
	if last {
		j.State = skald.JobFailed
	} else {
		j.RunAt = now.Add(firstWait << (2 * (j.Attempts - 1)))
	}
	return r.store.Update(ctx, func(tx skald.Tx) error {
		stored, err := tx.Job(j.ID) // a job that is gone must not come back
		if err != nil {
			return err
		}
		j.Result = stored.Result
		if err := markFailed(tx, j, last, now); err != nil {
			return err
		}
		return tx.PutJob(j)
	})
}

func markFailed(tx skald.Tx, j skald.Job, last bool, now time.Time) error {
	a, err := tx.Archive(j.Session, j.Archive)
	if skald.KindOf(err) == skald.KindNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	a.State, a.Error, a.Updated = skald.ArchiveFailing, j.Error, now
	if last {
		a.State = skald.ArchiveFailed
	}
	if err := tx.PutArchive(a); err != nil {
		return err
	}
	s, err := tx.Session(j.Session)
	if err != nil {
		return err
	}
	s.CommitFails++
	if last {
		s.Attention = fmt.Sprintf("%s could not be summarised in %d attempts (%s). Its turns are stored and readable. "+
			"Mend the cause and run /compact in the session or `skald commit %s`: either tries again.",
			skald.ArchiveID(j.Archive), Attempts, clip(j.Error, 200), j.Session.ID)
	}
	return tx.PutSession(s)
}
