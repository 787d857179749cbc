package api

import (
	"context"
	"encoding/json"
	"net/http"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// Settings changes what a session is set to, and works on it again.
type Settings interface {
	// ConfigureSession changes what c names, and reads the session.
	ConfigureSession(ctx context.Context, id skald.Identity, session string, c Configuration) (Session, error)
	// ExtractSession makes memories of the open messages now. They stay open.
	ExtractSession(ctx context.Context, id skald.Identity, session string) ([]Extracted, error)
	// RetryArchive runs phase 2 of a failed or waiting archive now. KindConflict: it is done, or runs at this moment.
	RetryArchive(ctx context.Context, id skald.Identity, session string, index int) (Committed, error)
}

// Configuration is a change of a session's configuration.
type Configuration struct {
	AutoCommit PolicyChange
	EventTags  []string // nil: as they are
}

// Extracted is a memory that an extraction made or changed.
type Extracted struct {
	URI      skald.URI        `json:"uri"`
	Category skald.MemoryType `json:"category"`
	Text     string           `json:"content"`
}

func (h *Handler) settings(mux *http.ServeMux) {
	if h.deps.Settings == nil {
		notServed(mux, "PATCH /api/v1/sessions/{id}/config", "POST /api/v1/sessions/{id}/extract",
			"POST /api/v1/sessions/{id}/archives/{archive}/retry")
		return
	}
	short(mux, "PATCH /api/v1/sessions/{id}/config", h.configure)
	full(mux, "POST /api/v1/sessions/{id}/extract", h.extract)
	full(mux, "POST /api/v1/sessions/{id}/archives/{archive}/retry", h.retryArchive)
}

// configure merges: what the body does not name stays, auto_commit_policy null turns it off.
func (h *Handler) configure(r *http.Request, id skald.Identity) (any, error) {
	session, err := sessionID(r)
	if err != nil {
		return nil, err
	}
	var b map[string]json.RawMessage
	if err := decode(r, &b, false); err != nil {
		return nil, err
	}
	c, err := configuration(b)
	if err != nil {
		return nil, err
	}
	s, err := h.deps.Settings.ConfigureSession(r.Context(), id, session, c)
	if err != nil {
		return nil, notThere(err, session)
	}
	return map[string]any{
		"session_id": s.ID, "auto_commit_policy": s.AutoCommit, "memory_extraction_config": extractionOf(s),
	}, nil
}

func configuration(b map[string]json.RawMessage) (c Configuration, err error) {
	if err := only(b, inBody(), "auto_commit_policy", "memory_extraction_config", "telemetry"); err != nil {
		return c, err
	}
	if c.AutoCommit, err = parseAutoCommit(b["auto_commit_policy"], inBody("auto_commit_policy")); err != nil {
		return c, err
	}
	c.EventTags, err = parseExtraction(b["memory_extraction_config"], inBody("memory_extraction_config"))
	return c, err
}

func (h *Handler) extract(r *http.Request, id skald.Identity) (any, error) {
	session, err := sessionID(r)
	if err != nil {
		return nil, err
	}
	list, err := h.deps.Settings.ExtractSession(r.Context(), id, session)
	if err != nil {
		return nil, noSession(err, session)
	}
	return wire.List(list), nil
}

// retryArchive is Skald's own: OpenViking has no way to repeat a failed phase 2.
func (h *Handler) retryArchive(r *http.Request, id skald.Identity) (any, error) {
	session, name, index, err := archiveID(r)
	if err != nil {
		return nil, err
	}
	c, err := h.deps.Settings.RetryArchive(r.Context(), id, session, index)
	switch skald.KindOf(err) {
	case "":
		return map[string]any{"session_id": session, "status": "accepted", "task_id": c.Task, "archive_uri": c.Archive}, nil
	case skald.KindNotFound:
		return nil, noArchive(name)
	case skald.KindConflict:
		return nil, precondition(err)
	}
	return nil, err
}

// precondition is a conflict that OpenViking calls a failed precondition.
func precondition(err error) error {
	return &wire.Failure{Kind: skald.KindConflict, Status: http.StatusPreconditionFailed, Code: "FAILED_PRECONDITION",
		Message: wire.Classify(err).Err.Error()}
}
