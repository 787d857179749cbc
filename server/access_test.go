package server_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server"
	"github.com/skald-engine/skald/server/servertest"
)

const (
	keyA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	keyB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

func twoKeys(t *testing.T) func(*server.Deps) {
	t.Helper()
	sum := sha256.Sum256([]byte(keyB))
	a, err := server.NewAccess("0.0.0.0:1933", false, skald.Identity{}, []server.Key{
		{Key: keyA, Account: "acme", User: "ann"},
		{SHA256: hex.EncodeToString(sum[:]), Account: "acme", User: "bob"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(d *server.Deps) { d.Access = a }
}

func ask(h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:1933"+target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestAccessMatrix(t *testing.T) {
	t.Parallel()
	keyed, dev := twoKeys(t), func(*server.Deps) {}
	for _, c := range []struct {
		name    string
		mode    func(*server.Deps)
		headers []string
		status  int
		want    string // account/user/agent that the engine saw
	}{
		{"no key", keyed, nil, 401, ""},
		{"wrong key", keyed, []string{"X-API-Key", "nope"}, 401, ""},
		{"prefix of a key", keyed, []string{"X-API-Key", keyA[:39]}, 401, ""},
		{"empty bearer", keyed, []string{"Authorization", "Bearer "}, 401, ""},
		{"basic", keyed, []string{"Authorization", "Basic " + keyA}, 401, ""},
		{"the hash is no key", keyed, []string{"X-API-Key", hexSum(keyB)}, 401, ""},
		{"bearer", keyed, []string{"Authorization", "bearer " + keyA}, 200, "acme/ann/main"},
		{"hashed key", keyed, []string{"X-API-Key", keyB}, 200, "acme/bob/main"},
		{"X-API-Key wins", keyed, []string{"X-API-Key", keyB, "Authorization", "Bearer " + keyA}, 200, "acme/bob/main"},
		{"identity headers count for nothing", keyed,
			[]string{"X-API-Key", keyA, "X-OpenViking-Account", "other", "X-OpenViking-User", "bob"}, 200, "acme/ann/main"},
		{"agent", keyed, []string{"X-API-Key", keyA, "X-OpenViking-Agent", "coder"}, 200, "acme/ann/coder"},
		{"agent trick", keyed, []string{"X-API-Key", keyA, "X-OpenViking-Agent", "../x"}, 400, ""},
		{"dev", dev, nil, 200, "default/default/main"},
		{"dev with identity", dev, []string{"X-OpenViking-Account", "a1", "X-OpenViking-User", "u1"}, 200, "a1/u1/main"},
		{"dev with a trick", dev, []string{"X-OpenViking-User", "../bob"}, 400, ""},
		{"dev with a scope separator", dev, []string{"X-OpenViking-Account", "a|user/bob"}, 400, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := &servertest.Fake{}
			w := ask(newServer(t, f, c.mode), "GET", "/engine/v1/status", "", c.headers...)
			if w.Code != c.status {
				t.Fatalf("status %d, want %d: %s", w.Code, c.status, w.Body)
			}
			_, id := f.Last()
			if got := id.Account + "/" + id.User + "/" + id.Agent; c.want != "" && got != c.want {
				t.Errorf("identity %s, want %s", got, c.want)
			}
			if _, id := f.Last(); c.want == "" && id != (skald.Identity{}) {
				t.Errorf("the engine was called for %v", id)
			}
		})
	}
}

func hexSum(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// The 401 is the same for every reason.
func TestUnauthorisedSaysNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t, &servertest.Fake{}, twoKeys(t))
	a := ask(s, "GET", "/api/v1/sessions", "").Body.String()
	b := ask(s, "GET", "/api/v1/sessions", "", "X-API-Key", "wrong").Body.String()
	if a != b || !strings.Contains(a, `"code":"UNAUTHENTICATED"`) {
		t.Errorf("%s\n%s", a, b)
	}
	if w := ask(s, "GET", "/no/such/path", ""); w.Code != 401 {
		t.Errorf("an unknown path tells %d without a key", w.Code)
	}
}

func TestOpenPaths(t *testing.T) {
	t.Parallel()
	s := newServer(t, &servertest.Fake{}, twoKeys(t))
	for path, status := range map[string]int{
		"/healthz": 200, "/health": 200, "/readyz": 200, "/ready": 200, "/engine/v1/handshake": 200,
		"/metrics": 401, "/engine/v1/status": 401, "/api/v1/system/status": 401,
	} {
		if w := ask(s, "GET", path, ""); w.Code != status {
			t.Errorf("%s: %d, want %d", path, w.Code, status)
		}
	}
	if body := ask(s, "GET", "/health", "").Body.String(); strings.Contains(body, "acme") {
		t.Errorf("health names a tenant without a key: %s", body)
	}
	if body := ask(s, "GET", "/health", "", "X-API-Key", keyA).Body.String(); !strings.Contains(body, `"user_id":"ann"`) {
		t.Errorf("health with a key: %s", body)
	}
}

// Two keys never see each other's data.
func TestTenantsAreApart(t *testing.T) {
	t.Parallel()
	s := newServer(t, &servertest.Fake{}, twoKeys(t))
	if w := ask(s, "POST", "/api/v1/sessions/s1/messages", `{"role":"user","content":"mine"}`, "X-API-Key", keyA); w.Code != 200 {
		t.Fatal(w.Body)
	}
	if w := ask(s, "GET", "/api/v1/sessions/s1", "", "X-API-Key", keyB); w.Code != 404 {
		t.Errorf("bob reads ann's session: %d %s", w.Code, w.Body)
	}
	if w := ask(s, "GET", "/api/v1/sessions", "", "X-API-Key", keyB); strings.Contains(w.Body.String(), "s1") {
		t.Errorf("bob lists ann's session: %s", w.Body)
	}
}

// SEC-03: open to the network without a key is refused, with the reason; on loopback it works.
func TestRefusesToListenOpen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		listen string
		dev    bool
		ok     bool
	}{
		{"0.0.0.0:1933", true, false}, {":1933", true, false}, {"[::]:1933", true, false}, {"192.168.1.5:1933", true, false},
		{"example.com:1933", true, false}, {"0.0.0.0:1933", false, false}, {"127.0.0.1:1933", false, false},
		{"127.0.0.1:1933", true, true}, {"localhost:1933", true, true}, {"[::1]:1933", true, true},
	} {
		_, err := server.NewAccess(c.listen, c.dev, skald.Identity{}, nil)
		if (err == nil) != c.ok {
			t.Errorf("listen %s dev %v: %v", c.listen, c.dev, err)
		}
		if err != nil && !strings.Contains(err.Error(), "key") {
			t.Errorf("%s: the reason is missing: %v", c.listen, err)
		}
	}
}

