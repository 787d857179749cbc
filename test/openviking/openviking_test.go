package openviking

import (
	"net/http"
	"strings"
	"testing"
)

// TestStart: a server with keys knows its users, and embeds by the scripted models.
func TestStart(t *testing.T) {
	s := Start(t, Options{})
	key := s.NewUser(t, "acme", "ann")
	if status, body := s.Request(t, http.MethodGet, "/api/v1/system/status", key, nil); status != 200 || !strings.Contains(string(body), `"ann"`) {
		t.Errorf("%d %s", status, body)
	}
	if status, body := s.Request(t, http.MethodGet, "/api/v1/sessions", "", nil); status != 401 {
		t.Errorf("without a key: %d %s", status, body)
	}
	status, body := s.Request(t, http.MethodPost, "/api/v1/content/write", key,
		[]byte(`{"uri":"viking://resources/a.md","content":"An anchor.","mode":"create","wait":true}`))
	if status != 200 || s.Models.Embedded() == 0 {
		t.Errorf("%d %s, %d texts embedded", status, body, s.Models.Embedded())
	}
}
