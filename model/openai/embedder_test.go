package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
)

// serve answers calls of embeddings with what answer makes of the texts.
func serve(t *testing.T, answer func(texts []string) (status int, body string)) *Embedder {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var ask request
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &ask); err != nil || r.URL.Path != "/v1/embeddings" || ask.Model != "m" || r.Header.Get("Authorization") != "Bearer k" {
			t.Errorf("%s %s: %v", r.URL.Path, body, err)
		}
		status, text := answer(ask.Input)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return NewEmbedder(Options{URL: s.URL + "/v1/", Model: "m", Key: "k"})
}

func TestEmbedder(t *testing.T) {
	t.Parallel()
	calls := 0
	e := serve(t, func(texts []string) (int, string) {
		calls++
		var data []string
		for i := range texts { // the last one first: the index counts, not the order
			at := len(texts) - 1 - i
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[%d,-0.5,0]}`, at, len(texts[at])))
		}
		return 200, `{"data":[` + strings.Join(data, ",") + `]}`
	})
	texts := make([]string, maxTexts+3)
	for i := range texts {
		texts[i] = strings.Repeat("x", i+1)
	}
	got, err := e.Passages(t.Context(), texts)
	if err != nil || len(got) != len(texts) || calls != 2 {
		t.Fatalf("%d vectors in %d calls, %v", len(got), calls, err)
	}
	if fmt.Sprint(got[0]) != "[127 -64 0]" || fmt.Sprint(got[1]) != "[127 -32 0]" {
		t.Errorf("%v", got[:2])
	}
	q, err := e.Query(t.Context(), "x")
	if err != nil || fmt.Sprint(q) != "[127 -64 0]" {
		t.Errorf("%v, %v", q, err)
	}
	if e.Local() || e.Name() != "openai-m" {
		t.Error(e.Name())
	}
}

// What is no vector for each text is an error that may pass.
func TestEmbedderRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status     int
		body, want string
	}{
		{500, "out of memory", "status 500"},
		{401, "who are you", "status 401"},
		{200, "<html>", "no OpenAI-compatible answer"},
		{200, `{"data":[]}`, "0 vectors for 1 texts"},
		{200, `{"data":[{"index":1,"embedding":[1]}]}`, "missing"},
		{200, `{"data":[{"index":0,"embedding":[]}]}`, "missing"},
		{200, `{"data":[{"index":0,"embedding":["a"]}]}`, "no OpenAI-compatible answer"},
	} {
		e := serve(t, func([]string) (int, string) { return c.status, c.body })
		if v, err := e.Query(t.Context(), "x"); v != nil || skald.KindOf(err) != skald.KindUnavailable || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v", c.body, v, err)
		}
	}
	nobody := NewEmbedder(Options{URL: "http://127.0.0.1:1/v1", Model: "m"})
	if _, err := nobody.Query(t.Context(), "x"); skald.KindOf(err) != skald.KindUnavailable {
		t.Error(err)
	}
}
