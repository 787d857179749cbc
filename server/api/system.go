package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// System tells how the daemon is, as far as a caller may know: figures are of the caller's own data.
type System interface {
	// WaitIdle returns when no job of the identity runs or is due. A job that waits for its next attempt is not waited for.
	WaitIdle(ctx context.Context, id skald.Identity) error
	// Queues counts the background work, one row for each kind.
	Queues(ctx context.Context, id skald.Identity) ([]Queue, error)
	// CheckIndex compares what stands below a URI with what the index finds of it.
	CheckIndex(ctx context.Context, id skald.Identity, uri string) (Consistency, error)
	// Figures sums up store, index and recall.
	Figures(ctx context.Context, id skald.Identity) (Figures, error)
	// MemoryStats counts the memories, of one category or ("") all.
	MemoryStats(ctx context.Context, id skald.Identity, category string) (MemoryStats, error)
	// SessionStats counts what a session holds and used.
	SessionStats(ctx context.Context, id skald.Identity, session string) (SessionStats, error)
	// IndexRecords pages through what the index knows, in order of URI, below a URI ("" all), after one.
	IndexRecords(ctx context.Context, id skald.Identity, under string, after skald.URI, limit int) ([]IndexRecord, error)
}

// Queue is one kind of background work.
type Queue struct {
	Name      string   `json:"queue"`
	Pending   int      `json:"pending"`
	Running   int      `json:"in_progress"`
	Processed int      `json:"processed"`
	Requeued  int      `json:"requeued"` // attempts that failed and were or will be repeated
	Errors    int      `json:"errors"`   // failed for good
	Total     int      `json:"total"`
	Messages  []string `json:"-"` // of the errors
}

// Consistency is the outcome of CheckIndex.
type Consistency struct {
	Expected int
	Missing  []IndexRecord // all of them
}

// IndexRecord is a thing that the index knows, at one of its levels: 0 abstract, 1 overview, 2 the thing itself.
type IndexRecord struct {
	URI      skald.URI `json:"uri"`
	Type     string    `json:"context_type"`
	Level    int       `json:"level"`
	Abstract string    `json:"abstract"`
	Updated  time.Time `json:"updated_at"`
}

// Figures describe store, index and recall.
type Figures struct {
	Account  string
	Store    skald.StoreHealth
	Docs     int64 // in the caller's index: passages
	Sessions int
	Leases   int // jobs that a worker holds at present
	Skips    int // recalls cut by their deadline since the start
	Faults   []string
}

// MemoryStats counts memories.
type MemoryStats struct {
	Total      int            `json:"total_memories"`
	ByCategory map[string]int `json:"by_category"`
	Hotness    struct {
		Cold int `json:"cold"` // never reported used
		Warm int `json:"warm"`
		Hot  int `json:"hot"` // five times and more
	} `json:"hotness_distribution"`
	Staleness struct {
		Week   int `json:"not_accessed_7d"`
		Month  int `json:"not_accessed_30d"`
		Oldest int `json:"oldest_memory_age_days"`
	} `json:"staleness"`
}

// SessionStats counts what a session holds and used.
type SessionStats struct {
	Session  string `json:"session_id"`
	Turns    int    `json:"total_turns"`
	Memories int    `json:"memories_extracted"`
	Contexts int    `json:"contexts_used"`
	Skills   int    `json:"skills_used"`
}

func (h *Handler) system(mux *http.ServeMux) {
	full(mux, "GET /api/v1/system/status", func(_ *http.Request, id skald.Identity) (any, error) {
		return map[string]any{"initialized": true, "user": id.User}, nil
	})
	short(mux, "GET /api/v1/console/{rest...}", func(*http.Request, skald.Identity) (any, error) {
		return map[string]any{"enabled": false, "message": "Skald keeps no usage audit: /metrics has the figures"}, nil
	})
	if h.deps.System == nil {
		notServed(mux, "POST /api/v1/system/wait", "POST /api/v1/system/consistency", "GET /api/v1/observer/{name}",
			"GET /api/v1/debug/{rest...}", "GET /api/v1/stats/memories", "GET /api/v1/stats/sessions/{id}")
		return
	}
	full(mux, "POST /api/v1/system/wait", h.wait)
	full(mux, "POST /api/v1/system/consistency", h.consistency)
	h.observers(mux)
	h.debug(mux)
	full(mux, "GET /api/v1/stats/memories", h.memoryStats)
	full(mux, "GET /api/v1/stats/sessions/{id}", h.sessionStats)
}

