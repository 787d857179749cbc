package archive

import (
	"context"
	"fmt"
	"time"

	"github.com/skald-engine/skald"
)

// Handle has jobs of another kind done by w. It is called before Run.
func (r *Runner) Handle(kind string, w skald.Worker) { r.workers[kind] = w }

// work hands a job to the worker of its kind.
func (r *Runner) work(ctx context.Context, j *skald.Job) (err error) {
	w, ok := r.workers[j.Kind]
	if !ok {
		return skald.E("jobs.run", skald.KindUnsupported, "unknown kind of job %q", j.Kind)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s failed: %v", j.Kind, p)
		}
	}()
	note, err := w.Work(ctx, *j, func(n skald.JobNote) error {
		return r.update(ctx, *j, func(now *skald.Job) { *now, now.Updated = now.WithNote(n), r.clock() })
	})
	if err == nil {
		*j = j.WithNote(note)
	}
	return err
}

// finishWork marks a worker's job done, unless it was removed or cancelled meanwhile.
func (r *Runner) finishWork(ctx context.Context, j skald.Job) error {
	return r.settled(r.update(ctx, j, func(now *skald.Job) {
		now.State, now.Error, now.Lease, now.Updated, now.Result = skald.JobDone, "", time.Time{}, r.clock(), j.Result
	}))
}

// settled passes over a job that was removed while it ran, with the session that it worked on.
func (r *Runner) settled(err error) error {
	if skald.KindOf(err) == skald.KindNotFound {
		return nil
	}
	return err
}

// hopeless reports an error that the next attempt would only repeat.
func hopeless(err error) bool {
	switch skald.KindOf(err) {
	case skald.KindInvalid, skald.KindNotFound, skald.KindPermission, skald.KindExists, skald.KindUnsupported:
		return true
	}
	return false
}