func TestKeysThatAreNone(t *testing.T) {
	t.Parallel()
	for name, k := range map[string]server.Key{
		"empty": {}, "two": {Key: keyA, SHA256: hexSum(keyA)}, "short hash": {SHA256: "abcd"}, "no hash": {SHA256: strings.Repeat("z", 64)},
		"empty variable": {Env: "SKALD_TEST_NO_SUCH_VARIABLE"}, "unsafe user": {Key: keyA, User: "a/b"},
	} {
		if _, err := server.NewAccess("127.0.0.1:1", false, skald.Identity{}, []server.Key{k}); skald.KindOf(err) != skald.KindInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := server.NewAccess("127.0.0.1:1", false, skald.Identity{}, []server.Key{{Key: keyA}, {SHA256: hexSum(keyA), User: "x"}}); err == nil {
		t.Error("one key for two tenants is accepted")
	}
}

func TestKeyFile(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "deep", "data")
	var wg sync.WaitGroup
	keys := make([]string, 8)
	for i := range keys {
		wg.Go(func() {
			key, err := server.EnsureKey(data)
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	wg.Wait()
	for _, k := range keys {
		if k != keys[0] || len(k) != 64 {
			t.Fatalf("keys differ or are short: %q", keys)
		}
	}
	mode(t, data, 0o700)
	mode(t, server.KeyPath(data), 0o600)
	if entries, err := os.ReadDir(data); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v %v", entries, err)
	}
	if err := os.Chmod(server.KeyPath(data), 0o644); err != nil {
		t.Fatal(err)
	}
	if again, err := server.EnsureKey(data); err != nil || again != keys[0] {
		t.Errorf("second start: %q %v", again, err)
	}
	mode(t, server.KeyPath(data), 0o600)
	if err := os.WriteFile(server.KeyPath(data), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := server.EnsureKey(data); err == nil {
		t.Error("an empty key file is accepted")
	}
}

func mode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != want {
		t.Errorf("%s: %v %v, want %v", path, info.Mode(), err, want)
	}
}
