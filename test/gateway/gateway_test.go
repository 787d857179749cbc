package gateway

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// mockModel answers every chat completion with "echo: " and the last user text that is not the host's own.
func mockModel(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var req struct {
			Messages []struct {
				Role    string          `json:"role"`
				Content json.RawMessage `json:"content"`
			} `json:"messages"`
		}
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		last := ""
		for _, m := range req.Messages {
			if s := string(m.Content); m.Role == "user" && !strings.Contains(s, "BEGIN_OPENCLAW_INTERNAL_CONTEXT") {
				last = s
			}
		}
		w.Header().Set("content-type", "text/event-stream")
		chunk := func(v map[string]any) {
			v["id"], v["object"], v["model"] = "c", "chat.completion.chunk", "scripted"
			data, _ := json.Marshal(v)
			fmt.Fprintf(w, "data: %s\n\n", data)
		}
		delta := map[string]any{"role": "assistant", "content": "echo: " + last}
		chunk(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": nil}}})
		chunk(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": "stop"}}})
		chunk(map[string]any{"choices": []any{}, "usage": map[string]any{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}})
		fmt.Fprint(w, "data: [DONE]\n\n")
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

func options(t *testing.T) Options {
	return Options{
		Dir: t.TempDir(),
		Providers: []Provider{{
			Name: "mock", BaseURL: mockModel(t), API: "openai-completions",
			Models: []Model{{ID: "scripted", Input: []string{"text", "image"}}},
		}},
		PrimaryModel: "mock/scripted",
		ToolProfile:  "minimal",
	}
}

func TestGateway(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real OpenClaw; run without -short")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	g, err := Start(ctx, options(t))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Stop()
	say := func(text string) {
		t.Helper()
		begin := time.Now()
		reply, err := g.Turn(ctx, "agent:main:t1", text)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(reply, "echo: ") || !strings.Contains(reply, text) {
			t.Errorf("reply to %q: %q", text, reply)
		}
		t.Logf("turn took %v", time.Since(begin).Round(time.Millisecond))
	}
	say("hello one")
	say("hello two")

	pixel, err := base64.StdEncoding.DecodeString(
		"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	if err != nil {
		t.Fatal(err)
	}
	reply, err := g.Turn(ctx, "agent:main:t2", "what is this", WithImage("image/png", pixel), WithModel("mock/scripted"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(reply, "image_url") {
		t.Errorf("the image did not reach the model: %q", reply)
	}

	begin := time.Now()
	payload, err := g.Call(ctx, "chat.history", map[string]any{"sessionKey": "agent:main:t1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("call took %v", time.Since(begin).Round(time.Millisecond))
	if n := strings.Count(string(payload), `"role":"user"`); n != 2 {
		t.Errorf("%d user messages in the history, want 2: %s", n, payload)
	}
	if _, err := g.Call(ctx, "sessions.reset", map[string]any{"key": "agent:main:t1"}); err != nil {
		t.Error(err)
	}
	if _, err := g.Call(ctx, "no.such.method", nil); err == nil {
		t.Error("an unknown method was accepted")
	}

	g.Kill()
	if err := g.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	say("hello three")
	if _, err := g.Call(ctx, "sessions.delete", map[string]any{"key": "agent:main:t1"}); err != nil {
		t.Error(err)
	}
}

func TestLocal(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real OpenClaw; run without -short")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	reply, err := Local(ctx, options(t), "agent:main:l1", "hello local")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(reply, "echo: ") {
		t.Errorf("reply: %q", reply)
	}
}

func TestMerge(t *testing.T) {
	got := merge(
		map[string]any{"a": map[string]any{"x": 1, "y": 2}, "b": []int{1}},
		map[string]any{"a": map[string]any{"y": 3}, "b": []int{2}, "c": 4})
	if s := fmt.Sprint(got); s != "map[a:map[x:1 y:3] b:[2] c:4]" {
		t.Error(s)
	}
}
