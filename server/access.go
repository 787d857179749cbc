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
	"github.com/skald-engine/skald/tenant"
)

// Key is a key and whose it is. Exactly one of Key, Env and SHA256 is set.
type Key struct {
	Key    string // the key itself
	Env    string // the environment variable that holds it
	SHA256 string // its SHA-256 as hex: the key itself is nowhere on this machine

	Account, User string     // "" is "default"
	Role          skald.Rank // user, admin; "" is what the user is registered as
}

// The modes, by their names in OpenViking.
const (
	ModeDev     = "dev"     // no key: headers say who calls. Loopback only
	ModeKeys    = "api_key" // the key says who calls
	ModeTrusted = "trusted" // headers say who calls, for whoever presents the root key
)

// Tenants knows the registered users.
type Tenants interface {
	// Find is whose a key is, by the key's SHA-256.
	Find(sum [sha256.Size]byte) (skald.Identity, bool)
	// Admit completes an identity with rank and policy. It fails with tenant.BeingDeleted.
	Admit(id skald.Identity) (skald.Identity, error)
}

// AccessOptions say who may call.
type AccessOptions struct {
	Listen   string         // address: what needs no key is for loopback only (SEC-03)
	Mode     string         // "" is ModeKeys
	Identity skald.Identity // whose the daemon's own key is; in dev mode who calls unless headers say otherwise
	Own      string         // the daemon's own key; "" none
	Keys     []Key          // of the configuration
	Root     Key            // OpenViking's root key; the zero Key is none
}

// Access decides who calls.
type Access struct {
	mode    string
	keys    []holder
	byDevel skald.Identity
	tenants Tenants
	rooted  bool // there is a root key
}

type holder struct {
	sum [sha256.Size]byte
	id  skald.Identity
	own bool // the daemon's own key: root among admins, but with data of its own
}

// errUnauth tells nothing: not which header was missing, nor whether a key was close.
var errUnauth = skald.E("access", skald.KindUnauth, "a valid key is required")

// NewAccess is OpenAccess for dev mode, or for keys.
func NewAccess(listen string, dev bool, identity skald.Identity, keys []Key) (*Access, error) {
	o := AccessOptions{Listen: listen, Identity: identity, Keys: keys}
	if dev {
		o.Mode = ModeDev
	}
	return OpenAccess(o)
}

// OpenAccess settles who may call. dev mode, and trusted mode without a root key, need a loopback address; api_key mode needs a key (SEC-03).
func OpenAccess(o AccessOptions) (*Access, error) {
	a := &Access{mode: o.Mode, byDevel: filled(o.Identity), rooted: o.Root != Key{}}
	if a.mode == "" {
		a.mode = ModeKeys
	}
	if err := a.check(o); err != nil || a.mode == ModeDev {
		return a, err
	}
	if o.Own != "" {
		id := filled(o.Identity)
		id.Rank = skald.RankAdmin
		a.keys = append(a.keys, holder{sum: sha256.Sum256([]byte(o.Own)), id: id, own: true})
	}
	if a.rooted {
		id := skald.DefaultIdentity
		id.Rank = skald.RankRoot
		if err := a.add("root_api_key", o.Root, id); err != nil {
			return nil, err
		}
	}
	for i, k := range o.Keys {
		name := fmt.Sprintf("keys[%d]", i)
		id := filled(skald.Identity{Account: k.Account, User: k.User, Rank: k.Role})
		if k.Role != "" && k.Role != skald.RankUser && k.Role != skald.RankAdmin {
			return nil, skald.Invalid("server.access", name+".role", "%q is not user or admin", k.Role)
		}
		if err := a.add(name, k, id); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (a *Access) check(o AccessOptions) error {
	local := Loopback(o.Listen)
	switch a.mode {
	case ModeDev:
		if !local {
			return skald.Invalid("server.access", "dev",
				"dev mode asks for no key, so it listens on loopback only, not on %q: listen on 127.0.0.1, or leave dev mode", o.Listen)
		}
	case ModeTrusted:
		if !local && !a.rooted {
			return skald.Invalid("server.access", "auth_mode",
				"trusted mode without a root key believes any caller, so it listens on loopback only, not on %q: set root_api_key", o.Listen)
		}
	case ModeKeys:
		if len(o.Keys) == 0 && o.Own == "" && !a.rooted {
			return skald.Invalid("server.access", "keys", "no key is configured for %q: anyone who reaches it would be let in", o.Listen)
		}
	default:
		return skald.Invalid("server.access", "auth_mode", "%q is not dev, api_key or trusted", a.mode)
	}
	return nil
}

func (a *Access) add(name string, k Key, id skald.Identity) error {
	sum, err := sumOf(k)
	switch {
	case err != nil:
		return skald.Invalid("server.access", name, "%w", err)
	case !skald.SafeID(id.Account) || !skald.SafeID(id.User):
		return skald.Invalid("server.access", name, "account and user have letters, digits and _@.- only")
	case a.find(sum) != nil:
		return skald.Invalid("server.access", name, "the same key is listed twice")
	}
	a.keys = append(a.keys, holder{sum: sum, id: id})
	return nil
}

func sumOf(k Key) (sum [sha256.Size]byte, err error) {
	secret := k.Key
	switch {
	case k.SHA256 != "" && (k.Key != "" || k.Env != ""), k.Key != "" && k.Env != "":
		return sum, fmt.Errorf("give one of key, key_env and sha256")
	case k.SHA256 != "":
		n, err := hex.Decode(sum[:], []byte(strings.ToLower(k.SHA256)))
		if err != nil || n != sha256.Size || len(k.SHA256) != 2*sha256.Size {
			return sum, fmt.Errorf("sha256 is not the hex form of a SHA-256")
		}
		return sum, nil
	case k.Env != "":
		if secret = os.Getenv(k.Env); secret == "" {
			return sum, fmt.Errorf("the environment variable %s is empty", k.Env)
		}
	case k.Key == "":
		return sum, fmt.Errorf("give one of key, key_env and sha256")
	}
	return sha256.Sum256([]byte(secret)), nil
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

// Configured lists whom the configuration names: whose the daemon's own key and the configured ones are.
func (a *Access) Configured() (ids []skald.Identity) {
	for _, h := range a.keys {
		if h.id.Rank == "" {
			h.id.Rank = skald.RankUser
		}
		if h.id.Rank != skald.RankRoot {
			ids = append(ids, h.id)
		}
	}
	return ids
}

// Register lets the registered users in, too. It is called before the first request.
func (a *Access) Register(t Tenants) { a.tenants = t }

// Mode is the mode's name as OpenViking has it.
func (a *Access) Mode() string { return a.mode }

// find compares with every configured key, in constant time.
func (a *Access) find(sum [sha256.Size]byte) *holder {
	var found *holder
	for i := range a.keys {
		if subtle.ConstantTimeCompare(a.keys[i].sum[:], sum[:]) == 1 {
			found = &a.keys[i]
		}
	}
	return found
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

// guard lets a request pass with its caller on the context, or answers why not. It is the only place that puts a caller there, and no
// handler reaches a store without one.
func (a *Access) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, err := a.Identify(r)
		switch {
		case err == nil:
			r = r.WithContext(wire.WithCaller(r.Context(), id))
		case !open[r.URL.Path]:
			refuse(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuse answers in the form of the protocol that was spoken.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	if r.URL.Path == "/mcp" {
		wire.WriteRPCError(w, err)
		return
	}
	wire.WriteError(w, r, err)
}

var _ Tenants = (*tenant.Registry)(nil)
