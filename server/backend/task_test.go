package backend_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	skald "github.com/skald-engine/skald"
)

// worker does what it is told, with a note before.
type worker func(ctx context.Context, j skald.Job) (skald.JobNote, error)

func (w worker) Work(ctx context.Context, j skald.Job, progress func(skald.JobNote) error) (skald.JobNote, error) {
	if err := progress(skald.JobNote{Resource: j.Note().Resource, Stage: "fetch", Meta: json.RawMessage(`{"files":3}`)}); err != nil {
		return skald.JobNote{}, err
	}
	return w(ctx, j)
}

// put queues a job of a kind for ann.
func (d daemon) put(kind, resource string) {
	d.Helper()
	j := skald.Job{Key: kind + resource, Kind: kind, Session: skald.SessionRef{Scope: skald.Policy{}.UserScope(ann)}, State: skald.JobReady,
		Created: *d.clock, Updated: *d.clock, RunAt: *d.clock}
	if err := d.store.Update(context.Background(), func(tx skald.Tx) error {
		return tx.PutJob(j.WithNote(skald.JobNote{Resource: resource}))
	}); err != nil {
		d.Fatal(err)
	}
}

func (d daemon) tasks(query string) []object {
	d.Helper()
	return ask[[]object](d, "GET", "/api/v1/tasks"+query, "")
}

// API-06: jobs of other rooms are tasks as well, with their own note, when their kind is one that OpenViking calls a task.
func TestTasksOfOtherRooms(t *testing.T) {
	t.Parallel()
	d := start(t)
	fail := errors.New("the host is not there")
	d.engine.Handle("add_resource", worker(func(context.Context, skald.Job) (skald.JobNote, error) {
		return skald.JobNote{Resource: "viking://resources/x", Stage: "done", Result: json.RawMessage(`{"root_uri":"viking://resources/x"}`)}, fail
	}))
	d.engine.Handle("remote", worker(func(context.Context, skald.Job) (skald.JobNote, error) { return skald.JobNote{}, nil }))
	d.put("add_resource", "viking://resources/x")
	d.put("remote", "internal")
	d.talk("s", 1, 2)
	d.commit("s", "")
	d.same("types", []any{d.tasks("")[0]["task_type"], d.tasks("")[1]["task_type"], len(d.tasks(""))}, []any{"session_commit", "add_resource", 2})
	d.jobs()
	waiting := d.tasks("?task_type=add_resource")[0]
	d.same("waiting", []any{waiting["status"], waiting["error"], waiting["stage"], waiting["meta"], waiting["resource_id"]},
		[]any{"pending", fail.Error(), "fetch", map[string]any{"files": 3}, "viking://resources/x"})
	fail = nil
	d.later(time.Hour)
	d.jobs()
	done := d.tasks("?resource_id=viking://resources/x&status=completed")[0]
	d.same("done", []any{done["result"], done["stage"], done["error"]}, []any{map[string]any{"root_uri": "viking://resources/x"}, "completed", nil})
	d.same("of another", len(d.as("key-bob").tasks("")), 0)
}

// What repeating does not help fails at once; a panic is an error.
func TestWorkersFailAtOnceOrLater(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		work func() error
		want string
	}{
		"invalid": {func() error { return skald.Invalid("x", "url", "is no URL") }, "failed"},
		"passing": {func() error { return skald.E("x", skald.KindUnavailable, "later") }, "pending"},
		"panic":   {func() error { panic("oh") }, "pending"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := start(t)
			d.engine.Handle("add_skill", worker(func(context.Context, skald.Job) (skald.JobNote, error) { return skald.JobNote{}, c.work() }))
			d.put("add_skill", "x")
			d.jobs()
			d.same("status", d.tasks("")[0]["status"], c.want)
			d.has("not cancellable", d.fails(412, "POST", fmt.Sprint("/api/v1/tasks/", d.tasks("")[0]["task_id"], "/cancel"), ""), "cannot be cancelled")
		})
	}
}

func TestTaskStates(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.talk("s", 1, 2)
	task := d.commit("s", "")["task_id"].(string)
	path := "/api/v1/tasks/" + task
	d.same("pending", d.get(path)["status"], "pending")
	d.same("cancelled", d.post(path+"/cancel", "")["status"], "cancelled")
	d.has("ended", d.fails(412, "POST", path+"/cancel", ""), "FAILED_PRECONDITION")
	for _, bad := range []string{"none", "0", "99", "-1", "1.0", "01"} {
		d.has(bad, d.fails(404, "POST", "/api/v1/tasks/"+bad+"/cancel", ""), "Task not found or expired")
		d.fails(404, "GET", "/api/v1/tasks/"+bad, "")
	}
	d.as("key-bob").fails(404, "POST", path+"/cancel", "")
	for query, n := range map[string]int{
		"": 1, "?status=cancelled": 1, "?status=completed": 0, "?status=zz": 0, "?task_type=session_commit": 1, "?task_type=add_resource": 0,
		"?resource_id=s": 1, "?resource_id=viking://user/ann/sessions/s": 1, "?resource_id=t": 0, "?limit=1": 1,
	} {
		d.same(query, len(d.tasks(query)), n)
	}
	d.fails(400, "GET", "/api/v1/tasks?limit=0", "")
}

// A task can be read for a day after its end, a failed one for a week; then it is gone for good.
func TestTasksExpire(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.engine.Handle("add_skill", worker(func(context.Context, skald.Job) (skald.JobNote, error) {
		return skald.JobNote{}, skald.Invalid("x", "y", "no")
	}))
	d.put("add_skill", "x")
	d.talk("s", 1, 2)
	d.commit("s", "")
	d.jobs()
	d.same("fresh", len(d.tasks("")), 2)
	d.later(25 * time.Hour)
	d.same("after a day", []any{len(d.tasks("")), d.tasks("")[0]["status"]}, []any{1, "failed"})
	d.later(7 * 24 * time.Hour)
	d.same("after a week", len(d.tasks("")), 0)
	d.run()
	jobs, err := d.engine.ListJobs(context.Background(), ann, true)
	d.same("removed", []any{len(jobs), err}, []any{0, nil})
	d.has("archive", fmt.Sprint(d.get("/api/v1/sessions/s/archives/archive_001")["overview"]), "Lisbon")
}

// run lets the backend's own background work once.
func (d daemon) run() {
	d.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); d.back.Run(ctx, time.Millisecond) }()
	deadline := time.Now().Add(10 * time.Second)
	for {
		jobs, err := d.engine.ListJobs(ctx, ann, true)
		if err != nil || len(jobs) == 0 || time.Now().After(deadline) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-done
}
