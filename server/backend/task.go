package backend

import (
	"context"
	"slices"
	"strconv"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
)

// A task is a job of phase 2; its id is the job's, so that it survives a restart (API-06).

const typeCommit = "session_commit"

// taskOf finds the task of an archive that was closed just now: the newest jobs are last.
func taskOf(tx skald.Tx, a skald.Archive) (string, error) {
	jobs, err := tx.Jobs([]skald.Scope{a.Session.Scope}, 0)
	for _, j := range slices.Backward(jobs) {
		if j.Session == a.Session && j.Archive == a.Index {
			return taskID(j), nil
		}
	}
	if err == nil {
		err = skald.E("backend.commit", skald.KindInternal, "%s has no job", a.Session.ArchiveURI(a.Index))
	}
	return "", err
}

func taskID(j skald.Job) string { return strconv.FormatInt(j.ID, 10) }

// GetTask implements api.Backend. Another identity's task is not found.
func (b *Backend) GetTask(ctx context.Context, id skald.Identity, task string) (out api.Task, err error) {
	missing := skald.NotFound("backend.task", task)
	n, err := strconv.ParseInt(task, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != task {
		return out, missing
	}
	err = b.store.View(ctx, func(tx skald.Tx) error {
		j, err := tx.Job(n)
		if err != nil {
			return err
		}
		if j.Session.Scope != b.engine.Policy().UserScope(id) || j.Archive == 0 {
			return missing
		}
		out, err = describeTask(tx, j, b.engine.Now())
		return err
	})
	return out, err
}

// ListTasks implements api.Backend.
func (b *Backend) ListTasks(ctx context.Context, id skald.Identity, q api.TaskQuery) (out []api.Task, err error) {
	now := b.engine.Now()
	err = b.store.View(ctx, func(tx skald.Tx) error {
		jobs, err := tx.Jobs([]skald.Scope{b.engine.Policy().UserScope(id)}, 0)
		if err != nil {
			return err
		}
		for _, j := range slices.Backward(jobs) {
			if q.Limit > 0 && len(out) == q.Limit {
				break
			}
			if !asked(q, j, now) {
				continue
			}
			t, err := describeTask(tx, j, now)
			if err != nil {
				return err
			}
			out = append(out, t)
		}
		return nil
	})
	return out, err
}

func asked(q api.TaskQuery, j skald.Job, now time.Time) bool {
	return j.Archive > 0 && (q.Type == "" || q.Type == typeCommit) && (q.Status == "" || q.Status == status(j, now)) &&
		(q.Resource == "" || q.Resource == j.Session.ID || q.Resource == string(j.Session.URI()))
}

func status(j skald.Job, now time.Time) string {
	switch {
	case j.State == skald.JobDone:
		return api.TaskCompleted
	case j.State == skald.JobFailed:
		return api.TaskFailed
	case j.Lease.After(now):
		return api.TaskRunning
	}
	return api.TaskPending
}

// describeTask joins a job with the archive that it works on. A summary for which the builtin summariser stood in is completed,
// and says so.
func describeTask(tx skald.Tx, j skald.Job, now time.Time) (api.Task, error) {
	t := api.Task{
		ID: taskID(j), Type: typeCommit, Status: status(j, now), Created: j.Created, Updated: j.Updated,
		Resource: j.Session.ID, Error: j.Error,
	}
	a, err := tx.Archive(j.Session, j.Archive)
	if err != nil {
		return t, err
	}
	switch {
	case t.Status != api.TaskCompleted:
		t.Stage = stage(a)
		return t, nil
	case a.Fallback:
		t.Error = "completed with errors: the model's summary could not be used, the builtin summariser stood in"
	}
	t.Result = &api.TaskResult{Session: j.Session.ID, Archive: j.Session.ArchiveURI(a.Index), Memories: byType(a.Memories)}
	if a.Diff != "" {
		t.Result.MemoryDiff = t.Result.Archive.Join("memory_diff.json")
	}
	return t, nil
}

// stage is the step of phase 2 that is next, in the words of archive's steps.
func stage(a skald.Archive) string {
	if !slices.Contains(a.Steps, "summary") {
		return "summary"
	}
	return "extract"
}
