package api

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// maxBatch is the most messages of one batch.
const maxBatch = 100

func (h *Handler) messages(mux *http.ServeMux) {
	full(mux, "POST /api/v1/sessions/{id}/messages", h.addMessage)
	full(mux, "POST /api/v1/sessions/{id}/messages/batch", h.addBatch)
}

func (h *Handler) addMessage(r *http.Request, id skald.Identity) (any, error) {
	session, err := sessionID(r)
	if err != nil {
		return nil, err
	}
	b, err := wire.ReadBody(r)
	if err != nil {
		return nil, err
	}
	if err := askTelemetry(r, b); err != nil {
		return nil, err
	}
	now := time.Now()
	list, err := parseMessage(b, inBody(), now)
	if err != nil {
		return nil, err
	}
	s, err := h.store(r, id, session, list, now)
	if err != nil {
		return nil, err
	}
	return map[string]any{"session_id": s.ID, "message_count": s.Live, "pending_tokens": s.PendingTokens}, nil
}

// addBatch stores all messages or none.
func (h *Handler) addBatch(r *http.Request, id skald.Identity) (any, error) {
	session, err := sessionID(r)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	list, err := parseBatch(r, now)
	if err != nil {
		return nil, err
	}
	s, err := h.store(r, id, session, list, now)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"session_id": s.ID, "message_count": s.Live, "added": len(list), "pending_tokens": s.PendingTokens,
	}, nil
}

func parseBatch(r *http.Request, now time.Time) ([]Message, error) {
	var b struct {
		Messages *[]json.RawMessage `json:"messages"`
	}
	if err := decode(r, &b, false); err != nil {
		return nil, err
	}
	switch {
	case b.Messages == nil:
		return nil, invalid(inBody("messages"), "missing", "Field required")
	case len(*b.Messages) > maxBatch:
		return nil, invalid(inBody("messages"), "too_long", "List should have at most %d items, not %d", maxBatch, len(*b.Messages))
	}
	var list []Message
	for i, raw := range *b.Messages {
		some, err := parseMessage(raw, inBody("messages", strconv.Itoa(i)), now)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	return list, nil
}

func (h *Handler) store(r *http.Request, id skald.Identity, session string, list []Message, now time.Time) (Session, error) {
	entries := []skald.Entry{}
	for _, m := range list {
		some, err := ToHost(m, now)
		if err != nil {
			return Session{}, err
		}
		entries = append(entries, some...)
	}
	return h.backend.AddMessages(r.Context(), id, session, entries)
}
