package api

import (
	"errors"
	"net/http"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/tenant"
)

func (h *Handler) adminUsers(mux *http.ServeMux) {
	const users = "/api/v1/admin/accounts/{account}/users"
	full(mux, "GET "+users, h.listUsers)
	full(mux, "POST "+users, h.addUser)
	full(mux, "DELETE "+users+"/{user}", h.deleteUser)
	full(mux, "PUT "+users+"/{user}/role", h.promote)
	full(mux, "POST "+users+"/{user}/key", h.newKey)
}

var errKeyless = errors.New("users have no keys in trusted mode: headers say who calls")

// maxUsers bounds a listing.
const maxUsers = 10_000

func (h *Handler) listUsers(r *http.Request, id skald.Identity) (any, error) {
	account, err := managed(r, id)
	if err != nil {
		return nil, err
	}
	q := query{r: r}
	want := tenant.UserQuery{Name: q.text("name"), Role: skald.Rank(q.text("role")), Limit: q.int("limit", 100, 1, maxUsers)}
	if err := q.err(); err != nil {
		return nil, err
	}
	list, err := h.deps.Admin.Users(r.Context(), account, want)
	if err != nil {
		return nil, tenantError(err)
	}
	return list, nil
}

func (h *Handler) addUser(r *http.Request, id skald.Identity) (any, error) {
	account, err := managed(r, id)
	if err != nil {
		return nil, err
	}
	b := newUser{Role: skald.RankUser}
	if err := decode(r, &b, false); err != nil {
		return nil, err
	}
	switch {
	case b.User == "":
		return nil, invalid(inBody("user_id"), "missing", "Field required")
	case b.Role == skald.RankRoot:
		return nil, skald.E("admin", skald.KindPermission, "no user is root: that is the holder of the root key")
	case b.Role != skald.RankUser && b.Role != skald.RankAdmin:
		return nil, skald.Invalid("admin", "role", "%q is not user or admin", b.Role)
	}
	u, err := h.newUser(b, account, b.User)
	if err != nil {
		return nil, err
	}
	key, err := h.deps.Admin.AddUser(r.Context(), u)
	if err != nil {
		return nil, tenantError(err)
	}
	return withKey(map[string]any{"account_id": account, "user_id": u.User}, key), nil
}

func (h *Handler) deleteUser(r *http.Request, id skald.Identity) (any, error) {
	account, err := managed(r, id)
	if err != nil {
		return nil, err
	}
	d, err := h.deps.Admin.DeleteUser(r.Context(), h.deps.Policy.UserScope(id), account, r.PathValue("user"))
	if err != nil {
		return nil, tenantError(err)
	}
	return accepted{d}, nil
}

func (h *Handler) promote(r *http.Request, id skald.Identity) (any, error) {
	account, err := managed(r, id)
	if err != nil {
		return nil, err
	}
	var b struct {
		Role skald.Rank `json:"role"`
	}
	if err := decode(r, &b, false); err != nil {
		return nil, err
	}
	if b.Role != skald.RankAdmin {
		return nil, skald.Invalid("admin", "role", "a user is made an admin here, nothing else")
	}
	user := r.PathValue("user")
	if err := h.deps.Admin.Promote(r.Context(), account, user); err != nil {
		return nil, tenantError(err)
	}
	return map[string]any{"account_id": account, "user_id": user, "role": b.Role}, nil
}

func (h *Handler) newKey(r *http.Request, id skald.Identity) (any, error) {
	account, err := managed(r, id)
	if err != nil {
		return nil, err
	}
	if h.deps.Keyless {
		return nil, precondition(errKeyless)
	}
	var b struct {
		Seed string `json:"seed"`
	}
	if err := decode(r, &b, true); err != nil {
		return nil, err
	}
	key, err := h.deps.Admin.NewKey(r.Context(), account, r.PathValue("user"), b.Seed)
	if err != nil {
		return nil, tenantError(err)
	}
	return withKey(map[string]any{}, key), nil
}
