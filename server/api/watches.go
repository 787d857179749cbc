package api

import (
	"context"
	"net/http"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/resource"
	"github.com/skald-engine/skald/server/wire"
)

// Watches repeat imports. A watch is named by its id, its root, or both, which must agree. KindBudget where the scheduler is off.
type Watches interface {
	Watches(ctx context.Context, id skald.Identity, to string, active bool) ([]resource.Watch, error)
	Watch(ctx context.Context, id skald.Identity, name, to string) (resource.Watch, error)
	ChangeWatch(ctx context.Context, id skald.Identity, name, to string, c resource.Change) (resource.Watch, error)
	DeleteWatch(ctx context.Context, id skald.Identity, name, to string) (resource.Watch, error)
	TriggerWatch(ctx context.Context, id skald.Identity, name, to string) (resource.Watch, error)
}

func (h *Handler) watches(mux *http.ServeMux) {
	full(mux, "GET /api/v1/watches", h.listWatches)
	full(mux, "GET /api/v1/watches/{task}", h.getWatch)
	for _, path := range []string{"/api/v1/watches", "/api/v1/watches/{task}"} {
		full(mux, "PATCH "+path, h.changeWatch)
		full(mux, "DELETE "+path, h.deleteWatch)
		full(mux, "POST "+path+"/trigger", h.triggerWatch)
	}
}

func (h *Handler) listWatches(r *http.Request, id skald.Identity) (any, error) {
	q := query{r: r}
	to, active := q.text("to_uri"), q.bool("active_only")
	if err := q.err(); err != nil {
		return nil, err
	}
	if to != "" { // one watch, by its root
		return h.oneWatch(r, id, "", to)
	}
	list, err := h.deps.Resources.Watches(r.Context(), id, "", active)
	if err != nil {
		return nil, err
	}
	out := make([]map[string]any, len(list))
	for i, w := range list {
		out[i] = renderWatch(w)
	}
	return map[string]any{"tasks": out, "total": len(out)}, nil
}

func (h *Handler) getWatch(r *http.Request, id skald.Identity) (any, error) {
	name, to := watchName(r)
	return h.oneWatch(r, id, name, to)
}

func (h *Handler) oneWatch(r *http.Request, id skald.Identity, name, to string) (any, error) {
	w, err := h.deps.Resources.Watch(r.Context(), id, name, to)
	if err != nil {
		return nil, watchFault(err, name, to)
	}
	return renderWatch(w), nil
}

func watchName(r *http.Request) (name, to string) {
	q := query{r: r}
	return r.PathValue("task"), q.text("to_uri")
}

func (h *Handler) changeWatch(r *http.Request, id skald.Identity) (any, error) {
	b, err := readBody(r, "watch_interval", "is_active", "reason", "instruction")
	if err != nil {
		return nil, err
	}
	c := resource.Change{Interval: b.number("watch_interval")}
	if c.Interval != nil && *c.Interval <= 0 {
		b.add(inBody("watch_interval"), "greater_than", "Input should be greater than 0")
	}
	if active := b.flag("is_active"); b.has("is_active") {
		c.Active = &active
	}
	if reason := b.text("reason"); b.has("reason") {
		c.Reason = &reason
	}
	if instruction := b.text("instruction"); b.has("instruction") {
		c.Instruction = &instruction
	}
	if err := b.err(); err != nil {
		return nil, err
	}
	name, to := watchName(r)
	w, err := h.deps.Resources.ChangeWatch(r.Context(), id, name, to, c)
	if err != nil {
		return nil, watchFault(err, name, to)
	}
	return renderWatch(w), nil
}

func (h *Handler) deleteWatch(r *http.Request, id skald.Identity) (any, error) {
	name, to := watchName(r)
	w, err := h.deps.Resources.DeleteWatch(r.Context(), id, name, to)
	if err != nil {
		return nil, watchFault(err, name, to)
	}
	return map[string]any{"task_id": w.ID, "to_uri": w.Root(), "deleted": true}, nil
}

func (h *Handler) triggerWatch(r *http.Request, id skald.Identity) (any, error) {
	name, to := watchName(r)
	w, err := h.deps.Resources.TriggerWatch(r.Context(), id, name, to)
	if err != nil {
		return nil, watchFault(err, name, to)
	}
	return map[string]any{"task_id": w.ID, "to_uri": w.Root(), "scheduled": true}, nil
}

func watchFault(err error, name, to string) error {
	if skald.KindOf(err) != skald.KindNotFound {
		return err
	}
	what := name
	if what == "" {
		what = to
	}
	return &wire.Failure{Kind: skald.KindNotFound, Message: "Watch_task not found: " + what, Details: map[string]any{"type": "watch_task", "resource": what}}
}

func renderWatch(w resource.Watch) map[string]any {
	r, mode := w.Request(), "semantic_and_vectors"
	if r.NoOverview {
		mode = "vectors_only"
	}
	return map[string]any{
		"task_id": w.ID, "path": w.Source(), "to_uri": w.Root(), "to_is_directory": true, "parent_uri": nullable(r.Parent), "reason": r.Reason,
		"instruction": r.Instruction, "watch_interval": w.Interval, "build_index": true, "summarize": false, "processing_mode": mode,
		"processor_kwargs": map[string]any{}, "created_at": timestamp(w.Created), "last_execution_time": moment(w.Last),
		"next_execution_time": moment(w.Next), "is_active": w.Active, "account_id": w.Identity.Account, "user_id": w.Identity.User,
		"original_role": "user",
	}
}

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// moment is a time, or null.
func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return timestamp(t)
}
