package client

import (
	"context"
	"io"
	"mime/multipart"
	"net/http"

	"github.com/skald-engine/skald"
)

// Upload streams a file to the daemon, which keeps it until it is imported, and returns its id.
func (c *Client) Upload(ctx context.Context, id skald.Identity, name string, file io.Reader) (string, error) {
	if err := c.meet(ctx); err != nil {
		return "", err
	}
	r, w := io.Pipe()
	defer r.Close() // ends the writer below, too, when the daemon answers early
	form := multipart.NewWriter(w)
	go func() {
		part, err := form.CreateFormFile("file", name)
		if err == nil {
			_, err = io.Copy(part, file)
		}
		if err == nil {
			err = form.Close()
		}
		w.CloseWithError(err) // nil is the end
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/api/v1/resources/temp_upload", r)
	if err != nil {
		return "", skald.Invalid("client", "url", "%q is not a base URL: %w", c.base, err)
	}
	c.identify(req.Header, id)
	req.Header.Set("Content-Type", form.FormDataContentType())
	resp, err := c.http.Do(req)
	if err != nil {
		c.known.Store(false)
		return "", c.unreachable(ctx, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", c.unreachable(ctx, err)
	}
	if resp.StatusCode != http.StatusOK {
		return "", failure(resp.StatusCode, answer)
	}
	var out struct {
		Result struct {
			Upload string `json:"temp_file_id"`
		} `json:"result"`
	}
	err = decode("upload", answer, &out)
	return out.Result.Upload, err
}
