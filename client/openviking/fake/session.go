package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/skald-engine/skald/client/openviking"
)

func (s *Server) list(w http.ResponseWriter, _ *http.Request) {
	out := []openviking.Session{}
	for id := range s.sessions {
		out = append(out, openviking.Session{ID: id, URI: home(id)})
	}
	slices.SortFunc(out, func(a, b openviking.Session) int { return s.sessions[b.ID].touched - s.sessions[a.ID].touched })
	answer(w, out)
}

func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ID string `json:"session_id"`
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil || in.ID == "" {
		refuse(w, http.StatusBadRequest, "INVALID_ARGUMENT", "Invalid request parameters")
		return
	}
	if s.sessions[in.ID] != nil {
		refuse(w, http.StatusConflict, "ALREADY_EXISTS", "Resource already exists: Session '"+in.ID+"' already exists")
		return
	}
	s.touch(in.ID)
	answer(w, map[string]any{"session_id": in.ID, "uri": home(in.ID)})
}

func (s *Server) touch(id string) *session {
	x := s.sessions[id]
	if x == nil {
		x = &session{}
		s.sessions[id] = x
	}
	s.ids++
	x.touched = s.ids
	return x
}

func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	x := s.sessions[id]
	if x == nil {
		refuse(w, http.StatusNotFound, "NOT_FOUND", "Session "+id+" not found")
		return
	}
	answer(w, openviking.Session{ID: id, URI: home(id), Live: len(x.live), Commits: len(x.archives)})
}

func (s *Server) drop(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if s.sessions[id] == nil {
		refuse(w, http.StatusNotFound, "NOT_FOUND", "Session "+id+" not found")
		return
	}
	delete(s.sessions, id)
	answer(w, map[string]any{"session_id": id})
}

func (s *Server) append(id string, list []openviking.Message) {
	x := s.touch(id)
	for _, m := range list {
		s.ids++
		m.ID = fmt.Sprintf("msg_%032x", s.ids)
		x.live = append(x.live, m)
	}
}

func (s *Server) add(w http.ResponseWriter, r *http.Request) {
	var m openviking.Message
	if json.NewDecoder(r.Body).Decode(&m) != nil {
		return
	}
	s.append(r.PathValue("id"), []openviking.Message{m})
	s.appended(w, r)
}

func (s *Server) addAll(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Messages []openviking.Message `json:"messages"`
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		return
	}
	if len(in.Messages) > 100 {
		refuse(w, http.StatusBadRequest, "INVALID_ARGUMENT", "at most 100 messages")
		return
	}
	list := in.Messages
	if half(r) {
		list = list[:len(list)/2]
	}
	s.append(r.PathValue("id"), list)
	s.appended(w, r)
}

func (s *Server) appended(w http.ResponseWriter, r *http.Request) {
	answer(w, map[string]any{"session_id": r.PathValue("id"), "message_count": len(s.sessions[r.PathValue("id")].live)})
}

func (s *Server) commit(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	x := s.sessions[id]
	switch {
	case x == nil:
		refuse(w, http.StatusNotFound, "NOT_FOUND", "Session "+id+" not found")
		return
	case len(x.live) == 0:
		answer(w, openviking.Commit{Status: "skipped"})
		return
	}
	x.archives, x.live = append(x.archives, x.live), nil
	n := len(x.archives)
	s.ids++
	name := fmt.Sprintf("task-%d", s.ids)
	s.tasks[name] = &task{polls: s.Polls, session: id, archive: n, status: "pending"}
	answer(w, openviking.Commit{Status: "accepted", Task: name, Archive: folder(id, n)})
}

func folder(id string, n int) string { return fmt.Sprintf("%s/history/archive_%03d", home(id), n) }

func (s *Server) task(w http.ResponseWriter, r *http.Request) {
	t := s.tasks[r.PathValue("id")]
	if t == nil {
		refuse(w, http.StatusNotFound, "NOT_FOUND", "Task not found or expired")
		return
	}
	if t.polls--; t.polls < 0 && t.status != "completed" {
		s.finish(t)
	}
	answer(w, openviking.Task{Status: t.status})
}

// finish is the end of a commit's second phase.
func (s *Server) finish(t *task) {
	t.status = "completed"
	adds, updates := []any{}, []any{}
	if s.Extract != nil {
		for uri, text := range s.Extract(s.sessions[t.session].archives[t.archive-1]) {
			kind, _, _ := strings.Cut(strings.TrimPrefix(uri, "viking://user/"+User+"/memories/"), "/")
			x := map[string]any{"uri": uri, "memory_type": kind, "after": text}
			if _, there := s.files[uri]; there {
				updates = append(updates, x)
			} else {
				adds = append(adds, x)
			}
			s.files[uri] = text + "\n\n<!-- MEMORY_FIELDS\n{\"version\": 1}\n-->"
		}
	}
	diff, _ := json.Marshal(map[string]any{"archive_uri": folder(t.session, t.archive), "extracted_at": "2026-11-30T20:47:49.690373+00:00",
		"operations": map[string]any{"adds": adds, "updates": updates, "deletes": []any{}}})
	s.files[folder(t.session, t.archive)+"/memory_diff.json"] = string(diff)
}
