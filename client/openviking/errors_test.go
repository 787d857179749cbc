package openviking

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
)

// Every failure has its kind, says whether the request may have been carried out, and what to do.
func TestErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  int
		body    string
		kind    skald.Kind
		unclear bool
		down    bool
		says    string
	}{
		"wrong key":  {401, `{"error":{"code":"UNAUTHENTICATED","message":"Invalid API key"}}`, skald.KindUnauth, false, true, "store_key"},
		"root key":   {403, `{"error":{"code":"PERMISSION_DENIED","message":"ROOT API keys cannot access"}}`, skald.KindPermission, false, true, "a user's key"},
		"deletion":   {412, `{"error":{"code":"FAILED_PRECONDITION","message":"User deletion is in progress"}}`, skald.KindConflict, false, false, "deletion"},
		"locked":     {409, `{"error":{"code":"CONFLICT","message":"busy"}}`, skald.KindConflict, false, false, "tried again"},
		"exists":     {409, `{"error":{"code":"ALREADY_EXISTS","message":"s"}}`, skald.KindExists, false, false, "ALREADY_EXISTS"},
		"bad":        {400, `{"error":{"code":"INVALID_ARGUMENT","message":"surrogates not allowed"}}`, skald.KindInvalid, false, false, "surrogates"},
		"fault":      {500, `not JSON`, skald.KindUnavailable, true, false, "see its log"},
		"proxy":      {503, ``, skald.KindUnavailable, true, true, "tried again"},
		"overloaded": {429, ``, skald.KindUnavailable, true, true, "overloaded"},
		"no JSON":    {200, `<html>`, skald.KindUnavailable, true, true, "no whole answer"},
		"no success": {200, `{"status":"error"}`, skald.KindUnavailable, true, true, "no whole answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			defer s.Close()
			_, err := New(s.URL, Options{}).User(context.Background())
			if skald.KindOf(err) != c.kind || Unclear(err) != c.unclear || Down(err) != c.down || !strings.Contains(err.Error(), c.says) {
				t.Errorf("kind %s, unclear %v, down %v: %v", skald.KindOf(err), Unclear(err), Down(err), err)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	_, err := New("http://127.0.0.1:1", Options{}).Health(context.Background())
	if skald.KindOf(err) != skald.KindUnavailable || !Unclear(err) || !Down(err) || !strings.Contains(err.Error(), "see that the server runs") {
		t.Errorf("%v", err)
	}
}

// Headers of identity go out only when they are set (001-017).
func TestHeaders(t *testing.T) {
	t.Parallel()
	var got http.Header
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		_, _ = w.Write([]byte(`{"status":"ok","result":{"user":"me"}}`))
	}))
	defer s.Close()
	if _, err := New(s.URL, Options{Key: "k"}).User(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got.Get("X-API-Key") != "k" || got.Get("X-OpenViking-Account") != "" || got.Get("X-OpenViking-Agent") != "" {
		t.Errorf("headers: %v", got)
	}
	if _, err := New(s.URL, Options{Account: "a", User: "u", Agent: "g"}).User(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got.Get("X-OpenViking-Account") != "a" || got.Get("X-OpenViking-User") != "u" || got.Get("X-OpenViking-Agent") != "g" {
		t.Errorf("headers: %v", got)
	}
}
