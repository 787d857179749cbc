package backend

import (
	"context"
	"slices"
	"strconv"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/server/api"
)

// A task is a job of a kind that OpenViking calls so; its id is the job's, and it survives a restart (API-06). Jobs of other kinds are
// the daemon's own business and no tasks.

const typeCommit = "session_commit"

// taskTypes are the task types by kind of job, and whether a caller may cancel one.
var taskTypes = map[string]struct {
	name        string
	cancellable bool
}{
	archive.JobKind:            {typeCommit, true},
	"add_resource":             {"add_resource", true},
	"add_skill":                {"add_skill", false},
	"admin_reindex":            {"admin_reindex", true},
	"snapshot_restore_reindex": {"snapshot_restore_reindex", true},
	"content_batch_write":      {"content_batch_write", false},
	"user_delete":              {"user_delete", false},
	"account_delete":           {"account_delete", false},
	"legacy_migration":         {"legacy_migration", false},
}

// How long a task can be read after its end.
const (
	keepDone   = 24 * time.Hour
	keepFailed = 7 * 24 * time.Hour
)

// expired reports a task that ended so long ago that nobody asks for it any more. Other jobs are their owners' to remove.
func expired(j skald.Job, now time.Time) bool {
	if _, known := taskTypes[j.Kind]; !known {
		return false
	}
	keep := keepDone
	if j.State == skald.JobFailed && j.Error != archive.Cancelled {
		keep = keepFailed
	}
	return j.State != skald.JobReady && now.Sub(j.Updated) > keep
}

// expire removes expired jobs. What they made stays, and a failed archive can be tried again without its job.
func (b *Backend) expire(ctx context.Context) error {
	now := b.engine.Now()
	var old []int64
	err := b.store.View(ctx, func(tx skald.Tx) error {
		jobs, err := tx.Jobs(nil, 0)
		for _, j := range jobs {
			if expired(j, now) {
				old = append(old, j.ID)
			}
		}
		return err
	})
	if err != nil || len(old) == 0 {
		return err
	}
	return b.store.Update(ctx, func(tx skald.Tx) error {
		for _, id := range old {
			j, err := tx.Job(id)
			if skald.KindOf(err) == skald.KindNotFound || err == nil && !expired(j, now) {
				continue
			}
			if err != nil {
				return err
			}
			if err := tx.DeleteJob(id); err != nil {
				return err
			}
		}
		return nil
	})
}

// taskOf finds the task of an archive: the newest jobs are last.
func taskOf(tx skald.Tx, a skald.Archive) (string, error) {
	jobs, err := tx.Jobs([]skald.Scope{a.Session.Scope}, 0)
	for _, j := range slices.Backward(jobs) {
		if j.Session == a.Session && j.Archive == a.Index && j.Kind == archive.JobKind {
			return taskID(j), nil
		}
	}
	if err == nil {
		err = skald.NotFound("backend.task", string(a.Session.ArchiveURI(a.Index)))
	}
	return "", err
}

func taskID(j skald.Job) string { return strconv.FormatInt(j.ID, 10) }

// GetTask implements api.Tasks. Another identity's task is not found.
func (b *Backend) GetTask(ctx context.Context, id skald.Identity, task string) (out api.Task, err error) {
	err = b.store.View(ctx, func(tx skald.Tx) error {
		j, err := b.job(tx, id, task)
		if err == nil {
			out, err = describeTask(tx, j, b.engine.Now())
		}
		return err
	})
	return out, err
}

