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
	deps      Deps
	backend   Backend
	inspector skald.Inspector
}

// New makes a handler.
func New(d Deps) *Handler { return &Handler{deps: d, backend: d.Backend, inspector: d.Inspector} }

// Register adds the routes to a mux.
func (h *Handler) Register(mux *http.ServeMux) {
	h.sessions(mux)
	h.messages(mux)
	h.settings(mux)
	h.toolResults(mux)
	h.tasks(mux)
	h.system(mux)
	h.files(mux)
	h.content(mux)
	h.writing(mux)
	h.patterns(mux)
	h.packs(mux)
	h.search(mux)
	h.skills(mux)
	h.admin(mux)
	h.resources(mux)
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
		r, asked := measured(r)
		result, err := a(r, id)
		if err != nil {
			wire.WriteError(w, r, err)
			return
		}
		if own, ok := result.(responder); ok {
			own.respond(w, r)
			return
		}
		if asked.wanted {
			wire.WriteMeasured(w, r, result, asked.report(pattern), drop)
			return
		}
		wire.WriteOK(w, r, result, drop)
	})
}

// responder is a result that writes its answer itself: bytes, or an envelope with members of its own.
type responder interface {
	respond(w http.ResponseWriter, r *http.Request)
}
