package openviking

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// CreateAccount makes an account with one user, its admin, by the root key, and returns that user's key.
func (s *Server) CreateAccount(ctx context.Context, account, user string) (key string, err error) {
	var made struct {
		Result struct {
			Key string `json:"user_key"`
		} `json:"result"`
	}
	err = s.post(ctx, "/api/v1/admin/accounts", map[string]any{"account_id": account, "admin_user_id": user}, &made)
	return made.Result.Key, err
}

func (s *Server) post(ctx context.Context, path string, body, into any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+path, bytes.NewReader(b))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-API-Key", s.RootKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		var why bytes.Buffer
		_, _ = why.ReadFrom(resp.Body)
		return fmt.Errorf("openviking: POST %s: %s: %s", path, resp.Status, why.String())
	}
	return json.NewDecoder(resp.Body).Decode(into)
}
