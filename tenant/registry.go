package tenant

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/skald-engine/skald"
)

// Registry is the accounts and users of a store, with a copy of them in memory: a caller is found without the store. The store must be
// this process's alone.
type Registry struct {
	store skald.Store
	clock func() time.Time

	change sync.Mutex // held by the one change under way, over the store's transaction

	mu       sync.RWMutex
	accounts map[string]account
	users    map[name]user
	keys     map[[sha256.Size]byte]name
	fixed    map[name]bool // users whom the configuration names
	wake     func()        // tells the background of a job
}

// name is a user's.
type name struct{ account, user string }

// id is the name as the id of a record. No safe identifier has a slash.
func (n name) id() string { return n.account + "/" + n.user }

// The kinds of records.
const (
	kindAccount = "account"
	kindUser    = "user"
)

// account is an account as it is stored.
type account struct {
	Created  time.Time `json:"created"`
	Settings Settings  `json:"settings"`
	Deletion string    `json:"deletion,omitempty"` // id of the job
}

// user is a user as it is stored.
type user struct {
	Created  time.Time  `json:"created"`
	Role     skald.Rank `json:"role"`
	Key      string     `json:"key,omitempty"` // SHA-256 of the key, hex; "" none
	Prefix   string     `json:"prefix,omitempty"`
	Config   UserConfig `json:"config"`
	Deletion string     `json:"deletion,omitempty"` // id of the job
}

// Open reads the accounts and users of a store. clock nil is the real one.
func Open(ctx context.Context, store skald.Store, clock func() time.Time) (*Registry, error) {
	if clock == nil {
		clock = time.Now
	}
	r := &Registry{store: store, clock: clock, wake: func() {},
		accounts: map[string]account{}, users: map[name]user{}, keys: map[[sha256.Size]byte]name{}, fixed: map[name]bool{}}
	return r, store.View(ctx, r.load)
}

func (r *Registry) load(tx skald.Tx) error {
	accounts, err := tx.Records(skald.RecordQuery{Scopes: []skald.Scope{{}}, Kind: kindAccount})
	if err != nil {
		return err
	}
	for _, rec := range accounts {
		var a account
		if err := json.Unmarshal(rec.Body, &a); err != nil {
			return skald.E("tenant.open", skald.KindInternal, "account %s: %w", rec.ID, err)
		}
		r.accounts[rec.ID] = a
	}
	users, err := tx.Records(skald.RecordQuery{Scopes: []skald.Scope{{}}, Kind: kindUser})
	if err != nil {
		return err
	}
	for _, rec := range users {
		var u user
		if err := json.Unmarshal(rec.Body, &u); err != nil {
			return skald.E("tenant.open", skald.KindInternal, "user %s: %w", rec.ID, err)
		}
		of, who, _ := strings.Cut(rec.ID, "/")
		r.keep(name{of, who}, u)
	}
	return nil
}

// keep puts a user into the copy; the key that the user had before is gone from it.
func (r *Registry) keep(n name, u user) {
	r.drop(n)
	r.users[n] = u
	if sum, ok := sumOf(u.Key); ok && u.Deletion == "" {
		r.keys[sum] = n
	}
}

func (r *Registry) drop(n name) {
	if sum, ok := sumOf(r.users[n].Key); ok {
		delete(r.keys, sum)
	}
	delete(r.users, n)
}

func sumOf(key string) (sum [sha256.Size]byte, ok bool) {
	b, err := hex.DecodeString(key)
	return [sha256.Size]byte(append(b, sum[len(b):]...)), err == nil && len(b) == len(sum)
}

// Notify sets whom to tell that there is a job.
func (r *Registry) Notify(wake func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wake = wake
}

// Find is whose a key is. The key's hash leads to the user, so that how long it takes says nothing about other keys.
func (r *Registry) Find(sum [sha256.Size]byte) (skald.Identity, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	n, ok := r.keys[sum]
	if !ok || r.accounts[n.account].Deletion != "" {
		return skald.Identity{}, false
	}
	if own, _ := sumOf(r.users[n].Key); subtle.ConstantTimeCompare(own[:], sum[:]) != 1 {
		return skald.Identity{}, false
	}
	return skald.Identity{Account: n.account, User: n.user}, true
}

// Admit completes a caller's identity: the rank that the user has, unless one is given already, and the account's policy. It fails with
// BeingDeleted while the user or account is. A user who is not registered is admitted as such.
func (r *Registry) Admit(id skald.Identity) (skald.Identity, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	a, u := r.accounts[id.Account], r.users[name{id.Account, id.User}]
	switch {
	case a.Deletion != "":
		return id, &BeingDeleted{"Account", a.Deletion}
	case u.Deletion != "":
		return id, &BeingDeleted{"User", u.Deletion}
	}
	if id.Rank == "" {
		id.Rank = skald.RankUser
		if u.Role != "" {
			id.Rank = u.Role
		}
	}
	id.Policy = a.Settings.Policy
	return id, nil
}

// Policy is how an account shares its namespaces; nil: as the daemon's configuration says.
func (r *Registry) Policy(account string) *skald.Policy {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.accounts[account].Settings.Policy
}

// Evolution reports whether the account asked for memories of how its agents work; nil: as the daemon's configuration says.
func (r *Registry) Evolution(account string) *bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.accounts[account].Settings.Evolution
}

// Config is the user's own settings, empty for one who is not registered.
func (r *Registry) Config(id skald.Identity) UserConfig {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.users[name{id.Account, id.User}].Config
}

// Keep registers a user whom the configuration names, as Ensure does, and keeps such a user from being deleted: the key would still work.
func (r *Registry) Keep(ctx context.Context, id skald.Identity, role skald.Rank) error {
	r.mu.Lock()
	r.fixed[name{id.Account, id.User}] = true
	r.mu.Unlock()
	return r.Ensure(ctx, id, role)
}

// Ensure registers a user, with the account, unless they are registered.
func (r *Registry) Ensure(ctx context.Context, id skald.Identity, role skald.Rank) error {
	r.change.Lock()
	defer r.change.Unlock()
	n := name{id.Account, id.User}
	a, known := r.accounts[n.account]
	u, registered := r.users[n]
	if registered && known {
		return nil
	}
	if !known {
		a = account{Created: r.now()}
	}
	if !registered {
		u = user{Created: r.now(), Role: role}
	}
	return r.put(ctx, n, &a, &u)
}

func (r *Registry) now() time.Time { return r.clock().UTC() }

// put stores an account, a user, or both, and then takes them over into the copy. r.change is held.
func (r *Registry) put(ctx context.Context, n name, a *account, u *user, more ...func(skald.Tx) error) error {
	err := r.store.Update(ctx, func(tx skald.Tx) error {
		for _, step := range more {
			if err := step(tx); err != nil {
				return err
			}
		}
		if a != nil {
			if err := putRecord(tx, kindAccount, n.account, a, r.now()); err != nil {
				return err
			}
		}
		if u != nil {
			return putRecord(tx, kindUser, n.id(), u, r.now())
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if a != nil {
		r.accounts[n.account] = *a
	}
	if u != nil {
		r.keep(n, *u)
	}
	return nil
}

func putRecord(tx skald.Tx, kind, id string, v any, now time.Time) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return tx.PutRecord(skald.Record{Kind: kind, ID: id, Body: body, Updated: now})
}
