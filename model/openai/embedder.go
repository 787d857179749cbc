// Package openai asks models behind an OpenAI-compatible API.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/skald-engine/skald"
)

// Options of an Embedder. URL and Model are needed.
type Options struct {
	URL   string // base URL, for example http://127.0.0.1:11434/v1
	Model string // its name there
	Key   string // sent as a bearer token; "": none
	// Timeout of one call; 0: 30 seconds.
	Timeout time.Duration
}

// Embedder is a skald.Embedder behind POST <URL>/embeddings.
type Embedder struct {
	o      Options
	client *http.Client
}

var _ skald.Embedder = (*Embedder)(nil)

// The bounds of a call.
const (
	maxTexts  = 64       // of one call: what small servers take
	maxAnswer = 64 << 20 // bytes
	maxQuoted = 200      // characters of an answer that an error quotes
)

// NewEmbedder makes an Embedder. Nothing is asked yet.
func NewEmbedder(o Options) *Embedder {
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	return &Embedder{o: o, client: &http.Client{Timeout: o.Timeout}}
}

// Name implements skald.Embedder.
func (e *Embedder) Name() string { return "openai-" + e.o.Model }

// Local implements skald.Embedder.
func (e *Embedder) Local() bool { return false }

// Query implements skald.Embedder.
func (e *Embedder) Query(ctx context.Context, text string) ([]int8, error) {
	list, err := e.call(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// Passages implements skald.Embedder.
func (e *Embedder) Passages(ctx context.Context, texts []string) ([][]int8, error) {
	out := make([][]int8, 0, len(texts))
	for len(texts) > 0 {
		n := min(maxTexts, len(texts))
		list, err := e.call(ctx, texts[:n])
		if err != nil {
			return nil, err
		}
		out, texts = append(out, list...), texts[n:]
	}
	return out, nil
}

type request struct {
	Model string   `json:"model"`
	Input []string `json:"input"`
}

type answer struct {
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	} `json:"data"`
}

// call makes one call for at most maxTexts texts.
func (e *Embedder) call(ctx context.Context, texts []string) ([][]int8, error) {
	body, err := json.Marshal(request{e.o.Model, texts})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(e.o.URL, "/")+"/embeddings", bytes.NewReader(body))
	if err != nil {
		return nil, skald.Invalid("embed", "embedding.url", "%v", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if e.o.Key != "" {
		req.Header.Set("Authorization", "Bearer "+e.o.Key)
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, skald.E("embed", skald.KindUnavailable, "%w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch {
	case err != nil:
		return nil, skald.E("embed", skald.KindUnavailable, "%w", err)
	case resp.StatusCode != http.StatusOK:
		return nil, skald.E("embed", skald.KindUnavailable, "%s answered with status %d: %s", e.o.URL, resp.StatusCode, quote(text))
	}
	return read(text, len(texts))
}

// read takes the vectors out of an answer to n texts.
func read(text []byte, n int) ([][]int8, error) {
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, unusable("no OpenAI-compatible answer: %s", quote(text))
	}
	if len(a.Data) != n {
		return nil, unusable("%d vectors for %d texts", len(a.Data), n)
	}
	out := make([][]int8, n)
	for _, d := range a.Data {
		if d.Index < 0 || d.Index >= n || out[d.Index] != nil || len(d.Embedding) == 0 || len(d.Embedding) != len(a.Data[0].Embedding) {
			return nil, unusable("vector %d is missing, there twice, or of another length", d.Index)
		}
		out[d.Index] = small(d.Embedding)
	}
	return out, nil
}

func unusable(format string, args ...any) error {
	return skald.E("embed", skald.KindUnavailable, format, args...)
}

// small rounds a vector to int8, its largest number to 127: only the direction counts.
func small(v []float64) []int8 {
	most := 0.0
	for _, x := range v {
		most = max(most, math.Abs(x))
	}
	out := make([]int8, len(v))
	if most == 0 || math.IsInf(most, 0) || math.IsNaN(most) {
		return out
	}
	for i, x := range v {
		out[i] = int8(math.Round(x / most * 127))
	}
	return out
}

func quote(text []byte) string {
	r := []rune(strings.ToValidUTF8(string(text), "�"))
	return fmt.Sprintf("%q", string(r[:min(len(r), maxQuoted)]))
}
