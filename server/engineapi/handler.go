package engineapi

import (
	"net/http"
	"os"
	"strconv"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// MinProtocol is the oldest protocol that this daemon serves: one version behind its own.
const MinProtocol = skald.ProtocolVersion - 1

// Handler serves /engine/v1.
type Handler struct {
	Engine    skald.Engine
	Inspector skald.Inspector
	Version   string
	Instance  string
}

// Register adds the routes to a mux.
func (h *Handler) Register(mux *http.ServeMux) {
	mux.HandleFunc("GET /engine/v1/handshake", h.handshake)
	h.lifecycle(mux)
	h.inspection(mux)
}

func (h *Handler) handshake(w http.ResponseWriter, r *http.Request) {
	wire.WriteValue(w, r, wire.Handshake{
		Name: wire.Name, Version: h.Version, Protocol: skald.ProtocolVersion, MinProtocol: MinProtocol,
		Instance: h.Instance, PID: os.Getpid(),
	})
}

// action is a handler that returns its answer: the JSON document, or an error.
type action func(r *http.Request, id skald.Identity) ([]byte, error)

// handle adds a route behind the protocol check, with the caller's identity.
func handle(mux *http.ServeMux, pattern string, a action) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		id, err := admit(r)
		if err != nil {
			wire.WriteError(w, r, err)
			return
		}
		body, err := a(r, id)
		if err != nil {
			wire.WriteError(w, r, err)
			return
		}
		wire.WriteJSON(w, http.StatusOK, body)
	})
}

// admit checks the protocol and takes the caller from the context.
func admit(r *http.Request) (skald.Identity, error) {
	if err := checkProtocol(r.Header.Get(wire.HeaderProtocol)); err != nil {
		return skald.Identity{}, err
	}
	id, ok := wire.Caller(r.Context())
	if !ok {
		return id, skald.E("http.access", skald.KindUnauth, "no identity")
	}
	return id, nil
}

// checkProtocol lets plugin and daemon be one version apart. No header means a caller that does not care.
func checkProtocol(header string) error {
	if header == "" {
		return nil
	}
	theirs, err := strconv.Atoi(header)
	if err != nil {
		return skald.Invalid("http.protocol", wire.HeaderProtocol, "is not a number")
	}
	switch {
	case theirs > skald.ProtocolVersion+1:
		return skald.E("http.protocol", skald.KindConflict,
			"the caller speaks protocol %d, this daemon %d to %d: install a newer skald and restart it", theirs, MinProtocol, skald.ProtocolVersion)
	case theirs < MinProtocol:
		return skald.E("http.protocol", skald.KindConflict,
			"the caller speaks protocol %d, this daemon %d to %d: update the caller (the OpenClaw plugin: `skald openclaw install`)",
			theirs, MinProtocol, skald.ProtocolVersion)
	}
	return nil
}
