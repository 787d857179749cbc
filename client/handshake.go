package client

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"syscall"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// Handshake asks who listens. It needs no key and sends none. It fails with KindUnavailable when nothing listens, and with
// KindConflict when another program does or the protocols are more than one version apart.
func (c *Client) Handshake(ctx context.Context) (wire.Handshake, error) {
	var h wire.Handshake
	answer, err := c.send(ctx, http.MethodGet, "/engine/v1/handshake", nil, nil)
	switch kind := skald.KindOf(err); {
	case kind == skald.KindUnavailable, kind == skald.KindDeadline:
		return h, err
	case err != nil, json.Unmarshal(answer, &h) != nil, h.Name != wire.Name:
		return h, skald.E("client.handshake", skald.KindConflict, "what answers at %s is not Skald", c.base)
	}
	return h, check(h)
}

// check lets both ends be one version apart.
func check(h wire.Handshake) error {
	switch {
	case h.Protocol > skald.ProtocolVersion+1:
		return skald.E("client.handshake", skald.KindConflict,
			"the daemon (skald %s) speaks protocol %d, this program %d: install this program in the daemon's version",
			h.Version, h.Protocol, skald.ProtocolVersion)
	case h.Protocol < skald.ProtocolVersion-1:
		return skald.E("client.handshake", skald.KindConflict,
			"the daemon (skald %s) speaks protocol %d, this program %d: restart the daemon with this program (`skald serve`)",
			h.Version, h.Protocol, skald.ProtocolVersion)
	}
	return nil
}

// meet makes the handshake before the first call, so that the key goes to Skald only.
func (c *Client) meet(ctx context.Context) error {
	if c.known.Load() {
		return nil
	}
	if _, err := c.Handshake(ctx); err != nil {
		return err
	}
	c.known.Store(true)
	return nil
}

// unreachable says in words why no answer came.
func (c *Client) unreachable(ctx context.Context, err error) error {
	var dns *net.DNSError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return skald.E("client", skald.KindDeadline, "the daemon at %s did not answer in time", c.base)
	case ctx.Err() != nil:
		return &skald.Error{Op: "client", Kind: skald.KindUnavailable, Err: ctx.Err()}
	case errors.Is(err, syscall.ECONNREFUSED), errors.As(err, &dns):
		return skald.E("client", skald.KindUnavailable, "no daemon answers at %s: start it with `skald serve`", c.base)
	}
	return skald.E("client", skald.KindUnavailable, "the daemon at %s could not be reached: %w", c.base, err)
}
