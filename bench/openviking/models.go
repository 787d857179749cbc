package openviking

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Completion is one request for a completion.
type Completion struct {
	Text  string   // all messages, in order, a line between
	Tools []string // names of the offered tools
	Raw   []byte   // the body as received
}

// Reply is the scripted answer to a completion.
type Reply struct {
	Text string
	Tool string // name of a tool to call, with Args; Text is empty then
	Args any
}

// Models is an OpenAI-compatible endpoint on loopback: embeddings by Embed, completions by a script.
type Models struct {
	url    string
	server *http.Server

	mu          sync.Mutex
	answer      func(Completion) Reply
	completions []Completion
	embedded    int
}

// StartModels starts the endpoint. A nil script answers with Script.
func StartModels(script func(Completion) Reply) (*Models, error) {
	if script == nil {
		script = Script
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &Models{url: "http://" + l.Addr().String() + "/v1", answer: script}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/embeddings", m.embeddings)
	mux.HandleFunc("POST /v1/chat/completions", m.complete)
	m.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = m.server.Serve(l) }()
	return m, nil
}

// URL is the base URL with /v1 at its end.
func (m *Models) URL() string { return m.url }

// Close ends the endpoint and every open answer.
func (m *Models) Close() error { return m.server.Close() }

// Completions are the requests so far.
func (m *Models) Completions() []Completion {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.completions)
}

// Embedded is the number of texts embedded so far.
func (m *Models) Embedded() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.embedded
}

func (m *Models) embeddings(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Input  json.RawMessage `json:"input"`
		Format string          `json:"encoding_format"`
		Model  string          `json:"model"`
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	texts, tokens := inputs(q.Input), 0
	data := make([]any, len(texts))
	for i, text := range texts {
		var vector any = Embed(text)
		if q.Format == "base64" {
			vector = packed(Embed(text))
		}
		data[i] = map[string]any{"object": "embedding", "index": i, "embedding": vector}
		tokens += 1 + len(text)/4
	}
	m.mu.Lock()
	m.embedded += len(texts)
	m.mu.Unlock()
	reply(w, map[string]any{"object": "list", "data": data, "model": q.Model,
		"usage": map[string]int{"prompt_tokens": tokens, "total_tokens": tokens}})
}

// inputs are the texts of an embedding request: one, or a list.
func inputs(raw json.RawMessage) (texts []string) {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	_ = json.Unmarshal(raw, &texts)
	return texts
}

// packed is a vector as the official clients ask for it: little-endian floats in base64.
func packed(v []float32) string {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(b)
}

func (m *Models) complete(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		return
	}
	c, stream, err := parse(raw)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	m.completions = append(m.completions, c)
	n, answer := len(m.completions), m.answer
	m.mu.Unlock()
	a := answer(c)
	message, finish := map[string]any{"role": "assistant", "content": a.Text}, "stop"
	if a.Tool != "" {
		args, _ := json.Marshal(a.Args)
		message["content"], finish = nil, "tool_calls"
		message["tool_calls"] = []any{map[string]any{"index": 0, "id": fmt.Sprintf("call_%06d", n), "type": "function",
			"function": map[string]any{"name": a.Tool, "arguments": string(args)}}}
	}
	usage := map[string]int{"prompt_tokens": 1 + len(c.Text)/4, "completion_tokens": 1 + len(a.Text)/4, "total_tokens": 2 + (len(c.Text)+len(a.Text))/4}
	out := map[string]any{"id": fmt.Sprintf("chatcmpl-%06d", n), "created": 1767225600, "model": "scripted", "usage": usage}
	if !stream {
		out["object"], out["choices"] = "chat.completion", []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}}
		reply(w, out)
		return
	}
	out["object"], out["choices"] = "chat.completion.chunk", []any{map[string]any{"index": 0, "delta": message, "finish_reason": finish}}
	b, _ := json.Marshal(out)
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", b)
}

func parse(raw []byte) (c Completion, stream bool, err error) {
	var q struct {
		Stream   bool `json:"stream"`
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(raw, &q); err != nil {
		return c, false, err
	}
	c.Raw = bytes.Clone(raw)
	var text []string
	for _, m := range q.Messages {
		text = append(text, contentText(m.Content))
	}
	c.Text = strings.Join(text, "\n")
	for _, t := range q.Tools {
		c.Tools = append(c.Tools, t.Function.Name)
	}
	return c, q.Stream, nil
}

func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts)
	for _, p := range parts {
		text += p.Text + "\n"
	}
	return text
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
