package archive

import (
	"context"
	"errors"
	"time"

	"github.com/skald-engine/skald"
)

// Cancelled is the Error of a job that somebody cancelled. Its archive has no summary and its turns stay readable; nothing but Again
// takes it up.
const Cancelled = "cancelled"

var errCancelled = errors.New(Cancelled)

// begin makes the context that a job runs in, until end; Cancel ends it early.
func (r *Runner) begin(ctx context.Context, id int64) (work context.Context, end func()) {
	work, cancel := context.WithCancelCause(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running[id] = cancel
	return work, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.running, id)
		cancel(nil)
	}
}

// Cancel ends a job that waits or runs (CLI-05). KindConflict: it has ended already.
func (r *Runner) Cancel(ctx context.Context, id int64) error {
	err := r.setJob(ctx, id, func(j *skald.Job, a *skald.Archive) error {
		if j.State != skald.JobReady {
			return skald.E("jobs.cancel", skald.KindConflict, "job %d has ended already (%s)", id, j.State)
		}
		j.State, j.Error, j.Lease = skald.JobFailed, Cancelled, time.Time{}
		a.State, a.Error = skald.ArchiveFailed, Cancelled
		return nil
	})
	if err == nil {
		r.Stop(id)
	}
	return err
}

// Stop ends the work on a job that the store has as ended, or has no more.
func (r *Runner) Stop(id int64) {
	r.mu.Lock()
	if stop, ok := r.running[id]; ok {
		stop(errCancelled)
	}
	r.mu.Unlock()
	r.announce()
}

// Again has a job that failed, was cancelled, or waits for its next attempt run now, with all its attempts before it. KindConflict: it
// is done, or runs at this moment.
func (r *Runner) Again(ctx context.Context, id int64) error {
	err := r.setJob(ctx, id, func(j *skald.Job, a *skald.Archive) error {
		switch {
		case j.State == skald.JobDone:
			return skald.E("jobs.retry", skald.KindConflict, "job %d is done already", id)
		case j.State == skald.JobReady && j.Lease.After(r.clock()):
			return skald.E("jobs.retry", skald.KindConflict, "job %d runs at this moment; `skald jobs cancel %d` ends it", id, id)
		}
		j.State, j.Error, j.Attempts, j.RunAt = skald.JobReady, "", 0, r.clock()
		a.State, a.Error = skald.ArchiveClosed, ""
		return nil
	})
	if err == nil {
		r.Wake()
	}
	return err
}

// setJob changes a job and its archive in one transaction.
func (r *Runner) setJob(ctx context.Context, id int64, change func(*skald.Job, *skald.Archive) error) error {
	return r.store.Update(ctx, func(tx skald.Tx) error {
		j, err := tx.Job(id)
		if err != nil {
			return err
		}
		var a skald.Archive
		if j.Kind != JobKind {
			if err := change(&j, &a); err != nil {
				return err
			}
			j.Updated = r.clock()
			return tx.PutJob(j)
		}
		if a, err = tx.Archive(j.Session, j.Archive); err != nil {
			return err
		}
		if err := change(&j, &a); err != nil {
			return err
		}
		j.Updated, a.Updated = r.clock(), r.clock()
		return errors.Join(tx.PutArchive(a), tx.PutJob(j), r.calm(tx, j))
	})
}

// calm clears the session's call for attention when the job behind it is taken up again.
func (r *Runner) calm(tx skald.Tx, j skald.Job) error {
	s, err := tx.Session(j.Session)
	if err != nil || j.State != skald.JobReady || s.Attention == "" {
		return err
	}
	s.Attention, s.CommitFails, s.RetryAt = "", 0, time.Time{}
	return tx.PutSession(s)
}
