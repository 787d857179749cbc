package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/resource"
	"github.com/skald-engine/skald/server/wire"
)

// Resources imports and repeats imports.
type Resources interface {
	Uploads
	Watches
	// Add accepts an import and returns before it is done. See resource.Service for what it refuses.
	Add(ctx context.Context, id skald.Identity, r resource.Request) (resource.Accepted, error)
	// Wait returns what an import did. KindDeadline when ctx ends first; the import goes on.
	Wait(ctx context.Context, id skald.Identity, task string) (resource.Outcome, error)
}

func (h *Handler) resources(mux *http.ServeMux) {
	if h.deps.Resources == nil {
		notServed(mux, "POST /api/v1/resources", "POST "+UploadPath, "/api/v1/watches", "/api/v1/watches/{rest...}")
		return
	}
	short(mux, "POST /api/v1/resources", h.addResource)
	h.uploads(mux)
	h.watches(mux)
}

func (h *Handler) addResource(r *http.Request, id skald.Identity) (any, error) {
	want, wait, timeout, err := readResourceBody(r)
	if err != nil {
		return nil, err
	}
	started, err := h.deps.Resources.Add(r.Context(), id, want)
	if err != nil {
		return nil, err
	}
	if !wait {
		return map[string]any{
			"status": "success", "root_uri": started.Root, "source_path": started.Source, "task_id": started.Task, "errors": []string{},
			"meta": map[string]any{},
		}, nil
	}
	ctx := r.Context()
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	out, err := h.deps.Resources.Wait(ctx, id, started.Task)
	if err != nil {
		return nil, importFailure(err, out, started)
	}
	return map[string]any{
		"status": "success", "root_uri": out.RootURI, "source_path": out.Source, "meta": out.Meta, "errors": wire.List(out.Errors),
		"warnings": wire.List(out.Warnings), "queue_status": queues("complete"), "context_count": out.Meta.Entries,
	}, nil
}

// importFailure is the answer to an import that failed. A file that cannot be parsed is OpenViking's PROCESSING_ERROR; all else has its kind's code.
func importFailure(err error, out resource.Outcome, started resource.Accepted) error {
	switch {
	case out.Parsing:
		return &wire.Failure{Kind: skald.KindInternal, Code: "PROCESSING_ERROR", Bare: true, Message: "Parse error: " + out.Message,
			Details: map[string]any{"errors": wire.List(out.Errors), "task_id": started.Task}}
	case skald.KindOf(err) == skald.KindDeadline:
		return &wire.Failure{Kind: skald.KindDeadline, Message: "the import goes on as task " + started.Task,
			Details: map[string]any{"task_id": started.Task, "root_uri": started.Root}}
	}
	return err
}

// readResourceBody reads the body of an import.
func readResourceBody(r *http.Request) (want resource.Request, wait bool, timeout time.Duration, err error) {
	b, err := readBody(r, "path", "temp_file_id", "add_type", "to", "parent", "create_parent", "reason", "instruction", "wait", "timeout", "strict",
		"internal_task", "source_name", "ignore_dirs", "include", "exclude", "directly_upload_media", "preserve_structure", "args", "telemetry",
		"watch_interval", "is_active", "processing_mode", "tags", "tag_mode", "acl")
	if err != nil {
		return want, false, 0, err
	}
	want = resource.Request{
		Path: strings.TrimSpace(b.text("path")), Upload: strings.TrimSpace(b.text("temp_file_id")), SourceName: b.text("source_name"),
		AddType: b.text("add_type"), To: strings.TrimSpace(b.text("to")), Parent: strings.TrimSpace(b.text("parent")),
		CreateParent: b.flag("create_parent"), Reason: b.text("reason"), Instruction: b.text("instruction"),
		IgnoreDirs: b.text("ignore_dirs"), Include: b.text("include"), Exclude: b.text("exclude"), Strict: b.flag("strict"),
		Flat: b.has("preserve_structure") && !b.flag("preserve_structure"), DropMedia: b.has("directly_upload_media") && !b.flag("directly_upload_media"),
		NoOverview: b.oneOf("processing_mode", "semantic_and_vectors", "vectors_only") == "vectors_only",
		Tags:       b.list("tags"), AppendTags: b.oneOf("tag_mode", "replace", "append") == "append",
		Paused: b.has("is_active") && !b.flag("is_active"),
	}
	if n := b.number("watch_interval"); n != nil {
		want.Interval = *n
	}
	if n := b.number("timeout"); n != nil && *n > 0 {
		timeout = time.Duration(*n * float64(time.Second))
	}
	if branch, ok := b.object("args")["branch"].(string); ok {
		want.Branch = branch
	}
	wait = b.flag("wait")
	if want.Path == "" && want.Upload == "" {
		b.add(inBody(), "value_error", "Value error, Either 'path' or 'temp_file_id' must be provided")
	}
	if err := b.err(); err != nil {
		return want, false, 0, err
	}
	if b.has("acl") {
		return want, false, 0, unsupported("acl: Skald shares resources by scope, an account's or a user's, and has no lists of access")
	}
	return want, wait, timeout, nil
}
