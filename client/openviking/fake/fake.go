// Package fake is an OpenViking server in memory, for tests: as much of the API as the client uses, with the answers of the real one
// (TestContract of store/openviking asks both), and with faults on demand.
package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skald-engine/skald/client/openviking"
)

// User is whose server it is, and Key is the user's key.
const (
	User = "me"
	Key  = "key-of-the-fake"
)

// Server is a server. Its zero value is ready; Start gives it an address.
type Server struct {
	URL string

	// Old leaves out what older servers lack: the batch and the download.
	Old bool
	// Version is what /health tells; "" is 0.5.2.
	Version string
	// Extract is what a commit makes of an archive's messages: memories by URI. nil: none.
	Extract func(list []openviking.Message) map[string]string
	// Polls is how often a task is asked for before it has ended.
	Polls int

	mu       sync.Mutex
	sessions map[string]*session
	files    map[string]string
	tasks    map[string]*task
	fault    func(*http.Request) Fault
	requests int
	down     bool
	ids      int
}

type session struct {
	live     []openviking.Message
	archives [][]openviking.Message
	touched  int
}

type task struct {
	polls   int
	session string
	archive int
	status  string
}

// Start serves on loopback until the test ends.
func (s *Server) Start(t testing.TB) *Server {
	s.mu.Lock()
	s.sessions, s.files, s.tasks = map[string]*session{}, map[string]string{}, map[string]*task{}
	s.mu.Unlock()
	h := httptest.NewServer(Faulty(s.next, s.routes()))
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", s.health)
	mux.HandleFunc("GET /api/v1/system/status", s.status)
	mux.HandleFunc("GET /api/v1/sessions", s.list)
	mux.HandleFunc("POST /api/v1/sessions", s.create)
	mux.HandleFunc("GET /api/v1/sessions/{id}", s.get)
	mux.HandleFunc("DELETE /api/v1/sessions/{id}", s.drop)
	mux.HandleFunc("POST /api/v1/sessions/{id}/messages", s.add)
	if !s.Old {
		mux.HandleFunc("POST /api/v1/sessions/{id}/messages/batch", s.addAll)
		mux.HandleFunc("GET /api/v1/content/download", s.download)
	}
	mux.HandleFunc("POST /api/v1/sessions/{id}/commit", s.commit)
	mux.HandleFunc("GET /api/v1/tasks/{id}", s.task)
	mux.HandleFunc("GET /api/v1/content/read", s.read)
	mux.HandleFunc("POST /api/v1/content/write", s.write)
	mux.HandleFunc("GET /api/v1/fs/ls", s.ls)
	mux.HandleFunc("DELETE /api/v1/fs", s.remove)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern == "" { // the real server's words
			rec := httptest.NewRecorder()
			mux.ServeHTTP(rec, r)
			refuse(w, rec.Code, "NOT_FOUND", http.StatusText(rec.Code))
			return
		}
		if r.URL.Path != "/health" && r.Header.Get("X-API-Key") != Key {
			refuse(w, http.StatusUnauthorized, "UNAUTHENTICATED", "Invalid API key")
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		mux.ServeHTTP(w, r)
	})
}

func answer(w http.ResponseWriter, result any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"status": "ok", "result": result})
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"status": "error", "error": map[string]any{"code": code, "message": message}})
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	version := s.Version
	if version == "" {
		version = "0.5.2"
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"status": "ok", "healthy": true, "version": version})
}

func (s *Server) status(w http.ResponseWriter, _ *http.Request) {
	answer(w, map[string]any{"initialized": true, "user": User})
}

// Messages are a session's messages, archived ones first.
func (s *Server) Messages(id string) (list []openviking.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.sessions[id]; x != nil {
		return append(slices.Concat(x.archives...), x.live...)
	}
	return nil
}

// Sessions are the ids of all sessions, in order.
func (s *Server) Sessions() (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.sessions {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Archives is the number of a session's archives.
func (s *Server) Archives(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.sessions[id]; x != nil {
		return len(x.archives)
	}
	return 0
}

// File is a file's text; false when there is none.
func (s *Server) File(uri string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file(uri)
}

// Files are the URIs of the files that were written or extracted, in order.
func (s *Server) Files() (uris []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uri := range s.files {
		uris = append(uris, uri)
	}
	slices.Sort(uris)
	return uris
}

// Put adds messages by another program.
func (s *Server) Put(id string, list ...openviking.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.append(id, list)
}

// Forget removes a session.
func (s *Server) Forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, id)
}

func home(id string) string { return "viking://user/" + User + "/sessions/" + id }

// file reads a written file, or one of a session's own.
func (s *Server) file(uri string) (string, bool) {
	if text, ok := s.files[uri]; ok {
		return text, true
	}
	rest, ok := strings.CutPrefix(uri, "viking://user/"+User+"/sessions/")
	if !ok {
		return "", false
	}
	id, name, _ := strings.Cut(rest, "/")
	x := s.sessions[id]
	if x == nil {
		return "", false
	}
	if name == "messages.jsonl" {
		return lines(x.live), true
	}
	for i, list := range x.archives {
		if name == fmt.Sprintf("history/archive_%03d/messages.jsonl", i+1) {
			return lines(list), true
		}
	}
	return "", false
}

func lines(list []openviking.Message) string {
	var b strings.Builder
	for _, m := range list {
		_ = json.NewEncoder(&b).Encode(m)
	}
	return b.String()
}
