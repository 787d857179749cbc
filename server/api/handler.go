// Package api serves OpenViking's HTTP API, /api/v1, on Skald's engine, so that its SDKs, CLI and plugins work. Paths, fields,
// codes and statuses are OpenViking's; where its answers are known to be wrong (counts, limits), these are right.
package api

import (
	"net/http"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// Handler serves /api/v1.
type Handler struct {
	backend   Backend
	inspector skald.Inspector
}

// New makes a handler.
func New(b Backend, i skald.Inspector) *Handler { return &Handler{backend: b, inspector: i} }

// Register adds the routes to a mux.
func (h *Handler) Register(mux *http.ServeMux) {
	h.sessions(mux)
	h.messages(mux)
	h.tasks(mux)
	h.files(mux)
	h.content(mux)
	h.search(mux)
	full(mux, "GET /api/v1/system/status", func(r *http.Request, id skald.Identity) (any, error) {
		return map[string]any{"initialized": true, "user": id.User}, nil
	})
	unbuilt(mux)
}

// action is a handler that returns the envelope's result, or an error.
type action func(r *http.Request, id skald.Identity) (any, error)

// full adds a route that answers with the whole envelope.
func full(mux *http.ServeMux, pattern string, a action) { handle(mux, pattern, a, false) }

// short adds a route whose envelope has no null members.
func short(mux *http.ServeMux, pattern string, a action) { handle(mux, pattern, a, true) }

func handle(mux *http.ServeMux, pattern string, a action, drop bool) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		id, ok := wire.Caller(r.Context())
		if !ok {
			wire.WriteError(w, r, skald.E("http.access", skald.KindUnauth, "no identity"))
			return
		}
		result, err := a(r, id)
		if err != nil {
			wire.WriteError(w, r, err)
			return
		}
		wire.WriteOK(w, r, result, drop)
	})
}
