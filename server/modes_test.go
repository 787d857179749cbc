package server_test

import (
	"crypto/sha256"
	"strings"
	"testing"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server"
	"github.com/skald-engine/skald/server/servertest"
	"github.com/skald-engine/skald/tenant"
)

const (
	ownKey  = "oooooooooooooooooooooooooooooooooooooooo"
	rootKey = "rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr"
	annKey  = "key of acme's ann"
	goneKey = "key of one whose user is being deleted"
)

// registry is server.Tenants with three users of acme.
type registry struct{ policy *skald.Policy }

func (registry) Find(sum [sha256.Size]byte) (skald.Identity, bool) {
	switch sum {
	case sha256.Sum256([]byte(annKey)):
		return skald.Identity{Account: "acme", User: "ann"}, true
	case sha256.Sum256([]byte(goneKey)):
		return skald.Identity{Account: "acme", User: "gone"}, true
	}
	return skald.Identity{}, false
}

func (r registry) Admit(id skald.Identity) (skald.Identity, error) {
	if id.User == "gone" {
		return id, &tenant.BeingDeleted{What: "User", Task: "17"}
	}
	if id.Policy = r.policy; id.Rank == "" {
		if id.Rank = skald.RankUser; id.User == "ann" {
			id.Rank = skald.RankAdmin
		}
	}
	return id, nil
}

func accessOf(t *testing.T, o server.AccessOptions) func(*server.Deps) {
	t.Helper()
	if o.Listen == "" {
		o.Listen = "127.0.0.1:1933"
	}
	a, err := server.OpenAccess(o)
	if err != nil {
		t.Fatal(err)
	}
	a.Register(registry{&skald.Policy{IsolateUserScopeByAgent: true}})
	return func(d *server.Deps) { d.Access = a }
}

