package fake

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/skald-engine/skald/client/openviking"
)

func (s *Server) missing(w http.ResponseWriter, r *http.Request) (string, bool) {
	uri := r.URL.Query().Get("uri")
	text, ok := s.file(uri)
	if !ok {
		refuse(w, http.StatusNotFound, "NOT_FOUND", "File not found: "+uri)
	}
	return text, !ok
}

func (s *Server) read(w http.ResponseWriter, r *http.Request) {
	if text, missing := s.missing(w, r); !missing {
		answer(w, text)
	}
}

func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	if text, missing := s.missing(w, r); !missing {
		_, _ = w.Write([]byte(text))
	}
}

func (s *Server) write(w http.ResponseWriter, r *http.Request) {
	var in struct{ URI, Content, Mode string }
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		return
	}
	_, there := s.files[in.URI]
	switch {
	case strings.Contains(in.URI, "/sessions/"):
		refuse(w, http.StatusBadRequest, "INVALID_ARGUMENT", "user-scope writes need a file under memories/, resources/, or directly at the user root: "+in.URI)
		return
	case in.Mode == "replace" && !there:
		refuse(w, http.StatusNotFound, "NOT_FOUND", "File not found: "+in.URI)
		return
	}
	s.files[in.URI] = in.Content
	answer(w, map[string]any{"uri": in.URI, "mode": in.Mode})
}

func (s *Server) remove(w http.ResponseWriter, r *http.Request) {
	uri := r.URL.Query().Get("uri")
	delete(s.files, uri)
	answer(w, map[string]any{"uri": uri})
}

// ls lists a session's archives; nothing else is asked for.
func (s *Server) ls(w http.ResponseWriter, r *http.Request) {
	uri := r.URL.Query().Get("uri")
	id, ok := strings.CutSuffix(strings.TrimPrefix(uri, home("")), "/history")
	x := s.sessions[id]
	if !ok || x == nil || len(x.archives) == 0 {
		refuse(w, http.StatusNotFound, "NOT_FOUND", "Directory not found: "+uri)
		return
	}
	out := []openviking.Entry{}
	for i := range x.archives {
		u := folder(id, i+1)
		out = append(out, openviking.Entry{Name: u[strings.LastIndexByte(u, '/')+1:], URI: u, Dir: true})
	}
	answer(w, out)
}
