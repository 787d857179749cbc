package api

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
	"github.com/skald-engine/skald/tree/view"
)

// Bounds of a batch.
const (
	maxOperations = 256
	maxOperation  = 8 << 20  // bytes
	maxBatchBytes = 16 << 20 // bytes of all together
)

func (h *Handler) writing(mux *http.ServeMux) {
	if h.deps.Files == nil {
		notServed(mux, "POST /api/v1/content/{action}")
		return
	}
	short(mux, "POST /api/v1/content/write", h.write)
	short(mux, "POST /api/v1/content/batch-write", h.batchWrite)
	short(mux, "POST /api/v1/content/set_tags", h.setTags)
	short(mux, "POST /api/v1/fs/attrs/set_tags", h.setTags)
	full(mux, "POST /api/v1/content/reindex", h.reindex)
}

// optional holds what every write may say and this server decides by itself.
type optional struct {
	Timeout    *float64 `json:"timeout"`
	Processing string   `json:"processing_mode"`
	Telemetry  any      `json:"telemetry"`
	Source     string   `json:"edit_source"`
	ACL        any      `json:"acl"`
	Defer      bool     `json:"defer_processing"`
	Skip       bool     `json:"skip_conflicts"`
}

// refused is what this server does not do, and would be missed.
func (o optional) refused() error {
	switch {
	case o.ACL != nil:
		return unsupported("access lists are not served: a space is its user's, resources are the account's")
	case o.Skip:
		return unsupported("skip_conflicts is not served: a batch is written as a whole, or not at all")
	}
	return nil
}

func (o optional) check(v *issues) {
	switch o.Processing {
	case "", "semantic_and_vectors", "vectors_only":
	default:
		v.add(inBody("processing_mode"), "literal_error", "Input should be 'semantic_and_vectors' or 'vectors_only'")
	}
	if o.Timeout != nil && *o.Timeout <= 0 {
		v.add(inBody("timeout"), "greater_than", "Input should be greater than 0")
	}
}

func (h *Handler) write(r *http.Request, id skald.Identity) (any, error) {
	var b struct {
		optional
		URI     string  `json:"uri"`
		Content *string `json:"content"`
		Mode    string  `json:"mode"`
		Wait    bool    `json:"wait"`

		Tags    []string `json:"tags"`
		TagMode string   `json:"tag_mode"`
	}
	b.Mode = ModeReplace
	if err := decodeExact(r, &b); err != nil {
		return nil, err
	}
	var v issues
	if strings.TrimSpace(b.URI) == "" {
		v.add(inBody("uri"), "missing", "Field required")
	}
	if b.Content == nil {
		v.add(inBody("content"), "missing", "Field required")
	}
	b.check(&v)
	if b.TagMode != "" && b.TagMode != "replace" && b.TagMode != "append" {
		v.add(inBody("tag_mode"), "literal_error", "Input should be 'replace' or 'append'")
	}
	switch {
	case v.err() != nil:
		return nil, v.err()
	case b.refused() != nil:
		return nil, b.refused()
	case b.Mode != ModeReplace && b.Mode != ModeAppend && b.Mode != ModeCreate:
		return nil, skald.Invalid("content.write", "mode", "unsupported write mode: %s", b.Mode)
	}
	change := Change{URI: b.URI, Mode: b.Mode, Content: []byte(*b.Content), Tags: b.Tags, TagAdd: b.TagMode == "append", Text: true}
	done, err := h.deps.Files.Write(r.Context(), id, []Change{change})
	if err != nil {
		return nil, err
	}
	status, err := h.settled(r, id, b.Wait)
	if err != nil {
		return nil, err
	}
	return written(done[0].Node, b.Mode, status), nil
}

// written describes a write. The index is part of the write itself; what follows are the texts of the folders above.
func written(n view.Node, mode, status string) map[string]any {
	out := map[string]any{
		"uri": n.URI, "root_uri": n.URI.Parent(), "context_type": n.ContextType(), "mode": mode, "written_bytes": n.Size,
		"content_updated": true, "semantic_status": status, "vector_status": "complete", "queue_status": queues(status),
	}
	if n.Kind == view.Memory || n.Kind == view.Text {
		out["semantic_status"] = "skipped"
	}
	return out
}