// idle waits for the jobs, and for the texts of folders that follow them.
func (h *Handler) idle(ctx context.Context, id skald.Identity) error {
	if err := h.deps.System.WaitIdle(ctx, id); err != nil || h.deps.Files == nil {
		return err
	}
	return h.deps.Files.Settle(ctx, id)
}

// wait answers when the background work is done, at the latest after a timeout in seconds: then with 504.
func (h *Handler) wait(r *http.Request, id skald.Identity) (any, error) {
	var b struct {
		Timeout *float64 `json:"timeout"`
	}
	if err := decode(r, &b, true); err != nil {
		return nil, err
	}
	ctx := r.Context()
	if b.Timeout != nil && *b.Timeout >= 0 && *b.Timeout < 1e9 {
		limited, cancel := context.WithTimeout(ctx, time.Duration(*b.Timeout*float64(time.Second)))
		defer cancel()
		ctx = limited
	}
	err := h.idle(ctx, id)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, skald.E("api.wait", skald.KindDeadline, "the background work was not done in time")
	}
	if err != nil {
		return nil, err
	}
	queues, err := h.deps.System.Queues(r.Context(), id)
	if err != nil {
		return nil, err
	}
	return waited(queues), nil
}

// waited has OpenViking's two queues: index rows are written with what they index, so only the second can have errors.
func waited(queues []Queue) map[string]any {
	out := map[string]any{}
	semantic := Queue{}
	for _, q := range queues {
		if q.Name == queueEmbedding {
			out[q.Name] = waitedFor(q)
			continue
		}
		semantic.Processed += q.Processed
		semantic.Requeued += q.Requeued
		semantic.Errors += q.Errors
		semantic.Messages = append(semantic.Messages, q.Messages...)
	}
	out["Semantic"] = waitedFor(semantic)
	return out
}

const queueEmbedding = "Embedding"

func waitedFor(q Queue) map[string]any {
	failures := []map[string]string{}
	for _, m := range q.Messages {
		failures = append(failures, map[string]string{"message": cut(m, maxTaskError)})
	}
	return map[string]any{"processed": q.Processed, "requeue_count": q.Requeued, "error_count": q.Errors, "errors": failures}
}

// maxMissing is how many missing records an answer lists.
const maxMissing = 20

func (h *Handler) consistency(r *http.Request, id skald.Identity) (any, error) {
	var b struct {
		URI *string `json:"uri"`
	}
	if err := decode(r, &b, false); err != nil {
		return nil, err
	}
	if b.URI == nil {
		return nil, invalid(inBody("uri"), "missing", "Field required")
	}
	c, err := h.deps.System.CheckIndex(r.Context(), id, *b.URI)
	if err != nil {
		return nil, err
	}
	root, err := skald.ParseURI(*b.URI, id, skald.Policy{})
	if err != nil {
		return nil, err
	}
	type missing struct {
		URI   skald.URI `json:"uri"`
		Path  string    `json:"path"`
		Level int       `json:"level"`
		Key   string    `json:"key"`
	}
	list := []missing{}
	for _, m := range c.Missing[:min(len(c.Missing), maxMissing)] {
		path := relative(root, m.URI)
		list = append(list, missing{m.URI, path, m.Level, recordKey(path, m.Level)})
	}
	return map[string]any{
		"ok": len(c.Missing) == 0, "expected_count": c.Expected, "missing_record_count": len(c.Missing),
		"missing_records_truncated": len(c.Missing) > maxMissing, "missing_records": list,
	}, nil
}

func (h *Handler) memoryStats(r *http.Request, id skald.Identity) (any, error) {
	category := (&query{r: r}).text("category")
	stats, err := h.deps.System.MemoryStats(r.Context(), id, category)
	if skald.KindOf(err) == skald.KindInvalid {
		return nil, &wire.Failure{Kind: skald.KindInvalid, Field: "category", Bare: true, Message: wire.Classify(err).Err.Error()}
	}
	return stats, err
}

func (h *Handler) sessionStats(r *http.Request, id skald.Identity) (any, error) {
	session, err := sessionID(r)
	if err != nil {
		return nil, err
	}
	s, err := h.deps.System.SessionStats(r.Context(), id, session)
	if err != nil {
		return nil, noSession(err, session)
	}
	return s, nil
}
