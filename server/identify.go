package server

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/wire"
	"github.com/skald-engine/skald/tenant"
)

// Identify resolves the caller of a request, once: who it is, what the account has settled, on whose behalf, and whether this caller may
// come here at all.
func (a *Access) Identify(r *http.Request) (skald.Identity, error) {
	id, err := a.caller(r)
	if err != nil {
		return id, err
	}
	if id, err = a.admit(id); err != nil {
		return id, err
	}
	if id, err = wire.OfAgent(id, r.Header.Get(wire.HeaderAgent), wire.HeaderAgent); err != nil {
		return id, err
	}
	if under(r.URL.Path, "/api/v1/sessions") { // a session is its user's, whoever its peers are
		return id, nil
	}
	return ofPeer(id, r.Header.Get(wire.HeaderPeer))
}

func (a *Access) caller(r *http.Request) (skald.Identity, error) {
	switch a.mode {
	case ModeDev:
		return a.anyone(r)
	case ModeTrusted:
		return a.trusted(r)
	}
	sum := sha256.Sum256([]byte(presented(r.Header)))
	if h := a.find(sum); h != nil {
		return h.at(r.URL.Path)
	}
	if a.tenants != nil {
		if id, ok := a.tenants.Find(sum); ok {
			return filled(id), nil
		}
	}
	return skald.Identity{}, errUnauth
}

// at is the holder's identity at a path. The root key has no data: it may only manage.
func (h *holder) at(path string) (skald.Identity, error) {
	id := h.id
	switch {
	case h.own && under(path, adminPath):
		id.Rank = skald.RankRoot
	case id.Rank == skald.RankRoot && !manages(path):
		return id, skald.E("access", skald.KindPermission,
			"the root key has no data of its own: it manages accounts and looks after the server. Use the key of a user here")
	}
	return id, nil
}

const adminPath = "/api/v1/admin"

// manages lists what the root key may reach.
func manages(path string) bool {
	for _, p := range []string{adminPath, "/api/v1/observer", "/api/v1/console", "/api/v1/tasks", "/api/v1/system/backend", "/api/v1/system/sync"} {
		if under(path, p) {
			return true
		}
	}
	switch path {
	case "/api/v1/system/status", "/api/v1/system/wait", "/api/v1/debug/health", "/metrics":
		return true
	}
	return open[path]
}

// under reports whether a path is a folder or lies below it.
func under(path, folder string) bool {
	rest, ok := strings.CutPrefix(path, folder)
	return ok && (rest == "" || rest[0] == '/')
}

// anyone is dev mode's caller: whom the headers name, as root. Accounts are not managed there.
func (a *Access) anyone(r *http.Request) (skald.Identity, error) {
	if under(r.URL.Path, adminPath) {
		return skald.Identity{}, skald.E("access", skald.KindPermission,
			"dev mode has no accounts to manage: take dev out of the configuration, and every account has its keys")
	}
	id := a.byDevel
	id.Rank = skald.RankRoot
	return named(id, r.Header)
}

// named puts what the identity headers say over id.
func named(id skald.Identity, h http.Header) (skald.Identity, error) {
	for _, f := range []struct {
		header, name string
		to           *string
	}{{wire.HeaderAccount, "account_id", &id.Account}, {wire.HeaderUser, "user_id", &id.User}} {
		v := strings.TrimSpace(h.Get(f.header))
		if v == "" {
			continue
		}
		if err := tenant.CheckID(f.name, v); err != nil {
			return id, err
		}
		*f.to = v
	}
	return id, nil
}

// admit completes the identity by what is registered.
func (a *Access) admit(id skald.Identity) (skald.Identity, error) {
	if a.tenants == nil {
		return id, nil
	}
	admitted, err := a.tenants.Admit(id)
	var deleted *tenant.BeingDeleted
	if errors.As(err, &deleted) && id.Rank != skald.RankRoot {
		return id, &wire.Failure{Kind: skald.KindConflict, Status: http.StatusPreconditionFailed, Code: "FAILED_PRECONDITION",
			Message: deleted.Error(), Details: map[string]any{"task_id": deleted.Task}}
	}
	return admitted, nil
}

// ofPeer is id on behalf of a peer; an empty name changes nothing.
func ofPeer(id skald.Identity, peer string) (skald.Identity, error) {
	if peer = strings.TrimSpace(peer); peer == "" {
		return id, nil
	}
	if err := tenant.CheckID("peer_id", peer); err != nil {
		return id, err
	}
	id.Peer = peer
	return id, nil
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
