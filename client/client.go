// Package client talks to a Skald daemon: skald.Engine and skald.Inspector over HTTP. The host's messages go over byte for
// byte in both directions.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// Options are what a caller may choose. The zero value works.
type Options struct {
	HTTP *http.Client // default: a client without time limit; every call obeys its context
}

// Client implements skald.Engine and skald.Inspector. It is safe for concurrent use.
type Client struct {
	base  string
	key   string
	http  *http.Client
	known atomic.Bool // the handshake was good
}

var (
	_ skald.Engine    = (*Client)(nil)
	_ skald.Inspector = (*Client)(nil)
)

// New makes a client of the daemon at baseURL, for example http://127.0.0.1:1933. key is "" for a daemon in dev mode. Nothing
// is sent before the first call, and the key only to a daemon whose handshake was good.
func New(baseURL, key string, o Options) *Client {
	c := &Client{base: strings.TrimRight(baseURL, "/"), key: key, http: o.HTTP}
	if c.http == nil {
		c.http = &http.Client{}
	}
	return c
}

// post sends a JSON body and decodes the answer into out, if that is not nil.
func (c *Client) post(ctx context.Context, path string, id skald.Identity, body []byte, out any) error {
	answer, err := c.call(ctx, http.MethodPost, path, id, body)
	if err != nil {
		return err
	}
	return decode(path, answer, out)
}

// get asks with query parameters and decodes the answer into out.
func (c *Client) get(ctx context.Context, path string, id skald.Identity, q url.Values, out any) error {
	answer, err := c.getBytes(ctx, path, id, q)
	if err != nil {
		return err
	}
	return decode(path, answer, out)
}

func (c *Client) getBytes(ctx context.Context, path string, id skald.Identity, q url.Values) ([]byte, error) {
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	return c.call(ctx, http.MethodGet, path, id, nil)
}

func decode(path string, answer []byte, out any) error {
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return skald.E("client."+path, skald.KindInternal, "the daemon's answer is not what was expected: %w", err)
	}
	return nil
}

// call makes one request behind the handshake.
func (c *Client) call(ctx context.Context, method, path string, id skald.Identity, body []byte) ([]byte, error) {
	if err := c.meet(ctx); err != nil {
		return nil, err
	}
	return c.send(ctx, method, "/engine/v1/"+path, body, func(h http.Header) { c.identify(h, id) })
}

// identify says who calls. With a key the daemon takes account and user from the key and these headers for nothing.
func (c *Client) identify(h http.Header, id skald.Identity) {
	if c.key != "" {
		h.Set("Authorization", "Bearer "+c.key)
	}
	for name, value := range map[string]string{
		wire.HeaderAccount: id.Account, wire.HeaderUser: id.User, wire.HeaderAgent: id.Agent,
	} {
		if value != "" {
			h.Set(name, value)
		}
	}
}

func (c *Client) send(ctx context.Context, method, path string, body []byte, dress func(http.Header)) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, skald.Invalid("client", "url", "%q is not a base URL: %w", c.base, err)
	}
	req.Header.Set(wire.HeaderProtocol, strconv.Itoa(skald.ProtocolVersion))
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	if dress != nil {
		dress(req.Header)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		c.known.Store(false) // another program may have taken the port: meet again
		return nil, c.unreachable(ctx, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusAccepted {
		return nil, failure(resp.StatusCode, answer)
	}
	return answer, nil
}

// failure maps an error answer back to the error that the daemon had.
func failure(status int, answer []byte) error {
	var body struct {
		Error wire.EngineError `json:"error"`
	}
	err := json.Unmarshal(answer, &body)
	if err == nil && body.Error.Message != "" && body.Error.Kind == "" { // OpenViking's form: a code instead of a kind
		return &skald.Error{Op: "client", Kind: kindOf(status), Err: errors.New(body.Error.Message)}
	}
	if err != nil || body.Error.Kind == "" {
		return skald.E("client", kindOf(status), "the daemon answered with status %d", status)
	}
	e := body.Error
	return &skald.Error{Op: e.Op, URI: e.URI, Field: e.Field, Kind: e.Kind, Err: errors.New(e.Message)}
}

// kindOf guesses a kind where the answer has none: from a proxy, say.
func kindOf(status int) skald.Kind {
	switch status {
	case http.StatusUnauthorized:
		return skald.KindUnauth
	case http.StatusForbidden:
		return skald.KindPermission
	case http.StatusNotFound:
		return skald.KindNotFound
	case http.StatusConflict, http.StatusPreconditionFailed:
		return skald.KindConflict
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return skald.KindUnavailable
	case http.StatusGatewayTimeout:
		return skald.KindDeadline
	}
	if status >= 400 && status < 500 {
		return skald.KindInvalid
	}
	return skald.KindInternal
}
