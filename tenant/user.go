package tenant

import (
	"cmp"
	"context"
	"encoding/hex"
	"path"
	"slices"

	"github.com/skald-engine/skald"
)

// UserQuery selects users of an account.
type UserQuery struct {
	Name  string     // a glob (path.Match); "" all
	Role  skald.Rank // "" all
	Limit int        // 0: no limit
}

// Users lists an account's users, oldest first.
func (r *Registry) Users(_ context.Context, id string, q UserQuery) ([]User, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if _, known := r.accounts[id]; !known {
		return nil, missing(fieldAccount, id)
	}
	var found []name
	for n, u := range r.users {
		matches, err := path.Match(cmp.Or(q.Name, "*"), n.user)
		if err != nil {
			return nil, skald.Invalid("tenant", "name", "%q is no pattern: %w", q.Name, err)
		}
		if n.account == id && matches && (q.Role == "" || q.Role == u.Role) {
			found = append(found, n)
		}
	}
	slices.SortFunc(found, func(a, b name) int {
		return cmp.Or(r.users[a].Created.Compare(r.users[b].Created), cmp.Compare(a.user, b.user))
	})
	if q.Limit > 0 {
		found = found[:min(len(found), q.Limit)]
	}
	out := make([]User, 0, len(found))
	for _, n := range found {
		out = append(out, r.users[n].shown(n.user))
	}
	return out, nil
}

func (u user) shown(id string) User {
	out := User{ID: id, Role: u.Role, KeyPrefix: u.Prefix, Task: u.Deletion}
	if u.Deletion != "" {
		out.Status, out.KeyPrefix = Deleting, ""
	}
	return out
}

// AddUser registers a user and returns the key, "" when none was asked for. KindNotFound without the account, KindExists with such a user.
func (r *Registry) AddUser(ctx context.Context, u NewUser) (key string, err error) {
	r.change.Lock()
	defer r.change.Unlock()
	a, known := r.accounts[u.Account]
	switch {
	case !known:
		return "", missing(fieldAccount, u.Account)
	case a.Deletion != "":
		return "", &BeingDeleted{"Account", a.Deletion}
	}
	return r.addUser(ctx, u, nil)
}

func (r *Registry) addUser(ctx context.Context, u NewUser, a *account) (string, error) {
	if err := CheckID("user_id", u.User); err != nil {
		return "", err
	}
	n := name{u.Account, u.User}
	if _, registered := r.users[n]; registered {
		return "", taken(fieldUser, u.User)
	}
	made := user{Created: r.now(), Role: cmp.Or(u.Role, skald.RankUser), Config: u.Config}
	var key string
	if !u.NoKey {
		key = made.newKey(n, u.Seed)
	}
	return key, r.put(ctx, n, a, &made)
}

// newKey gives the user a new key, and returns it.
func (u *user) newKey(n name, seed string) string {
	k := newKey(n.account, n.user, seed)
	u.Key, u.Prefix = hex.EncodeToString(k.Sum[:]), k.Prefix
	return k.Text
}

// edit changes a registered user.
func (r *Registry) edit(ctx context.Context, n name, change func(*user)) (user, error) {
	r.change.Lock()
	defer r.change.Unlock()
	u, err := r.registered(n)
	if err != nil {
		return u, err
	}
	if u.Deletion != "" {
		return u, &BeingDeleted{"User", u.Deletion}
	}
	change(&u)
	return u, r.put(ctx, n, nil, &u)
}

func (r *Registry) registered(n name) (user, error) {
	if _, known := r.accounts[n.account]; !known {
		return user{}, missing(fieldAccount, n.account)
	}
	u, known := r.users[n]
	if !known {
		return u, missing(fieldUser, n.user)
	}
	return u, nil
}

// Promote makes a user an admin of the account.
func (r *Registry) Promote(ctx context.Context, account, id string) error {
	_, err := r.edit(ctx, name{account, id}, func(u *user) { u.Role = skald.RankAdmin })
	return err
}

// NewKey gives a user a new key; the old one is worthless at once.
func (r *Registry) NewKey(ctx context.Context, account, id, seed string) (key string, err error) {
	n := name{account, id}
	_, err = r.edit(ctx, n, func(u *user) { key = u.newKey(n, seed) })
	if err != nil {
		return "", err
	}
	return key, nil
}

// UserConfig reads a registered user's settings.
func (r *Registry) UserConfig(_ context.Context, account, id string) (UserConfig, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	u, err := r.registered(name{account, id})
	return u.Config, err
}

// ChangeUserConfig changes a registered user's settings.
func (r *Registry) ChangeUserConfig(ctx context.Context, account, id string, change func(*UserConfig)) (UserConfig, error) {
	u, err := r.edit(ctx, name{account, id}, func(u *user) { change(&u.Config) })
	return u.Config, err
}
