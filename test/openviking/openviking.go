// Package openviking starts the real OpenViking server for tests, with scripted models: see bench/openviking. A test that needs it skips, with
// the reason, where Python or PyPI is missing.
package openviking

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skald-engine/skald/bench/openviking"
)

// RootKey is the root key of a server that was started with keys.
const RootKey = "root-key-of-the-tests"

// Options of a server for a test.
type Options struct {
	Dev    bool               // its dev mode: no keys, every caller is root. Otherwise RootKey, and users by NewUser
	Models *openviking.Models // nil: its own, with openviking.Script
	Config map[string]any     // over the generated ov.conf, member by member
}

// Server is a running server.
type Server struct {
	*openviking.Server
}

// Start starts a server and stops it with the test. Its log is shown when the test fails.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	venv := Venv(t)
	log := &buffer{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the end of OpenViking's log:\n%s", log.tail(4000))
		}
	})
	real := openviking.Options{Venv: venv, Dir: t.TempDir(), Models: o.Models, Config: o.Config, Log: log}
	if !o.Dev {
		real.RootKey = RootKey
	}
	s, err := openviking.Start(t.Context(), real)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	return &Server{s}
}

// NewUser makes an account with one user, an admin of it, and returns the user's key.
func (s *Server) NewUser(t testing.TB, account, user string) string {
	t.Helper()
	key, err := s.CreateAccount(context.WithoutCancel(t.Context()), account, user)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Request sends a JSON body (nil for none) with a key ("" for none) and returns status and body.
func (s *Server) Request(t testing.TB, method, path, key string, body []byte) (int, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("X-API-Key", key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, b
}

// Venv is the virtual environment with OpenViking: SKALD_OPENVIKING, or what scripts/setup-openviking.sh installs. Without one the test skips.
func Venv(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("the real OpenViking is not for -short: `make conformance` runs it")
	}
	if dir, set := os.LookupEnv("SKALD_OPENVIKING"); set {
		if dir == "" {
			t.Skip("no OpenViking here (SKALD_OPENVIKING is empty)")
		}
		return dir
	}
	dir, why := installed()
	if dir == "" {
		t.Skip("no OpenViking here: " + why)
	}
	return dir
}

var installed = sync.OnceValues(func() (dir, why string) {
	_, file, _, _ := runtime.Caller(0)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(file), "..", "..", "scripts", "setup-openviking.sh"))
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Sprintf("%v: %s", err, said.String())
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "SKALD_OPENVIKING="), said.String()
})

// buffer keeps what a process prints.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) tail(n int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.b.String()
	return s[max(0, len(s)-n):]
}
