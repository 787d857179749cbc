package client

import (
	"context"
	"encoding/json"
	"net/http"

	skald "github.com/skald-engine/skald"
)

// Owner says whose this client's key is. keyed is false for a daemon in dev mode, and for a key that it does not know (the next call
// says so).
func (c *Client) Owner(ctx context.Context) (owner skald.Identity, keyed bool, err error) {
	if err := c.meet(ctx); err != nil {
		return owner, false, err
	}
	answer, err := c.send(ctx, http.MethodGet, "/health", nil, func(h http.Header) { c.identify(h, skald.Identity{}) })
	if err != nil {
		return owner, false, err
	}
	var health struct {
		Account string `json:"account_id"`
		User    string `json:"user_id"`
	}
	if err := json.Unmarshal(answer, &health); err != nil {
		return owner, false, skald.E("client.health", skald.KindInternal, "the daemon's answer is not what was expected: %w", err)
	}
	return skald.Identity{Account: health.Account, User: health.User}, health.User != "", nil
}
