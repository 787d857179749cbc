package client

import (
	"context"
	"net/http"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// Pack asks for a pack: the action export, with the URI of a folder, or backup. What comes back are the bytes of a zip file.
func (c *Client) Pack(ctx context.Context, id skald.Identity, action, uri string) ([]byte, error) {
	if err := c.meet(ctx); err != nil {
		return nil, err
	}
	body, err := wire.Encode(map[string]string{"uri": uri})
	if err != nil {
		return nil, skald.E("client.pack", skald.KindInternal, "%w", err)
	}
	return c.send(ctx, http.MethodPost, "/api/v1/pack/"+action, body, func(h http.Header) { c.identify(h, id) })
}
