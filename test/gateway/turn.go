package gateway

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// TurnOption changes one turn.
type TurnOption func(*turn)

type turn struct {
	header http.Header
	parts  []map[string]any
}

// WithModel overrides the model of one turn ("provider/model").
func WithModel(model string) TurnOption {
	return func(t *turn) { t.header.Set("x-openclaw-model", model) }
}

// WithImage adds an image to the user's message.
func WithImage(mimeType string, data []byte) TurnOption {
	url := "data:" + mimeType + ";base64," + base64.StdEncoding.EncodeToString(data)
	return WithPart(map[string]any{"type": "image_url", "image_url": map[string]any{"url": url}})
}

// WithPart adds a content part in OpenAI's form to the user's message.
func WithPart(part map[string]any) TurnOption {
	return func(t *turn) { t.parts = append(t.parts, part) }
}

// WithHeader sets a request header, as x-openclaw-message-channel.
func WithHeader(key, value string) TurnOption {
	return func(t *turn) { t.header.Set(key, value) }
}

// Turn sends one user message to a session ("agent:main:<name>") and returns the reply. It goes over
// POST /v1/chat/completions, where slash commands are ordinary text: use Call for reset, compact and delete.
// After a restart the host may be busy recovering the session and ask for a retry, which is done once.
func (g *Gateway) Turn(ctx context.Context, sessionKey, text string, opts ...TurnOption) (reply string, err error) {
	t := turn{header: http.Header{}}
	for _, o := range opts {
		o(&t)
	}
	var content any = text
	if len(t.parts) > 0 {
		content = append([]map[string]any{{"type": "text", "text": text}}, t.parts...)
	}
	body, err := json.Marshal(map[string]any{
		"model":    "openclaw/main",
		"messages": []any{map[string]any{"role": "user", "content": content}},
	})
	if err != nil {
		return "", err
	}
	t.header.Set("authorization", "Bearer "+Token)
	t.header.Set("content-type", "application/json")
	t.header.Set("x-openclaw-session-key", sessionKey)

	status, answer, err := g.post(ctx, body, t.header)
	if err == nil && status == http.StatusInternalServerError && bytes.Contains(answer, []byte("Retry")) {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(time.Second):
		}
		status, answer, err = g.post(ctx, body, t.header)
	}
	if err != nil {
		return "", err
	}
	if status != http.StatusOK {
		return "", fmt.Errorf("turn: HTTP %d: %s", status, tail(answer))
	}
	var completion struct {
		Choices []struct {
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(answer, &completion); err != nil {
		return "", fmt.Errorf("turn: %w: %s", err, tail(answer))
	}
	var texts []string
	for _, c := range completion.Choices {
		texts = append(texts, c.Message.Content)
	}
	return strings.Join(texts, "\n"), nil
}

func (g *Gateway) post(ctx context.Context, body []byte, header http.Header) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, "POST", g.URL()+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header = header
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(res.Body)
	return res.StatusCode, answer, err
}
