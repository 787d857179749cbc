package openviking

import (
	"context"
	"net/http"

	"github.com/skald-engine/skald"
)

// Entry is one entry of a folder.
type Entry struct {
	Name string `json:"name"`
	URI  string `json:"uri"`
	Dir  bool   `json:"isDir"`
}

// List lists a folder, hidden files too. KindNotFound when there is none.
func (c *Client) List(ctx context.Context, uri string) (list []Entry, err error) {
	q := uriQuery(uri)
	q.Set("output", "original")
	q.Set("show_all_hidden", "true")
	q.Set("node_limit", "100000")
	err = c.call(ctx, http.MethodGet, "/api/v1/fs/ls", q, nil, &list)
	return list, err
}

// Read reads a file, byte for byte where the server has downloads. KindNotFound when there is none.
func (c *Client) Read(ctx context.Context, uri string) ([]byte, error) {
	b, err := c.bytes(ctx, http.MethodGet, "/api/v1/content/download", uriQuery(uri), nil)
	var fault = AsFault(err)
	if fault == nil || fault.Status != http.StatusMethodNotAllowed && !(fault.Status == http.StatusNotFound && fault.Message == "Not Found") {
		return b, err
	}
	q := uriQuery(uri) // an older server
	q.Set("raw", "true")
	var text string
	err = c.call(ctx, http.MethodGet, "/api/v1/content/read", q, nil, &text)
	return []byte(text), err
}

// Write stores a text file in the place of what is there.
func (c *Client) Write(ctx context.Context, uri, text string) error {
	body := map[string]any{"uri": uri, "content": text, "mode": "replace"}
	err := c.call(ctx, http.MethodPost, "/api/v1/content/write", nil, body, nil)
	if skald.KindOf(err) != skald.KindNotFound {
		return err
	}
	body["mode"] = "create"
	return c.call(ctx, http.MethodPost, "/api/v1/content/write", nil, body, nil)
}

// Delete removes a file; none is no error.
func (c *Client) Delete(ctx context.Context, uri string) error {
	err := c.call(ctx, http.MethodDelete, "/api/v1/fs", uriQuery(uri), nil, nil)
	if skald.KindOf(err) == skald.KindNotFound {
		return nil
	}
	return err
}
