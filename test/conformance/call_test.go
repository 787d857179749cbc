package conformance

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// call sends one request; body "" is none.
func (t target) call(tb testing.TB, method, path, key, body string) (status int, answer []byte) {
	tb.Helper()
	resp := t.send(tb, method, path, body, http.Header{"X-Api-Key": {key}, "Content-Type": {"application/json"}})
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return resp.StatusCode, b
}

func (t target) send(tb testing.TB, method, path, body string, header http.Header) *http.Response {
	tb.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(tb.Context(), method, t.url+path, reader)
	if err != nil {
		tb.Fatal(err)
	}
	req.Header = header
	resp, err := http.DefaultTransport.RoundTrip(req) // redirects are answers too
	if err != nil {
		tb.Fatal(err)
	}
	return resp
}
