package server

import (
	"cmp"
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
	mux.HandleFunc("GET /ready", s.openVikingReady)
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
		a.Account, a.User, a.Role = id.Account, id.User, string(cmp.Or(id.Rank, skald.RankUser))
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

// openVikingReady is the same in OpenViking's shape. No model is called: none is on the way of an answer.
func (s *Server) openVikingReady(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	status, state, store := http.StatusOK, "ready", "ok"
	switch err := s.deps.Ready(ctx); {
	case err != nil:
		status, state, store = http.StatusServiceUnavailable, "not_ready", "error"
		s.deps.Log.Warn("not ready", "error", err)
	case s.draining.Load():
		status, state = http.StatusServiceUnavailable, "not_ready"
	}
	body, err := wire.Encode(map[string]any{"status": state, "checks": map[string]any{
		"agfs":     map[string]any{"status": store, "checks": map[string]string{"filesystem": store, "multiwrite_sync": "not_configured"}},
		"vectordb": store, "api_key_manager": s.keyManager(), "embedding": "not_configured", "ollama": "not_configured",
	}})
	if err != nil {
		wire.WriteError(w, r, err)
		return
	}
	wire.WriteJSON(w, status, body)
}

func (s *Server) keyManager() string {
	if s.deps.Access.Mode() == "dev" {
		return "not_configured"
	}
	return "ok"
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