// job finds the job of a task of this identity.
func (b *Backend) job(tx skald.Tx, id skald.Identity, task string) (skald.Job, error) {
	missing := skald.NotFound("backend.task", task)
	n, err := strconv.ParseInt(task, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != task {
		return skald.Job{}, missing
	}
	j, err := tx.Job(n)
	if err == nil && (!b.mine(id, j) || expired(j, b.engine.Now())) {
		err = missing
	}
	return j, err
}

// mine reports a task that the identity may see: of its own space, or of the account's shared ones.
func (b *Backend) mine(id skald.Identity, j skald.Job) bool {
	_, known := taskTypes[j.Kind]
	return known && slices.Contains(b.scopes(id), j.Session.Scope)
}

// ListTasks implements api.Tasks.
func (b *Backend) ListTasks(ctx context.Context, id skald.Identity, q api.TaskQuery) (out []api.Task, err error) {
	now := b.engine.Now()
	err = b.store.View(ctx, func(tx skald.Tx) error {
		jobs, err := tx.Jobs(b.scopes(id), 0)
		if err != nil {
			return err
		}
		for _, j := range slices.Backward(jobs) {
			if q.Limit > 0 && len(out) == q.Limit {
				break
			}
			if !b.mine(id, j) || expired(j, now) || !asked(q, j, now) {
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
	return (q.Type == "" || q.Type == taskTypes[j.Kind].name) && (q.Status == "" || q.Status == status(j, now)) &&
		(q.Resource == "" || q.Resource == resource(j) || j.Session.ID != "" && q.Resource == string(j.Session.URI()))
}

// CancelTask implements api.Tasks.
func (b *Backend) CancelTask(ctx context.Context, id skald.Identity, task string) (out api.Task, err error) {
	var j skald.Job
	err = b.store.View(ctx, func(tx skald.Tx) error {
		j, err = b.job(tx, id, task)
		return err
	})
	if err != nil {
		return out, err
	}
	if t := taskTypes[j.Kind]; !t.cancellable {
		return out, skald.E("backend.cancel", skald.KindConflict, "tasks of type %s cannot be cancelled", t.name)
	}
	if err := b.engine.Cancel(ctx, j.ID); err != nil {
		return out, err
	}
	return b.GetTask(ctx, id, task)
}

func status(j skald.Job, now time.Time) string {
	switch {
	case j.State == skald.JobDone:
		return api.TaskCompleted
	case j.State == skald.JobFailed && j.Error == archive.Cancelled:
		return api.TaskCancelled
	case j.State == skald.JobFailed:
		return api.TaskFailed
	case j.Lease.After(now):
		return api.TaskRunning
	}
	return api.TaskPending
}

// resource is what a job works on.
func resource(j skald.Job) string {
	if j.Kind == archive.JobKind {
		return j.Session.ID
	}
	return j.Note().Resource
}

func describeTask(tx skald.Tx, j skald.Job, now time.Time) (api.Task, error) {
	t := api.Task{
		ID: taskID(j), Type: taskTypes[j.Kind].name, Status: status(j, now), Created: j.Created, Updated: j.Updated,
		Resource: resource(j), Error: j.Error,
	}
	if j.Kind == archive.JobKind {
		return t, describeCommit(tx, j, &t)
	}
	n := j.Note()
	t.Stage, t.Meta = n.Stage, n.Meta
	if t.Status == api.TaskCompleted {
		t.Stage = t.Status
	}
	if len(n.Result) > 0 {
		t.Result = n.Result
	}
	return t, nil
}

// describeCommit joins a job with the archive that it works on. A summary for which the builtin summariser stood in is completed,
// and says so.
func describeCommit(tx skald.Tx, j skald.Job, t *api.Task) error {
	a, err := tx.Archive(j.Session, j.Archive)
	if err != nil {
		return err
	}
	switch {
	case t.Status != api.TaskCompleted:
		t.Stage = stage(a)
		return nil
	case a.Fallback:
		t.Error = "completed with errors: the model's summary could not be used, the builtin summariser stood in"
	}
	t.Stage = t.Status
	r := &api.TaskResult{Session: j.Session.ID, Archive: j.Session.ArchiveURI(a.Index), Memories: byType(a.Memories), Uses: a.Uses}
	if a.Diff != "" {
		r.MemoryDiff = r.Archive.Join("memory_diff.json")
	}
	t.Result = r
	return nil
}

// stage is the step of phase 2 that is next, in the words of archive's steps.
func stage(a skald.Archive) string {
	if !slices.Contains(a.Steps, "summary") {
		return "summary"
	}
	return "extract"
}
