package api

import (
	"net/http"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

func (h *Handler) tasks(mux *http.ServeMux) {
	full(mux, "GET /api/v1/tasks", h.listTasks)
	full(mux, "GET /api/v1/tasks/{id}", h.getTask)
}

func (h *Handler) getTask(r *http.Request, id skald.Identity) (any, error) {
	name := r.PathValue("id")
	t, err := h.backend.GetTask(r.Context(), id, name)
	switch {
	case skald.KindOf(err) == skald.KindNotFound:
		return nil, &wire.Failure{
			Kind: skald.KindNotFound, Message: "Task not found or expired",
			Details: map[string]any{"resource": name, "type": "task"},
		}
	case err != nil:
		return nil, err
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
	list, err := h.backend.ListTasks(r.Context(), id, want)
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
	var failure any
	if t.Error != "" {
		failure = cut(t.Error, maxTaskError)
	}
	return map[string]any{
		"task_id": t.ID, "task_type": t.Type, "status": t.Status, "stage": t.Stage, "resource_id": t.Resource,
		"created_at": epoch(t.Created), "updated_at": epoch(t.Updated),
		"created_at_iso": timestamp(t.Created), "updated_at_iso": timestamp(t.Updated),
		"meta": map[string]any{}, "result": renderResult(t.Result), "error": failure,
	}
}

func renderResult(r *TaskResult) any {
	if r == nil {
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
