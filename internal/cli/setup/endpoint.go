package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/internal/config"
)

// callTime is how long an endpoint may take for the one call that checks it: a local model may have to be loaded first.
const callTime = 60 * time.Second

// CheckModel makes one call for a single token, CheckEmbedding one for the vector of a word: URL, model and key are right when it
// works. env is os.Getenv.
func CheckModel(ctx context.Context, e config.Endpoint, env func(string) string) error {
	return check(ctx, "model", e, env, "/chat/completions", map[string]any{
		"model": e.Name, "messages": []map[string]string{{"role": "user", "content": "Say ok."}}, "max_tokens": 1,
	}, "choices")
}

// CheckEmbedding is CheckModel for embeddings.
func CheckEmbedding(ctx context.Context, e config.Endpoint, env func(string) string) error {
	return check(ctx, "embedding", e, env, "/embeddings", map[string]any{"model": e.Name, "input": "ok"}, "data")
}

func check(ctx context.Context, key string, e config.Endpoint, env func(string) string, path string, ask any, want string) error {
	if err := e.Check(key); err != nil {
		return err
	}
	secret := e.Key(env)
	if e.KeyEnv != "" && secret == "" {
		return skald.Invalid("", key+".key_env", "the environment variable %s is empty", e.KeyEnv)
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	status, answer, err := post(ctx, strings.TrimRight(e.URL, "/")+path, secret, ask)
	if err != nil {
		return &skald.Error{Field: key + ".url", Kind: skald.KindUnavailable, Err: err}
	}
	return judge(key, e, status, answer, want)
}

func post(ctx context.Context, url, secret string, ask any) (status int, answer []byte, err error) {
	body, err := json.Marshal(ask)
	if err != nil {
		return 0, nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, answer, err
}

// judge reads the answer of the one call.
func judge(key string, e config.Endpoint, status int, answer []byte, want string) error {
	var object map[string]json.RawMessage
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return &skald.Error{Field: key + ".key_env", Kind: skald.KindUnauth, Err: fmt.Errorf("%s refuses the key (status %d)", e.URL, status)}
	case status != http.StatusOK:
		return skald.Invalid("", key, "%s answered with status %d to a call of %q: %s", e.URL, status, e.Name, clip(answer))
	case json.Unmarshal(answer, &object) != nil || len(object[want]) == 0:
		return skald.Invalid("", key+".url", "what answers at %s is not an OpenAI-compatible API: %s", e.URL, clip(answer))
	}
	return nil
}

func clip(answer []byte) string {
	const most = 200
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(answer), "�")), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