// queues is OpenViking's report of its queues, of a call that waited.
func queues(status string) any {
	if status != "complete" {
		return nil
	}
	done := map[string]any{"processed": 1, "requeue_count": 0, "error_count": 0, "errors": []string{}}
	return map[string]any{"Semantic": done, "Embedding": done}
}

type fileWrite struct {
	URI     string  `json:"uri"`
	Content *string `json:"content"`
	Base64  *string `json:"content_base64"`
	Mode    string  `json:"mode"`
}

func (h *Handler) batchWrite(r *http.Request, id skald.Identity) (any, error) {
	b := struct {
		optional
		Root       string      `json:"root_uri"`
		Operations []fileWrite `json:"operations"`
		Wait       bool        `json:"wait"`
	}{Wait: true}
	if err := decodeExact(r, &b); err != nil {
		return nil, err
	}
	var v issues
	if strings.TrimSpace(b.Root) == "" {
		v.add(inBody("root_uri"), "missing", "Field required")
	}
	b.check(&v)
	changes := changesOf(b.Operations, &v)
	if err := v.err(); err != nil {
		return nil, err
	}
	if err := b.refused(); err != nil {
		return nil, err
	}
	root, err := h.batchRoot(r, id, b.Root)
	if err != nil {
		return nil, err
	}
	done, err := h.deps.Files.WriteBelow(r.Context(), id, root, changes)
	if err != nil {
		return nil, err
	}
	status, err := h.settled(r, id, b.Wait)
	if err != nil {
		return nil, err
	}
	out := map[string]any{"root_uri": root, "semantic_status": status, "vector_status": "complete", "queue_status": queues(status)}
	sortOut(out, done)
	return out, nil
}

// batchRoot is the folder that a batch is about: it must be there.
func (h *Handler) batchRoot(r *http.Request, id skald.Identity, raw string) (skald.URI, error) {
	n, err := h.deps.Files.Stat(r.Context(), id, raw)
	if err == nil && !n.Dir {
		err = skald.Invalid("content.batch_write", "root_uri", "%s is a file, not a folder", n.URI)
	}
	return n.URI, err
}

func sortOut(out map[string]any, done []Changed) {
	created, updated, unchanged := []skald.URI{}, []skald.URI{}, []skald.URI{}
	for _, c := range done {
		switch {
		case c.Created:
			created = append(created, c.Node.URI)
		case c.Same:
			unchanged = append(unchanged, c.Node.URI)
		default:
			updated = append(updated, c.Node.URI)
		}
	}
	out["created"], out["updated"], out["unchanged"] = created, updated, unchanged
}

func changesOf(list []fileWrite, v *issues) []Change {
	if len(list) == 0 || len(list) > maxOperations {
		v.add(inBody("operations"), "value_error", "a batch has 1 to %d operations", maxOperations)
		return nil
	}
	total := 0
	out := make([]Change, len(list))
	for i, o := range list {
		at := func(names ...string) []string {
			return inBody(append([]string{"operations", strconv.Itoa(i)}, names...)...)
		}
		out[i] = o.change(at, v)
		if n := len(out[i].Content); n > maxOperation {
			v.add(at("content"), "too_long", "a file of a batch has at most %d MiB", maxOperation>>20)
		} else if total += n; total > maxBatchBytes {
			v.add(inBody("operations"), "too_long", "a batch has at most %d MiB together", maxBatchBytes>>20)
			return nil
		}
	}
	return out
}

func (o fileWrite) change(at func(...string) []string, v *issues) Change {
	c := Change{URI: o.URI, Mode: o.Mode}
	if c.Mode == "" {
		c.Mode = ModeReplace
	}
	switch c.Mode {
	case ModeReplace, ModeAppend, ModeCreate, ModeUpsert:
	default:
		v.add(at("mode"), "literal_error", "Input should be 'replace', 'append', 'create' or 'upsert'")
	}
	if strings.TrimSpace(o.URI) == "" {
		v.add(at("uri"), "missing", "Field required")
	}
	switch {
	case (o.Content == nil) == (o.Base64 == nil):
		v.add(at(), "value_error", "Value error, exactly one of content or content_base64 is required")
	case o.Content != nil:
		c.Content = []byte(*o.Content)
	default:
		b, err := base64.StdEncoding.DecodeString(*o.Base64)
		if err != nil {
			v.add(at("content_base64"), "value_error", "is not valid base64")
		}
		c.Content = b
	}
	return c
}

