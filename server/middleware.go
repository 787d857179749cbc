package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/server/wire"
)

// record is the outermost layer: status, time, metrics, one line of log.
func (s *Server) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &recorder{ResponseWriter: w, start: time.Now()}
		defer s.recover(rec, r)
		next.ServeHTTP(rec, r)
		s.observe(rec, r)
	})
}

func (s *Server) observe(rec *recorder, r *http.Request) {
	d := time.Since(rec.start)
	s.count(rec, r, d)
	level := slog.LevelDebug
	if rec.status >= http.StatusInternalServerError {
		level = slog.LevelWarn
	}
	s.deps.Log.Log(r.Context(), level, "request", "method", r.Method, "path", r.URL.Path, "status", rec.status,
		"ms", float64(d.Microseconds())/1000, "request_id", rec.Header().Get(wire.HeaderRequestID))
}

// count keeps a failing sink away from the answer (CAP-14).
func (s *Server) count(rec *recorder, r *http.Request, d time.Duration) {
	defer func() {
		if p := recover(); p != nil {
			s.sinkFailed.Do(func() { s.deps.Log.Error("metrics fail; further failures are not logged", "panic", p) })
		}
	}()
	s.deps.Metrics.Request(s.route(r), rec.status, d)
}

// route is the pattern that a request matched: a bounded set, unlike paths.
func (s *Server) route(r *http.Request) string {
	if _, pattern := s.mux.Handler(r); pattern != "" && pattern != "/" {
		return pattern
	}
	return "unknown"
}

// recover turns a panic into an answer: the process lives (I8). What panicked is in the log, not in the answer.
func (s *Server) recover(rec *recorder, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	id := rec.Header().Get(wire.HeaderRequestID)
	s.deps.Log.Error("panic", "path", r.URL.Path, "request_id", id, "panic", p, "stack", string(debug.Stack()))
	if rec.status != 0 {
		panic(http.ErrAbortHandler) // half an answer is out: only cutting it off tells the caller
	}
	wire.WriteError(rec, r, &wire.Failure{Kind: skald.KindInternal, Message: "internal error, see the daemon's log for request " + id})
	s.observe(rec, r)
}

var requestIDPattern = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// identifyRequest echoes the request's id or makes one, also in the place of one that is malformed or doubled: OpenViking 0.5 does not refuse
// the request for it.
func identifyRequest(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := newRequestID()
		if given := r.Header.Values(wire.HeaderRequestID); len(given) == 1 && requestIDPattern.MatchString(given[0]) {
			id = given[0]
		}
		w.Header().Set(wire.HeaderRequestID, id)
		next.ServeHTTP(w, r.WithContext(wire.WithRequestID(r.Context(), id)))
	})
}

// newRequestID is a random UUID (version 4).
func newRequestID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// checkHost keeps web pages that rebind their own name to 127.0.0.1 away from a loopback daemon. An IP literal cannot be
// rebound.
func (s *Server) checkHost(next http.Handler) http.Handler {
	names := map[string]bool{"localhost": true}
	for _, n := range s.deps.Hosts {
		names[strings.ToLower(n)] = true
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.deps.Loopback && !names[hostName(r.Host)] && !Loopback(hostName(r.Host)) {
			wire.WriteError(w, r, skald.E("http.host", skald.KindPermission, "this daemon does not answer to that host name"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
}

// sameOrigin refuses writes that a browser sends from another site's page: a dev daemon asks for no key, and a form post needs
// no preflight.
func sameOrigin(origins []string, next http.Handler) (http.Handler, error) {
	p := http.NewCrossOriginProtection()
	for _, o := range origins {
		if err := p.AddTrustedOrigin(o); err != nil {
			return nil, skald.Invalid("server", "origins", "%w", err)
		}
	}
	p.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wire.WriteError(w, r, skald.E("http.origin", skald.KindPermission, "requests from other web sites are refused"))
	}))
	return p.Handler(next), nil
}

// share answers the browser's questions for the configured origins. There are none by default: CORS is closed.
func share(origins []string, next http.Handler) http.Handler {
	allowed := map[string]bool{}
	for _, o := range origins {
		allowed[o] = true
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if !allowed[origin] {
			next.ServeHTTP(w, r)
			return
		}
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", origin)
		h.Add("Vary", "Origin")
		h.Set("Access-Control-Expose-Headers", wire.HeaderRequestID)
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
			h.Set("Access-Control-Allow-Headers", strings.Join([]string{"Authorization", "Content-Type", wire.HeaderKey,
				wire.HeaderAccount, wire.HeaderUser, wire.HeaderAgent, wire.HeaderPeer, wire.HeaderRole, wire.HeaderProtocol, wire.HeaderRequestID}, ", "))
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// limit bounds a request's body and time.
func (s *Server) limit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		most, status := s.deps.BodyLimit, 0
		if up := s.deps.Parts.Resources; up != nil && r.URL.Path == api.UploadPath {
			most, status = max(most, up.MaxUpload()+1<<20), http.StatusBadRequest // with what surrounds the file; OpenViking's status
		}
		if r.ContentLength > most {
			large := wire.TooLarge(most)
			large.Status = cmp.Or(status, large.Status)
			wire.WriteError(w, r, large)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, most)
		ctx, cancel := context.WithTimeout(r.Context(), s.deps.Timeout)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// cleanPath refuses paths that the mux would redirect: a trick gets an answer, not a hint.
func cleanPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
		for i, part := range parts {
			if part == "." || part == ".." || part == "" && i < len(parts)-1 {
				wire.WriteError(w, r, skald.Invalid("http", "path", "has empty, . or .. segments"))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
