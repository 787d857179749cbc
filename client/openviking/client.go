package openviking

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/skald-engine/skald"
)

// Options of a client. The zero value calls a server that asks for no key.
type Options struct {
	Key string // X-API-Key; "" sends none
	// Account, User and Agent are sent as X-OpenViking-… when they are set: for a server in trusted mode, and for older ones (001-017).
	Account, User, Agent string
	// Timeout of one call; 0 is a minute. It is longer than the half minute for which a server waits for a session's lock: a request that was
	// given up earlier might still be carried out afterwards.
	Timeout   time.Duration
	Transport http.RoundTripper // nil: the default
}

// DefaultTimeout is the timeout of one call.
const DefaultTimeout = time.Minute

// maxAnswer is the most that is read of an answer: a session's messages may be long.
const maxAnswer = 1 << 30

// Client calls one server.
type Client struct {
	base    string
	options Options
	http    *http.Client
}

// New makes a client for a server's base URL.
func New(base string, o Options) *Client {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	return &Client{base: strings.TrimRight(base, "/"), options: o, http: &http.Client{Transport: o.Transport, Timeout: o.Timeout}}
}

// URL is the server's base URL.
func (c *Client) URL() string { return c.base }

// call sends a JSON body (nil for none) and reads the result of the answer into a value (nil: not wanted).
func (c *Client) call(ctx context.Context, method, path string, query url.Values, body, into any) error {
	raw, err := c.bytes(ctx, method, path, query, body)
	if err != nil {
		return err
	}
	var envelope struct {
		Status string          `json:"status"`
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(raw, &envelope); err != nil {
		return c.unclear(method, path, fmt.Errorf("the answer is no JSON: %w", err))
	}
	if envelope.Status != "ok" {
		return c.unclear(method, path, fmt.Errorf("the answer has the status %q", envelope.Status))
	}
	if into == nil || len(envelope.Result) == 0 {
		return nil
	}
	if err := json.Unmarshal(envelope.Result, into); err != nil {
		return c.unclear(method, path, fmt.Errorf("the answer cannot be read: %w", err))
	}
	return nil
}

// bytes sends a request and returns the body of a successful answer.
func (c *Client) bytes(ctx context.Context, method, path string, query url.Values, body any) ([]byte, error) {
	req, err := c.request(ctx, method, path, query, body)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unclear(method, path, errors.Unwrap(err))
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch {
	case resp.StatusCode/100 != 2:
		return nil, c.refused(method, path, resp.StatusCode, raw)
	case err != nil:
		return nil, c.unclear(method, path, fmt.Errorf("the answer broke off: %w", err))
	}
	return raw, nil
}

func (c *Client) request(ctx context.Context, method, path string, query url.Values, body any) (*http.Request, error) {
	address := c.base + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	var reader io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, skald.E("openviking", skald.KindInvalid, "%s %s: %w", method, path, err)
		}
		reader = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, reader)
	if err != nil {
		return nil, skald.Invalid("openviking", "store_url", "%w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range map[string]string{
		"X-API-Key": c.options.Key, "X-OpenViking-Account": c.options.Account, "X-OpenViking-User": c.options.User,
		"X-OpenViking-Agent": c.options.Agent,
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	return req, nil
}

func segment(s string) string { return url.PathEscape(s) }
