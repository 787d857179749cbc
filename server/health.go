package server

import (
	"context"
	"net/http"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// readyTimeout bounds a readiness check.
const readyTimeout = 2 * time.Second

// health adds the routes that tell whether the daemon lives and can work. /healthz and /readyz are ours, /health and /ready
// OpenViking's.
func (s *Server) health(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		wire.WriteJSON(w, http.StatusOK, []byte(`{"status":"ok"}`))
	})
	mux.HandleFunc("GET /health", s.openVikingHealth)
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /ready", s.ready)
}

type healthAnswer struct {
	Status   string `json:"status"`
	Healthy  bool   `json:"healthy"`
	Version  string `json:"version"`
	AuthMode string `json:"auth_mode"`
	Account  string `json:"account_id,omitempty"`
	User     string `json:"user_id,omitempty"`
	Role     string `json:"role,omitempty"`
}

// openVikingHealth names the caller when a valid key came along; a bad key is ignored.
func (s *Server) openVikingHealth(w http.ResponseWriter, r *http.Request) {
	a := healthAnswer{Status: "ok", Healthy: true, Version: s.deps.Version, AuthMode: s.deps.Access.Mode()}
	if id, ok := wire.Caller(r.Context()); ok && a.AuthMode != "dev" {
		a.Account, a.User, a.Role = id.Account, id.User, "user"
	}
	wire.WriteValue(w, r, a)
}

type readyAnswer struct {
	Status string            `json:"status"`
	Reason string            `json:"reason,omitempty"`
	Checks map[string]string `json:"checks"`
}

func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	a, status := readyAnswer{Status: "ready", Checks: map[string]string{"store": "ok"}}, http.StatusOK
	switch err := s.deps.Ready(ctx); {
	case s.draining.Load():
		a.Status, a.Reason, status = "not_ready", "stopping", http.StatusServiceUnavailable
	case err != nil:
		// No details: this needs no key.
		a.Status, a.Checks["store"], status = "not_ready", "failing", http.StatusServiceUnavailable
		s.deps.Log.Warn("not ready", "error", err)
	}
	body, err := wire.Encode(a)
	if err != nil {
		wire.WriteError(w, r, err)
		return
	}
	wire.WriteJSON(w, status, body)
}

// storeReady is the default readiness: the store takes writes.
func storeReady(i skald.Inspector) func(context.Context) error {
	return func(ctx context.Context) error {
		status, err := i.Status(ctx, skald.DefaultIdentity)
		if err == nil && !status.Store.Writing {
			err = skald.E("server.ready", skald.KindUnavailable, "the store takes no writes")
		}
		return err
	}
}
