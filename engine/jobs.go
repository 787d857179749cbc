package engine

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
)

// Handle has background jobs of a further kind done by w. It is called before Run.
func (e *Engine) Handle(kind string, w skald.Worker) { e.runner.Handle(kind, w) }

// Wake tells the background that a job was put.
func (e *Engine) Wake() { e.runner.Wake() }

// ListJobs implements skald.Inspector.
func (e *Engine) ListJobs(ctx context.Context, id skald.Identity, all bool) (list []skald.JobInfo, err error) {
	err = e.store.View(ctx, func(tx skald.Tx) error {
		jobs, err := tx.Jobs(e.opts.Policy.Readable(id), 0)
		for _, j := range jobs {
			if all || j.State != skald.JobDone {
				list = append(list, describeJob(j, e.Now()))
			}
		}
		return err
	})
	return list, err
}

// RetryJob implements skald.Inspector.
func (e *Engine) RetryJob(ctx context.Context, id skald.Identity, job int64) (skald.JobInfo, error) {
	return e.changeJob(ctx, id, job, e.runner.Again)
}

// CancelJob implements skald.Inspector.
func (e *Engine) CancelJob(ctx context.Context, id skald.Identity, job int64) (skald.JobInfo, error) {
	return e.changeJob(ctx, id, job, e.runner.Cancel)
}

func (e *Engine) changeJob(ctx context.Context, id skald.Identity, job int64, change func(context.Context, int64) error) (skald.JobInfo, error) {
	if _, err := e.job(ctx, id, job); err != nil {
		return skald.JobInfo{}, err
	}
	if err := change(ctx, job); err != nil {
		return skald.JobInfo{}, err
	}
	j, err := e.job(ctx, id, job)
	return describeJob(j, e.Now()), err
}

// job finds a job; another identity's is not found.
func (e *Engine) job(ctx context.Context, id skald.Identity, job int64) (j skald.Job, err error) {
	err = e.store.View(ctx, func(tx skald.Tx) error {
		j, err = tx.Job(job)
		if skald.KindOf(err) == skald.KindNotFound || err == nil && !slices.Contains(e.opts.Policy.Readable(id), j.Session.Scope) {
			return skald.NotFound("jobs", "job "+strconv.FormatInt(job, 10))
		}
		return err
	})
	return j, err
}

func describeJob(j skald.Job, now time.Time) skald.JobInfo {
	info := skald.JobInfo{ID: j.ID, Kind: j.Kind, State: string(j.State), Session: j.Session.ID, Attempts: j.Attempts,
		Error: j.Error, Created: j.Created, Updated: j.Updated}
	if j.Archive > 0 {
		info.Archive = j.Session.ArchiveURI(j.Archive)
	}
	switch {
	case j.State == skald.JobFailed && j.Error == archive.Cancelled:
		info.State, info.Error = "cancelled", ""
	case j.State == skald.JobReady && j.Lease.After(now):
		info.State = "running"
	case j.State == skald.JobReady:
		info.State, info.Next = "waiting", j.RunAt
	}
	return info
}