func (h *Handler) setTags(r *http.Request, id skald.Identity) (any, error) {
	var b struct {
		URI       string   `json:"uri"`
		Tags      []string `json:"tags"`
		Mode      string   `json:"mode"`
		Recursive bool     `json:"recursive"`
		Telemetry any      `json:"telemetry"`
	}
	b.Mode = "replace"
	if err := decodeExact(r, &b); err != nil {
		return nil, err
	}
	var v issues
	if strings.TrimSpace(b.URI) == "" {
		v.add(inBody("uri"), "missing", "Field required")
	}
	if b.Tags == nil {
		v.add(inBody("tags"), "missing", "Field required")
	}
	if b.Mode != "replace" && b.Mode != "append" {
		v.add(inBody("mode"), "literal_error", "Input should be 'replace' or 'append'")
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	done, err := h.deps.Files.SetTags(r.Context(), id, Tagging{URI: b.URI, Tags: b.Tags, Append: b.Mode == "append", Recursive: b.Recursive})
	if err != nil {
		return nil, err
	}
	root := done.Node.URI
	if !done.Node.Dir {
		root = root.Parent()
	}
	return map[string]any{
		"uri": done.Node.URI, "updated_uris": wire.List(done.Updated), "root_uri": root, "context_type": done.Node.ContextType(),
		"tags": wire.List(done.Tags), "mode": b.Mode, "success_count": len(done.Updated), "skipped_count": done.Skipped, "failed_count": 0,
		"tags_updated": len(done.Updated) > 0,
	}, nil
}

func (h *Handler) reindex(r *http.Request, id skald.Identity) (any, error) {
	b := struct {
		URI       string   `json:"uri"`
		Mode      string   `json:"mode"`
		Wait      bool     `json:"wait"`
		DryRun    bool     `json:"dry_run"`
		Recursive bool     `json:"recursive"`
		Tags      []string `json:"tags"`
		TagMode   string   `json:"tag_mode"`
	}{Mode: ReindexVectors, Wait: true, Recursive: true}
	if err := decode(r, &b, false); err != nil {
		return nil, err
	}
	if err := need("uri", b.URI); err != nil {
		return nil, err
	}
	if b.TagMode != "" && b.TagMode != "replace" && b.TagMode != "append" {
		return nil, invalid(inBody("tag_mode"), "literal_error", "Input should be 'replace' or 'append'")
	}
	if b.Mode != ReindexVectors && b.Mode != ReindexSemantic && b.Mode != ReindexPrune {
		return nil, &wire.Failure{Kind: skald.KindInvalid, Code: "UNSUPPORTED_MODE", Field: "mode",
			Message: "Mode " + b.Mode + " is not supported",
			Details: map[string]any{"mode": b.Mode, "supported_modes": []string{ReindexSemantic, ReindexVectors, ReindexPrune}}}
	}
	q := ReindexQuery{URI: b.URI, Mode: b.Mode, Recursive: b.Recursive, DryRun: b.DryRun, Tags: b.Tags, TagAppend: b.TagMode == "append"}
	if b.Wait {
		return h.deps.Files.Reindex(r.Context(), id, q)
	}
	task, n, err := h.deps.Files.ReindexLater(r.Context(), id, q)
	if err != nil {
		return nil, err
	}
	return map[string]any{"uri": n.URI, "mode": b.Mode, "status": "accepted", "object_type": ObjectType(n), "task_id": task}, nil
}

// ObjectType is OpenViking's word for what is indexed.
func ObjectType(n view.Node) string {
	switch {
	case n.URI == skald.Root:
		return "global_namespace"
	case n.Kind == view.Space && n.Scope.Kind == skald.ScopeUser && n.URI == n.Scope.RootURI():
		return "user_namespace"
	case n.Kind == view.Session:
		return "session"
	}
	return n.ContextType()
}
