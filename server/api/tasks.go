package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// Tasks are the background jobs that a caller may see: his own ones, of the kinds that OpenViking calls tasks. They survive a restart and
// expire a day after their end, failed ones after a week. What a job of another room shows is its skald.JobNote.
type Tasks interface {
	// GetTask reads a task. KindNotFound: unknown, another identity's, or expired.
	GetTask(ctx context.Context, id skald.Identity, task string) (Task, error)
	// ListTasks lists tasks, newest first.
	ListTasks(ctx context.Context, id skald.Identity, q TaskQuery) ([]Task, error)
	// CancelTask ends a waiting or running task. KindConflict: it has ended, or is of a type that cannot be cancelled.
	CancelTask(ctx context.Context, id skald.Identity, task string) (Task, error)
}

// TaskQuery selects tasks; empty fields select all.
type TaskQuery struct {
	Type     string
	Status   string
	Resource string
	Limit    int
}

// The states of a task on the wire.
const (
	TaskPending   = "pending"
	TaskRunning   = "running"
	TaskCompleted = "completed"
	TaskFailed    = "failed"
	TaskCancelled = "cancelled"
)

// Task is a background task: phase 2 of a commit has the type "session_commit".
type Task struct {
	ID       string
	Type     string
	Status   string
	Stage    string
	Created  time.Time
	Updated  time.Time
	Resource string          // what it works on, for commits the session's id
	Meta     json.RawMessage // an object, or nil
	Error    string
	Result   any // *TaskResult of commits, an object of others; nil: none yet
}

// TaskResult is what a commit's phase 2 made.
type TaskResult struct {
	Session    string
	Archive    skald.URI
	Memories   map[string]int // extracted, by type
	MemoryDiff skald.URI
	Uses       int // reports of used contexts since the commit before
}

func (h *Handler) tasks(mux *http.ServeMux) {
	if h.deps.Tasks == nil {
		notServed(mux, "GET /api/v1/tasks", "GET /api/v1/tasks/{id}", "POST /api/v1/tasks/{id}/cancel")
		return
	}
	full(mux, "GET /api/v1/tasks", h.listTasks)
	full(mux, "GET /api/v1/tasks/{id}", h.getTask)
	full(mux, "POST /api/v1/tasks/{id}/cancel", h.cancelTask)
}

func (h *Handler) getTask(r *http.Request, id skald.Identity) (any, error) {
	name := r.PathValue("id")
	t, err := h.deps.Tasks.GetTask(r.Context(), id, name)
	if err != nil {
		return nil, noTask(err, name)
	}
	return renderTask(t), nil
}

func noTask(err error, name string) error {
	if skald.KindOf(err) != skald.KindNotFound {
		return err
	}
	return &wire.Failure{
		Kind: skald.KindNotFound, Message: "Task not found or expired",
		Details: map[string]any{"resource": name, "type": "task"},
	}
}

func (h *Handler) cancelTask(r *http.Request, id skald.Identity) (any, error) {
	name := r.PathValue("id")
	if id.Rank == skald.RankRoot {
		return nil, &wire.Failure{Kind: skald.KindPermission, Message: "ROOT may not cancel tasks"}
	}
	t, err := h.deps.Tasks.CancelTask(r.Context(), id, name)
	switch {
	case skald.KindOf(err) == skald.KindConflict:
		return nil, precondition(err)
	case err != nil:
		return nil, noTask(err, name)
	}
	return renderTask(t), nil
}

func (h *Handler) listTasks(r *http.Request, id skald.Identity) (any, error) {
	q := query{r: r}
	want := TaskQuery{
		Type: q.text("task_type"), Status: q.text("status"), Resource: q.text("resource_id"), Limit: q.int("limit", 50, 1, 200),
	}
	if err := q.err(); err != nil {
		return nil, err
	}
	list, err := h.deps.Tasks.ListTasks(r.Context(), id, want)
	if err != nil {
		return nil, err
	}
	out := make([]map[string]any, len(list))
	for i, t := range list {
		out[i] = renderTask(t)
	}
	return out, nil
}

// maxTaskError is the most characters of a task's error.
const maxTaskError = 500

func renderTask(t Task) map[string]any {
	out := map[string]any{
		"task_id": t.ID, "task_type": t.Type, "status": t.Status, "stage": orNull(t.Stage), "resource_id": orNull(t.Resource),
		"created_at": epoch(t.Created), "updated_at": epoch(t.Updated),
		"created_at_iso": timestamp(t.Created), "updated_at_iso": timestamp(t.Updated),
		"processing_seconds": t.Updated.Sub(t.Created).Seconds(), "meta": map[string]any{},
		"result": renderResult(t.Result), "error": orNull(cut(t.Error, maxTaskError)),
	}
	if len(t.Meta) > 0 {
		out["meta"] = t.Meta
	}
	return out
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func renderResult(result any) any {
	r, ok := result.(*TaskResult)
	switch {
	case !ok:
		return result
	case r == nil:
		return nil
	}
	memories := r.Memories
	if memories == nil {
		memories = map[string]int{}
	}
	out := map[string]any{
		"session_id": r.Session, "archive_uri": r.Archive, "memories_extracted": memories, "active_count_updated": r.Uses,
	}
	if r.MemoryDiff != "" {
		out["memory_diff_uri"] = r.MemoryDiff
	}
	return out
}

// epoch is a time in seconds since 1970.
func epoch(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// cut shortens a text to n characters.
func cut(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
