package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server"
	"github.com/skald-engine/skald/server/mcp"
	"github.com/skald-engine/skald/server/wire"
)

const (
	annKey = "0123456789abcdef0123456789abcdef"
	eveKey = "fedcba9876543210fedcba9876543210"
)

// newDaemon serves the test's engine with a key for the default user and one for eve.
func newDaemon(t *testing.T) *httptest.Server {
	t.Helper()
	e := newEngine(t)
	access, err := server.NewAccess("127.0.0.1:0", false, skald.Identity{}, []server.Key{{Key: annKey}, {Key: eveKey, User: "eve"}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Deps{Engine: e, Inspector: e, Access: access, Loopback: true, Version: "test",
		MCP: mcp.Backend{Engine: e, Inspector: e, Version: "test"}.Handler()})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return h
}

// keyed adds a key to every request.
type keyed struct{ key, agent string }

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+k.key)
	r.Header.Set(wire.HeaderAgent, k.agent)
	return http.DefaultTransport.RoundTrip(r)
}

func dial(t *testing.T, url string, k keyed) *sdk.ClientSession {
	t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	s, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url + "/mcp", HTTPClient: &http.Client{Transport: k}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func call(t *testing.T, s *sdk.ClientSession, tool string, args any) string {
	t.Helper()
	r, err := s.CallTool(context.WithoutCancel(t.Context()), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	return r.Content[0].(*sdk.TextContent).Text
}

// Two clients with two keys: each finds its own user's things and never the other's (I9).
func TestTenantsOverHTTP(t *testing.T) {
	t.Parallel()
	url := newDaemon(t).URL
	ann, eve := dial(t, url, keyed{key: annKey}), dial(t, url, keyed{key: eveKey})
	query := map[string]any{"query": "heron sanctuary password"}
	if got := call(t, ann, "memory_recall", query); !strings.Contains(got, "5:44") || strings.Contains(got, "plover") {
		t.Errorf("the default user recalls %s", got)
	}
	if got := call(t, eve, "memory_recall", query); strings.Contains(got, "5:44") || !strings.Contains(got, "plover") {
		t.Errorf("eve recalls %s", got)
	}
	for _, tool := range []string{"memory_read", "memory_ls", "memory_expand"} {
		if got := call(t, eve, tool, map[string]any{"uri": "viking://user/default/sessions/talk"}); !strings.Contains(got, "another user's space") {
			t.Errorf("%s answers eve with %s", tool, got)
		}
	}
}

// A memory of an agent belongs to the agent that the header names.
func TestAgentOverHTTP(t *testing.T) {
	t.Parallel()
	coder := dial(t, newDaemon(t).URL, keyed{key: annKey, agent: "coder"})
	got := call(t, coder, "memory_store", map[string]any{"text": "When the build fails, clean the cache first.", "type": "cases"})
	if !strings.HasPrefix(got, "Stored as viking://agent/coder/memories/cases/") {
		t.Error(got)
	}
}

const ping = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// What a browser, a stranger or a broken client sends is refused before any tool sees it.
func TestGateOverHTTP(t *testing.T) {
	t.Parallel()
	url := newDaemon(t).URL
	for _, x := range []struct {
		name   string
		body   string
		change func(*http.Request)
		status int
	}{
		{"right", ping, func(*http.Request) {}, http.StatusOK},
		{"no key", ping, func(r *http.Request) { r.Header.Del("Authorization") }, http.StatusUnauthorized},
		{"wrong key", ping, func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }, http.StatusUnauthorized},
		{"rebound name", ping, func(r *http.Request) { r.Host = "evil.example:1933" }, http.StatusForbidden},
		{"foreign origin", ping, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, http.StatusForbidden},
		{"foreign site", ping, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, http.StatusForbidden},
		{"no JSON", "heron", func(*http.Request) {}, http.StatusBadRequest},
		{"too large", `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 5<<20) + `"}`, func(*http.Request) {}, http.StatusRequestEntityTooLarge},
		{"a stream", "", func(r *http.Request) { r.Method = http.MethodGet }, http.StatusMethodNotAllowed},
		{"path agent", ping, func(r *http.Request) { r.Header.Set(wire.HeaderAgent, "../x") }, http.StatusBadRequest},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/mcp", strings.NewReader(x.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+annKey)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
			x.change(r)
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != x.status {
				t.Errorf("status %d, want %d: %.200s", resp.StatusCode, x.status, body)
			}
			if x.status == http.StatusOK && (resp.Header.Get("Mcp-Session-Id") != "" || !json.Valid(body)) {
				t.Errorf("session %q, body %.200s", resp.Header.Get("Mcp-Session-Id"), body)
			}
		})
	}
}

// The texts that a model reads are the same in the OpenClaw plugin.
func TestTextsOfThePlugin(t *testing.T) {
	t.Parallel()
	plugin, err := os.ReadFile("../../openclaw/src/toolspecs.ts")
	if err != nil {
		t.Fatal(err)
	}
	shared := 0
	for _, spec := range mcp.Specs {
		at := strings.Index(string(plugin), `name: "`+spec.Name+`"`)
		if at < 0 {
			continue
		}
		shared++
		entry, _, _ := strings.Cut(string(plugin)[at:], "\n  },")
		if !strings.Contains(entry, "text: "+strconv.Quote(spec.Text)) || !strings.Contains(entry, "label: "+strconv.Quote(spec.Title)) {
			t.Errorf("%s: title or text differ from the plugin's", spec.Name)
		}
		for _, p := range spec.Parameters {
			if quoted := strconv.Quote(p.Text); !strings.Contains(entry, quoted) && !strings.Contains(string(plugin), "const query = text("+quoted) {
				t.Errorf("%s: the text of %s differs from the plugin's", spec.Name, p.Name)
			}
		}
	}
	if shared != 4 {
		t.Errorf("%d tools are shared with the plugin, want 4", shared)
	}
}
