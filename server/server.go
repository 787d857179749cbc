// Package server assembles the daemon's HTTP handler: who may call, within which limits, and the routes of /engine/v1
// (package engineapi) and /api/v1 (package api). It is transport only.
package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/server/engineapi"
	"github.com/skald-engine/skald/server/wire"
)

// Metrics takes what the server measures. It must not fail a request (CAP-14).
type Metrics interface {
	// Request counts one answered request; route is a pattern of a bounded set, with its method.
	Request(route string, status int, d time.Duration)
	// Handler serves the numbers.
	Handler() http.Handler
}

// Deps are the parts of a server. Engine, Inspector and Access are required.
type Deps struct {
	Engine    skald.Engine
	Inspector skald.Inspector
	API       api.Backend  // nil: /api/v1 is not served
	Parts     api.Deps     // the groups of /api/v1 beside it; Backend and Inspector are filled in from above
	MCP       http.Handler // nil: /mcp is not served
	WebDAV    http.Handler // nil: /webdav/resources is not served
	Access    *Access
	Metrics   Metrics      // nil: nothing is measured
	Log       *slog.Logger // nil: nothing is logged
	Version   string
	Instance  string // changes with every start; "": random
	// Ready says whether the daemon can work. nil: the store takes writes.
	Ready func(context.Context) error

	Loopback  bool          // the listener is on loopback: host names are checked
	Hosts     []string      // further host names that a loopback daemon answers to
	Origins   []string      // web origins that may call, for example https://console.example; none by default
	BodyLimit int64         // bytes; 0: 64 MB
	Timeout   time.Duration // of one call; 0: 5 minutes
}

// Server is the daemon's HTTP handler.
type Server struct {
	deps     Deps
	mux      *http.ServeMux
	handler  http.Handler
	draining atomic.Bool

	sinkFailed sync.Once
}

// New assembles a server.
func New(d Deps) (*Server, error) {
	if d.Engine == nil || d.Inspector == nil || d.Access == nil {
		return nil, skald.E("server.new", skald.KindInternal, "engine, inspector and access are required")
	}
	s := &Server{deps: withDefaults(d), mux: http.NewServeMux()}
	s.routes()
	inner, err := sameOrigin(d.Origins, s.limit(s.deps.Access.guard(s.mux)))
	if err != nil {
		return nil, err
	}
	s.handler = s.record(identifyRequest(s.checkHost(cleanPath(share(d.Origins, inner)))))
	return s, nil
}

func withDefaults(d Deps) Deps {
	if d.Metrics == nil {
		d.Metrics = noMetrics{}
	}
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Instance == "" {
		d.Instance = newRequestID()
	}
	if d.Ready == nil {
		d.Ready = storeReady(d.Inspector)
	}
	if d.BodyLimit <= 0 {
		d.BodyLimit = 64 << 20
	}
	if d.Timeout <= 0 {
		d.Timeout = 5 * time.Minute
	}
	return d
}

func (s *Server) routes() {
	s.health(s.mux)
	s.mux.Handle("GET /metrics", s.deps.Metrics.Handler())
	(&engineapi.Handler{
		Engine: s.deps.Engine, Inspector: s.deps.Inspector, Version: s.deps.Version, Instance: s.deps.Instance,
	}).Register(s.mux)
	if s.deps.API != nil {
		parts := s.deps.Parts
		parts.Backend, parts.Inspector = s.deps.API, s.deps.Inspector
		api.New(parts).Register(s.mux)
	}
	if s.deps.MCP != nil {
		s.mux.Handle("/mcp", s.deps.MCP)
	}
	if s.deps.WebDAV != nil {
		s.mux.Handle("/webdav/resources", s.deps.WebDAV)
		s.mux.Handle("/webdav/resources/", s.deps.WebDAV)
	}
	s.mux.HandleFunc("/", s.unknown)
}

// unknown answers 405 when the path exists with another method, else 404.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := s.mux.Handler(other); pattern != "" && pattern != "/" {
			wire.WriteError(w, r, wire.MethodNotAllowed(r.Method))
			return
		}
	}
	wire.WriteError(w, r, &wire.Failure{Kind: skald.KindNotFound, Message: "Not Found", Bare: true})
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Serve answers on a listener until ctx ends. Then it takes no new connections, says "not ready", and waits for the calls under
// way, grace at the longest; those still running are cut off.
func (s *Server) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	srv := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       2 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(s.deps.Log.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.draining.Store(true)
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := srv.Shutdown(limited)
	if err != nil {
		err = errors.Join(err, srv.Close())
	}
	<-failed
	return err
}

// noMetrics measures nothing.
type noMetrics struct{}

func (noMetrics) Request(string, int, time.Duration) {}

func (noMetrics) Handler() http.Handler { return http.NotFoundHandler() }