// TestModes is the table of modes (spec 1.1): who is let in, as whom, with which rank.
func TestModes(t *testing.T) {
	t.Parallel()
	keys := accessOf(t, server.AccessOptions{Own: ownKey, Root: server.Key{Key: rootKey}, Keys: []server.Key{
		{Key: keyA, Account: "acme", User: "conf"}, {Key: keyB, Account: "acme", User: "boss", Role: skald.RankAdmin},
	}})
	trusted := accessOf(t, server.AccessOptions{Mode: server.ModeTrusted, Own: ownKey, Root: server.Key{Key: rootKey}, Listen: "0.0.0.0:1"})
	believing := accessOf(t, server.AccessOptions{Mode: server.ModeTrusted, Own: ownKey})
	dev := accessOf(t, server.AccessOptions{Mode: server.ModeDev})
	const (
		account, user, role = "X-OpenViking-Account", "X-OpenViking-User", "X-OpenViking-Role"
		key                 = "X-API-Key"
		status              = "/engine/v1/status"
	)
	for _, c := range []struct {
		name    string
		mode    func(*server.Deps)
		path    string
		headers []string
		status  int
		want    string // account/user rank that the engine saw
	}{
		{"own key", keys, status, []string{key, ownKey}, 200, "default/default admin"},
		{"configured key", keys, status, []string{key, keyA}, 200, "acme/conf user"},
		{"configured admin", keys, status, []string{key, keyB}, 200, "acme/boss admin"},
		{"registered key", keys, status, []string{"Authorization", "Bearer " + annKey}, 200, "acme/ann admin"},
		{"role header counts for nothing", keys, status, []string{key, keyA, role, "root"}, 200, "acme/conf user"},
		{"identity headers count for nothing", keys, status, []string{key, annKey, account, "evil", user, "eve"}, 200, "acme/ann admin"},
		{"root key and data", keys, status, []string{key, rootKey}, 403, ""},
		{"root key with a tenant's headers", keys, status, []string{key, rootKey, account, "acme", user, "ann"}, 403, ""},
		{"root key and sessions", keys, "/api/v1/sessions", []string{key, rootKey}, 403, ""},
		{"root key and a path that only begins so", keys, "/api/v1/administration", []string{key, rootKey}, 403, ""},
		{"root key and MCP", keys, "/mcp", []string{key, rootKey}, 403, ""},
		{"root key and metrics", keys, "/metrics", []string{key, rootKey}, 404, ""}, // let in: the fake has none
		{"a user who is being deleted", keys, status, []string{key, goneKey}, 412, ""},
		{"health as the root", keys, "/health", []string{key, rootKey}, 200, ""},

		{"trusted without key", trusted, status, []string{account, "acme", user, "eve"}, 401, ""},
		{"trusted with a bad key", trusted, status, []string{key, "bad", account, "acme", user, "eve"}, 401, ""},
		{"trusted with a user's key", trusted, status, []string{key, annKey, account, "acme", user, "eve"}, 401, ""},
		{"trusted", trusted, status, []string{key, rootKey, account, "acme", user, "eve"}, 200, "acme/eve user"},
		{"trusted, registered as admin", trusted, status, []string{key, rootKey, account, "acme", user, "ann"}, 200, "acme/ann admin"},
		{"trusted, said to be a user", trusted, status, []string{key, rootKey, account, "acme", user, "ann", role, "user"}, 200, "acme/ann user"},
		{"trusted, said to be an admin", trusted, status, []string{key, rootKey, account, "acme", user, "eve", role, "admin"}, 200, "acme/eve admin"},
		{"trusted, said to be root", trusted, status, []string{key, rootKey, account, "acme", user, "eve", role, "root"}, 400, ""},
		{"trusted without account", trusted, status, []string{key, rootKey, user, "eve"}, 400, ""},
		{"trusted without user", trusted, status, []string{key, rootKey, account, "acme"}, 400, ""},
		{"trusted with a trick", trusted, status, []string{key, rootKey, account, "acme", user, "../eve"}, 400, ""},
		{"trusted, named in the URL", trusted, status + "?account_id=acme&user_id=eve", []string{key, rootKey}, 200, "acme/eve user"},
		{"trusted, URL and header differ", trusted, status + "?account_id=acme", []string{key, rootKey, account, "evil", user, "eve"}, 400, ""},
		{"trusted, a user who is being deleted", trusted, status, []string{key, rootKey, account, "acme", user, "gone"}, 412, ""},
		{"trusted with the daemon's own key", trusted, status, []string{key, ownKey, account, "acme", user, "eve"}, 200, "default/default admin"},
		{"trusted, metrics for a monitor that is nobody", trusted, "/metrics", []string{key, rootKey}, 404, ""}, // let in: the fake has none
		{"trusted, metrics without key", trusted, "/metrics", nil, 401, ""},
		{"trusted admin path names another account", trusted, "/api/v1/admin/accounts/acme/users", []string{key, rootKey, account, "evil"}, 400, ""},

		{"believing", believing, status, []string{account, "acme", user, "eve"}, 200, "acme/eve user"},
		{"believing, with a role", believing, status, []string{account, "acme", user, "eve", role, "admin"}, 400, ""},
		{"believing, nobody named", believing, status, nil, 400, ""},

		{"dev", dev, status, nil, 200, "default/default root"},
		{"dev as another", dev, status, []string{account, "acme", user, "eve"}, 200, "acme/eve root"},
		{"dev with an underscore", dev, status, []string{account, "_acme"}, 400, ""},
		{"dev and accounts", dev, "/api/v1/admin/accounts", nil, 403, ""},
		{"dev and the one-word admin path", dev, "/api/v1/admin", nil, 403, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := &servertest.Fake{}
			w := ask(newServer(t, f, c.mode), "GET", c.path, "", c.headers...)
			if w.Code != c.status {
				t.Fatalf("status %d, want %d: %s", w.Code, c.status, w.Body)
			}
			_, id := f.Last()
			if c.want == "" {
				if id != (skald.Identity{}) {
					t.Errorf("the engine was called for %v", id)
				}
				return
			}
			if got := id.Account + "/" + id.User + " " + string(id.Rank); got != c.want {
				t.Errorf("identity %s, want %s", got, c.want)
			}
			if id.Policy == nil || !id.Policy.IsolateUserScopeByAgent {
				t.Error("the account's policy is lost")
			}
		})
	}
}

func TestModesThatAreTooOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o  server.AccessOptions
		ok bool
	}{
		"dev to the network":              {server.AccessOptions{Mode: server.ModeDev, Listen: "0.0.0.0:1"}, false},
		"trusted to the network":          {server.AccessOptions{Mode: server.ModeTrusted, Listen: "0.0.0.0:1", Own: ownKey}, false},
		"trusted with root":               {server.AccessOptions{Mode: server.ModeTrusted, Listen: "0.0.0.0:1", Root: server.Key{Key: rootKey}}, true},
		"trusted here":                    {server.AccessOptions{Mode: server.ModeTrusted, Listen: "127.0.0.1:1"}, true},
		"keys without any":                {server.AccessOptions{Listen: "127.0.0.1:1"}, false},
		"a root key alone":                {server.AccessOptions{Listen: "0.0.0.0:1", Root: server.Key{Key: rootKey}}, true},
		"the root key is a user's":        {server.AccessOptions{Listen: "127.0.0.1:1", Root: server.Key{Key: keyA}, Keys: []server.Key{{Key: keyA}}}, false},
		"the root key is the daemon's":    {server.AccessOptions{Listen: "127.0.0.1:1", Root: server.Key{Key: keyA}, Own: keyA}, false},
		"a root key whose variable is no": {server.AccessOptions{Listen: "127.0.0.1:1", Root: server.Key{Env: "SKALD_TEST_NO_SUCH_VARIABLE"}}, false},
		"a key that is root":              {server.AccessOptions{Listen: "127.0.0.1:1", Keys: []server.Key{{Key: keyA, Role: skald.RankRoot}}}, false},
		"no such mode":                    {server.AccessOptions{Mode: "ldap", Listen: "127.0.0.1:1", Own: ownKey}, false},
	} {
		if _, err := server.OpenAccess(c.o); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestActorPeer: the header is a safe identifier, is the caller's peer everywhere but at the sessions, and tells nobody's identity.
func TestActorPeer(t *testing.T) {
	t.Parallel()
	keyed := accessOf(t, server.AccessOptions{Own: ownKey})
	for _, c := range []struct {
		peer   string
		status int
		want   string
	}{
		{"p1", 200, "p1"}, {"", 200, ""}, {" p1 ", 200, "p1"}, {"kim@example.org", 200, "kim@example.org"},
		{"a@b@c", 400, ""}, {"..", 400, ""}, {".", 400, ""}, {"a/b", 400, ""}, {"a|b", 400, ""},
	} {
		f := &servertest.Fake{}
		s := newServer(t, f, keyed)
		w := ask(s, "GET", "/engine/v1/status", "", "X-API-Key", ownKey, "X-OpenViking-Actor-Peer", c.peer)
		if _, id := f.Last(); w.Code != c.status || id.Peer != c.want {
			t.Errorf("%q: %d, peer %q", c.peer, w.Code, id.Peer)
		}
		if w := ask(s, "GET", "/api/v1/sessions", "", "X-API-Key", ownKey, "X-OpenViking-Actor-Peer", c.peer); w.Code != 200 {
			t.Errorf("%q at the sessions: %d %s", c.peer, w.Code, w.Body)
		}
	}
}

// A caller of the MCP server is turned away in its own protocol.
func TestMCPIsRefusedInJSONRPC(t *testing.T) {
	t.Parallel()
	w := ask(newServer(t, &servertest.Fake{}, accessOf(t, server.AccessOptions{Own: ownKey})), "POST", "/mcp", `{}`)
	if body := w.Body.String(); w.Code != 401 || !strings.Contains(body, `"jsonrpc":"2.0","id":null,"error":{"code":-32001`) {
		t.Errorf("%d %s", w.Code, body)
	}
}

func TestHealthTellsTheRole(t *testing.T) {
	t.Parallel()
	s := newServer(t, &servertest.Fake{}, accessOf(t, server.AccessOptions{Own: ownKey, Root: server.Key{Key: rootKey}}))
	for key, role := range map[string]string{ownKey: "admin", rootKey: "root", annKey: "admin"} {
		if body := ask(s, "GET", "/health", "", "X-API-Key", key).Body.String(); !strings.Contains(body, `"role":"`+role+`"`) {
			t.Errorf("%s: %s", role, body)
		}
	}
	if body := ask(s, "GET", "/health", "", "X-API-Key", goneKey).Body.String(); strings.Contains(body, "gone") {
		t.Errorf("health names a user who is being deleted: %s", body)
	}
}
