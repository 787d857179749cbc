package openviking

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/skald-engine/skald"
)

// Health reads the server's version. It asks for no key.
func (c *Client) Health(ctx context.Context) (version string, err error) {
	const path = "/health"
	raw, err := c.bytes(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return "", err
	}
	var h struct {
		Healthy bool   `json:"healthy"`
		Status  string `json:"status"`
		Version string `json:"version"`
	}
	if err := json.Unmarshal(raw, &h); err != nil || !h.Healthy && h.Status != "ok" {
		return "", c.unclear(http.MethodGet, path, errors.New("this is no OpenViking server, or it is not healthy"))
	}
	return h.Version, nil
}

// HasBatch reports whether the server takes several messages at once. It asks the route with a method that it does not have, which does
// nothing: "not allowed" means that the route is there.
func (c *Client) HasBatch(ctx context.Context) (bool, error) {
	err := c.call(ctx, http.MethodGet, sessions+"/skald/messages/batch", nil, nil, nil)
	fault := AsFault(err)
	switch {
	case err == nil:
		return false, nil
	case fault == nil || Unclear(err) && fault.Status != http.StatusNotImplemented || skald.KindOf(err) == skald.KindUnauth:
		return false, err
	}
	return fault.Status == http.StatusMethodNotAllowed, nil
}

// AsFault is the server's error answer behind an error, or nil.
func AsFault(err error) *Fault {
	var fault *Fault
	errors.As(err, &fault)
	return fault
}
