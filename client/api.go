package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// API calls OpenViking's API, /api/v1, and decodes the result of its envelope into out, if that is not nil. A nil body sends none. The error
// has the kind that the answer's status tells, and the daemon's message.
func (c *Client) API(ctx context.Context, method, path string, id skald.Identity, q url.Values, body, out any) error {
	if err := c.meet(ctx); err != nil {
		return err
	}
	var raw []byte
	if body != nil {
		var err error
		if raw, err = wire.Encode(body); err != nil {
			return skald.Invalid("client", "body", "%w", err)
		}
	}
	path = "/api/v1/" + strings.TrimPrefix(path, "/")
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	answer, err := c.send(ctx, method, path, raw, func(h http.Header) {
		c.identify(h, id)
		if body != nil {
			h.Set("Content-Type", "application/json")
		}
	})
	if err != nil || out == nil {
		return err
	}
	var envelope struct {
		Result json.RawMessage `json:"result"`
	}
	if err := decode(path, answer, &envelope); err != nil || len(envelope.Result) == 0 {
		return err
	}
	return decode(path, envelope.Result, out)
}

// api is API without query parameters.
func (c *Client) api(ctx context.Context, method, path string, id skald.Identity, body, out any) error {
	return c.API(ctx, method, path, id, nil, body, out)
}
