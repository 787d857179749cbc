package tenant

import (
	"cmp"
	"context"
	"slices"

	"github.com/skald-engine/skald"
)

// Accounts lists the accounts, oldest first.
func (r *Registry) Accounts(context.Context) ([]Account, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	count := map[string]int{}
	for n := range r.users {
		count[n.account]++
	}
	out := make([]Account, 0, len(r.accounts))
	for id, a := range r.accounts {
		out = append(out, Account{ID: id, Created: a.Created, Users: count[id], Status: status(a.Deletion), Task: a.Deletion})
	}
	slices.SortFunc(out, func(a, b Account) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	return out, nil
}

func status(deletion string) string {
	if deletion != "" {
		return Deleting
	}
	return Active
}

// CreateAccount makes an account with its first admin, and returns the admin's key. KindExists when there is one of that name.
func (r *Registry) CreateAccount(ctx context.Context, u NewUser) (key string, err error) {
	if err := CheckID("account_id", u.Account); err != nil {
		return "", err
	}
	r.change.Lock()
	defer r.change.Unlock()
	if _, known := r.accounts[u.Account]; known {
		return "", taken(fieldAccount, u.Account)
	}
	u.Role = skald.RankAdmin
	return r.addUser(ctx, u, &account{Created: r.now()})
}

// Settings reads an account's settings.
func (r *Registry) Settings(_ context.Context, id string) (Settings, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	a, known := r.accounts[id]
	if !known {
		return Settings{}, missing(fieldAccount, id)
	}
	return a.Settings, nil
}

// ChangeSettings sets what is not nil.
func (r *Registry) ChangeSettings(ctx context.Context, id string, s Settings) (Settings, error) {
	r.change.Lock()
	defer r.change.Unlock()
	a, known := r.accounts[id]
	if !known {
		return Settings{}, missing(fieldAccount, id)
	}
	if s.Evolution != nil {
		a.Settings.Evolution = s.Evolution
	}
	if s.Policy != nil {
		policy := *s.Policy // identities point to it: it never changes
		a.Settings.Policy = &policy
	}
	return a.Settings, r.put(ctx, name{account: id}, &a, nil)
}
