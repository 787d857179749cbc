package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
)

// Key is a key and whose it is. Exactly one of Key, Env and SHA256 is set.
type Key struct {
	Key    string // the key itself
	Env    string // the environment variable that holds it
	SHA256 string // its SHA-256 as hex: the key itself is nowhere on this machine

	Account, User string // "" is "default"
}

// Access decides who calls. Account and user come from the key; headers name them in dev mode only, where no key is asked for.
type Access struct {
	dev     bool
	keys    []holder
	byDevel skald.Identity
}

type holder struct {
	sum [sha256.Size]byte
	id  skald.Identity
}

// errUnauth tells nothing: not which header was missing, nor whether a key was close.
var errUnauth = skald.E("access", skald.KindUnauth, "a valid key is required")

// NewAccess settles the mode for a listen address. dev needs a loopback address, any other mode at least one key (SEC-03).
func NewAccess(listen string, dev bool, identity skald.Identity, keys []Key) (*Access, error) {
	a := &Access{dev: dev, byDevel: filled(identity)}
	switch {
	case dev && !Loopback(listen):
		return nil, skald.Invalid("server.access", "dev",
			"dev mode asks for no key, so it listens on loopback only, not on %q: listen on 127.0.0.1, or leave dev mode", listen)
	case dev:
		return a, nil
	case len(keys) == 0:
		return nil, skald.Invalid("server.access", "keys", "no key is configured for %q: anyone who reaches it would be let in", listen)
	}
	for i, k := range keys {
		h, err := newHolder(k)
		if err != nil {
			return nil, skald.Invalid("server.access", fmt.Sprintf("keys[%d]", i), "%w", err)
		}
		if a.find(h.sum) != nil {
			return nil, skald.Invalid("server.access", fmt.Sprintf("keys[%d]", i), "the same key is listed twice")
		}
		a.keys = append(a.keys, h)
	}
	return a, nil
}

func newHolder(k Key) (holder, error) {
	h := holder{id: filled(skald.Identity{Account: k.Account, User: k.User})}
	if !skald.SafeID(h.id.Account) || !skald.SafeID(h.id.User) {
		return h, fmt.Errorf("account and user have letters, digits and _@.- only")
	}
	secret := k.Key
	switch {
	case k.SHA256 != "" && (k.Key != "" || k.Env != ""), k.Key != "" && k.Env != "":
		return h, fmt.Errorf("give one of key, key_env and sha256")
	case k.SHA256 != "":
		n, err := hex.Decode(h.sum[:], []byte(strings.ToLower(k.SHA256)))
		if err != nil || n != sha256.Size || len(k.SHA256) != 2*sha256.Size {
			return h, fmt.Errorf("sha256 is not the hex form of a SHA-256")
		}
		return h, nil
	case k.Env != "":
		if secret = os.Getenv(k.Env); secret == "" {
			return h, fmt.Errorf("the environment variable %s is empty", k.Env)
		}
	case k.Key == "":
		return h, fmt.Errorf("give one of key, key_env and sha256")
	}
	h.sum = sha256.Sum256([]byte(secret))
	return h, nil
}

func filled(id skald.Identity) skald.Identity {
	d := skald.DefaultIdentity
	if id.Account == "" {
		id.Account = d.Account
	}
	if id.User == "" {
		id.User = d.User
	}
	if id.Agent == "" {
		id.Agent = d.Agent
	}
	return id
}

// Mode is the mode's name as OpenViking has it.
func (a *Access) Mode() string {
	if a.dev {
		return "dev"
	}
	return "api_key"
}

// Identify resolves the caller of a request, once.
func (a *Access) Identify(r *http.Request) (skald.Identity, error) {
	id, err := a.tenant(r)
	if err != nil {
		return id, err
	}
	return wire.OfAgent(id, r.Header.Get(wire.HeaderAgent), wire.HeaderAgent)
}

func (a *Access) tenant(r *http.Request) (skald.Identity, error) {
	if a.dev {
		return a.named(r.Header)
	}
	if h := a.find(sha256.Sum256([]byte(presented(r.Header)))); h != nil {
		return h.id, nil
	}
	return skald.Identity{}, errUnauth
}

// named is dev mode's identity.
func (a *Access) named(h http.Header) (skald.Identity, error) {
	id := a.byDevel
	for name, field := range map[string]*string{wire.HeaderAccount: &id.Account, wire.HeaderUser: &id.User} {
		v := strings.TrimSpace(h.Get(name))
		if v == "" {
			continue
		}
		if !skald.SafeID(v) {
			return id, skald.Invalid("access", name, "has letters, digits and _@.- only")
		}
		*field = v
	}
	return id, nil
}

// find compares with every key, in constant time.
func (a *Access) find(sum [sha256.Size]byte) *holder {
	var found *holder
	for i := range a.keys {
		if subtle.ConstantTimeCompare(a.keys[i].sum[:], sum[:]) == 1 {
			found = &a.keys[i]
		}
	}
	return found
}

// presented is the key that a request brings: X-API-Key, else a bearer token.
func presented(h http.Header) string {
	if key := h.Get(wire.HeaderKey); key != "" {
		return strings.TrimSpace(key)
	}
	scheme, token, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// Loopback reports whether a listen address reaches this machine only.
func Loopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		host = listen
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.IsLoopback()
}

// open lists the paths that need no key.
var open = map[string]bool{
	"/healthz": true, "/health": true, "/readyz": true, "/ready": true, "/engine/v1/handshake": true,
}

// guard lets a request pass with its caller on the context, or answers 401.
func (a *Access) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, err := a.Identify(r)
		switch {
		case err == nil:
			r = r.WithContext(wire.WithCaller(r.Context(), id))
		case !open[r.URL.Path]:
			wire.WriteError(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}
