package server

import (
	"crypto/sha256"
	"net/http"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
	"github.com/skald-engine/skald/tenant"
)

// trusted is trusted mode's caller: a gateway has checked who it is and says so in headers. Where there is a root key it must come along;
// without one the daemon listens on loopback only. The daemon's own key and configured ones stay what they are.
func (a *Access) trusted(r *http.Request) (skald.Identity, error) {
	h := a.find(sha256.Sum256([]byte(presented(r.Header))))
	root := h != nil && h.id.Rank == skald.RankRoot
	switch {
	case h != nil && !root:
		return h.at(r.URL.Path)
	case a.rooted && !root:
		return skald.Identity{}, errUnauth
	}
	id, err := asserted(r)
	if err != nil {
		return id, err
	}
	if root && (under(r.URL.Path, adminPath) || r.URL.Path == "/metrics") { // what is nobody's in particular
		id.Rank = skald.RankRoot
		return filled(id), nil
	}
	if id.Rank, err = assertedRank(r.Header, root); err != nil {
		return id, err
	}
	return filled(id), complete(id)
}

// complete names the headers that are missing (IDN-07).
func complete(id skald.Identity) error {
	var lacking []string
	if id.Account == "" {
		lacking = append(lacking, wire.HeaderAccount)
	}
	if id.User == "" {
		lacking = append(lacking, wire.HeaderUser)
	}
	if len(lacking) == 0 {
		return nil
	}
	return skald.Invalid("access", lacking[0], "trusted mode takes the caller from headers, and %s is missing", strings.Join(lacking, " and "))
}

// asserted is whom the headers name, or the URL; where both do, they agree.
func asserted(r *http.Request) (skald.Identity, error) {
	id, err := named(skald.Identity{}, r.Header)
	if err != nil {
		return id, err
	}
	q := r.URL.Query()
	for _, f := range []struct {
		name, inPath string
		to           *string
	}{{"account_id", accountIn(r.URL.Path), &id.Account}, {"user_id", "", &id.User}} {
		for _, v := range []string{f.inPath, q.Get(f.name)} {
			switch {
			case v == "":
			case *f.to != "" && *f.to != v:
				return id, skald.Invalid("access", f.name, "the URL says %q and the header %q", v, *f.to)
			default:
				if err := tenant.CheckID(f.name, v); err != nil {
					return id, err
				}
				*f.to = v
			}
		}
	}
	return id, nil
}

// accountIn is the account that an admin path names. The user in it is whom the call is about, not who calls.
func accountIn(path string) string {
	rest, _ := strings.CutPrefix(path, adminPath+"/accounts/")
	if rest == path {
		return ""
	}
	account, _, _ := strings.Cut(rest, "/")
	return account
}

// assertedRank is the rank that a gateway with the root key claims for its caller; "" none.
func assertedRank(h http.Header, root bool) (skald.Rank, error) {
	switch v := skald.Rank(strings.TrimSpace(h.Get(wire.HeaderRole))); {
	case v == "":
		return "", nil
	case !root:
		return "", skald.Invalid("access", wire.HeaderRole, "only a caller with the root key may name a role")
	case v != skald.RankUser && v != skald.RankAdmin:
		return "", skald.Invalid("access", wire.HeaderRole, "%q is not user or admin", v)
	default:
		return v, nil
	}
}
