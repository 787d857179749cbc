package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/tenant"
)

// Admin manages the accounts of a daemon. The key is the daemon's own, the root key, or an admin's for the own account.
type Admin struct{ c *Client }

// Admin asks for accounts, users and keys.
func (c *Client) Admin() Admin { return Admin{c} }

func accountPath(account string, more ...string) string {
	path := "/admin/accounts/" + url.PathEscape(account)
	for _, m := range more {
		path += "/" + url.PathEscape(m)
	}
	return path
}

// call names no identity: who manages is whose the key is.
func (a Admin) call(ctx context.Context, method, path string, body, out any) error {
	return a.c.api(ctx, method, path, skald.Identity{}, body, out)
}

// Accounts lists the accounts.
func (a Admin) Accounts(ctx context.Context) (list []tenant.Account, err error) {
	err = a.call(ctx, http.MethodGet, "/admin/accounts", nil, &list)
	return list, err
}

// keyFrom asks for something whose answer holds a key; "" where users have none.
func (a Admin) keyFrom(ctx context.Context, path string, body any) (string, error) {
	var answer struct {
		Key string `json:"user_key"`
	}
	err := a.call(ctx, http.MethodPost, path, body, &answer)
	return answer.Key, err
}

// CreateAccount makes an account with its first admin, and returns the admin's key.
func (a Admin) CreateAccount(ctx context.Context, u tenant.NewUser) (string, error) {
	return a.keyFrom(ctx, "/admin/accounts", map[string]any{"account_id": u.Account, "admin_user_id": u.User, "seed": u.Seed})
}

// DeleteAccount begins to erase an account.
func (a Admin) DeleteAccount(ctx context.Context, account string) (d tenant.Deletion, err error) {
	err = a.call(ctx, http.MethodDelete, accountPath(account), nil, &d)
	return d, err
}

// Users lists an account's users.
func (a Admin) Users(ctx context.Context, account string, q tenant.UserQuery) (list []tenant.User, err error) {
	v := url.Values{"name": {q.Name}, "role": {string(q.Role)}}
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	err = a.call(ctx, http.MethodGet, accountPath(account, "users")+"?"+v.Encode(), nil, &list)
	return list, err
}

// AddUser registers a user and returns the key.
func (a Admin) AddUser(ctx context.Context, u tenant.NewUser) (string, error) {
	return a.keyFrom(ctx, accountPath(u.Account, "users"), map[string]any{"user_id": u.User, "role": u.Role, "seed": u.Seed})
}

// DeleteUser begins to erase a user.
func (a Admin) DeleteUser(ctx context.Context, account, user string) (d tenant.Deletion, err error) {
	err = a.call(ctx, http.MethodDelete, accountPath(account, "users", user), nil, &d)
	return d, err
}

// Promote makes a user an admin of the account.
func (a Admin) Promote(ctx context.Context, account, user string) error {
	var ignored any
	return a.call(ctx, http.MethodPut, accountPath(account, "users", user, "role"), map[string]any{"role": skald.RankAdmin}, &ignored)
}

// NewKey gives a user a new key and returns it.
func (a Admin) NewKey(ctx context.Context, account, user, seed string) (string, error) {
	return a.keyFrom(ctx, accountPath(account, "users", user, "key"), map[string]any{"seed": seed})
}

// ChangeSettings sets what is not nil, and returns what the account says of its own.
func (a Admin) ChangeSettings(ctx context.Context, account string, s tenant.Settings) (tenant.Settings, error) {
	type onOff struct {
		Enabled bool `json:"enabled"`
	}
	body := map[string]any{}
	if s.Evolution != nil {
		body["agent_evolution"] = onOff{*s.Evolution}
	}
	if s.Policy != nil {
		body["namespace_policy"] = s.Policy
	}
	var answer struct {
		Own struct {
			Evolution *onOff        `json:"agent_evolution"`
			Policy    *skald.Policy `json:"namespace_policy"`
		} `json:"overrides"`
	}
	if err := a.call(ctx, http.MethodPatch, accountPath(account, "settings"), body, &answer); err != nil {
		return tenant.Settings{}, err
	}
	out := tenant.Settings{Policy: answer.Own.Policy}
	if answer.Own.Evolution != nil {
		out.Evolution = &answer.Own.Evolution.Enabled
	}
	return out, nil
}
