package tenant

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/skald-engine/skald"
)

// The kinds of the jobs that erase.
const (
	JobDeleteUser    = "user_delete"
	JobDeleteAccount = "account_delete"
)

// DeleteUser revokes a user's key and begins to erase what is the user's. by is who asked: the job is a task of that scope. Asked again, it
// answers with the same task.
func (r *Registry) DeleteUser(ctx context.Context, by skald.Scope, account, id string) (Deletion, error) {
	r.change.Lock()
	defer r.change.Unlock()
	n := name{account, id}
	u, err := r.registered(n)
	switch {
	case err != nil:
		return Deletion{}, err
	case r.fixed[n]:
		return Deletion{}, ErrConfigured
	case u.Deletion == "":
		err = r.put(ctx, n, nil, &u, func(tx skald.Tx) error {
			u.Deletion, err = r.enqueue(tx, by, JobDeleteUser, n.id())
			return err
		})
		r.begun()
	}
	return Deletion{Account: account, User: id, Status: Deleting, Task: u.Deletion}, err
}

// DeleteAccount revokes the keys of an account's users and begins to erase all that is the account's.
func (r *Registry) DeleteAccount(ctx context.Context, by skald.Scope, id string) (Deletion, error) {
	r.change.Lock()
	defer r.change.Unlock()
	a, known := r.accounts[id]
	if !known {
		return Deletion{}, missing(fieldAccount, id)
	}
	for n := range r.fixed {
		if n.account == id {
			return Deletion{}, ErrConfigured
		}
	}
	var err error
	if a.Deletion == "" {
		err = r.put(ctx, name{account: id}, &a, nil, func(tx skald.Tx) error {
			a.Deletion, err = r.enqueue(tx, by, JobDeleteAccount, id)
			return err
		})
		r.begun()
	}
	return Deletion{Account: id, Status: Deleting, Task: a.Deletion}, err
}

func (r *Registry) begun() {
	r.mu.RLock()
	defer r.mu.RUnlock()
	r.wake()
}

// enqueue puts the job and returns its id. The key is one that no earlier deletion of the same name had.
func (r *Registry) enqueue(tx skald.Tx, by skald.Scope, kind, what string) (string, error) {
	now := r.now()
	j := skald.Job{Key: fmt.Sprintf("%s/%s/%d", kind, what, now.UnixNano()), Kind: kind, Session: skald.SessionRef{Scope: by},
		State: skald.JobReady, Created: now, Updated: now, RunAt: now}
	if err := tx.PutJob(j.WithNote(skald.JobNote{Resource: what})); err != nil {
		return "", err
	}
	jobs, err := tx.Jobs([]skald.Scope{by}, 0)
	for _, stored := range slices.Backward(jobs) {
		if stored.Key == j.Key {
			return strconv.FormatInt(stored.ID, 10), err
		}
	}
	if err == nil {
		err = skald.E("tenant.delete", skald.KindInternal, "the job is not in the queue")
	}
	return "", err
}

// Work implements skald.Worker for both kinds of jobs. What is erased already is no error: a job that was killed begins anew.
func (r *Registry) Work(ctx context.Context, j skald.Job, _ func(skald.JobNote) error) (skald.JobNote, error) {
	note := j.Note()
	of, who, _ := strings.Cut(note.Resource, "/")
	n := name{of, who}
	if !r.deleting(n, strconv.FormatInt(j.ID, 10)) {
		return note, skald.E("tenant.delete", skald.KindInvalid, "%q is not being deleted by this job", note.Resource)
	}
	for range 2 { // what a call wrote that was under way when the deletion began goes with the second
		if err := r.erase(ctx, n); err != nil {
			return note, err
		}
	}
	if err := r.forget(ctx, n); err != nil {
		return note, err
	}
	note.Result = json.RawMessage(`{"deleted":true}`)
	return note, nil
}

// deleting reports whether the job of that id was told to erase n: never on the word of a job alone.
func (r *Registry) deleting(n name, job string) bool {
	r.change.Lock() // the job is in the store a moment before the registry knows
	defer r.change.Unlock()
	if n.user == "" {
		return r.accounts[n.account].Deletion == job
	}
	return r.users[n].Deletion == job
}

// erase empties the scopes of a user, or of an account, a session in a transaction, so that other writers need not wait for all of it.
func (r *Registry) erase(ctx context.Context, n name) error {
	var scopes []skald.Scope
	err := r.store.View(ctx, func(tx skald.Tx) (err error) {
		scopes, err = tx.Scopes(n.account)
		return err
	})
	if err != nil {
		return err
	}
	scopes = slices.DeleteFunc(scopes, func(s skald.Scope) bool { return n.user != "" && s.User != n.user })
	for _, scope := range scopes {
		if err := r.eraseScope(ctx, scope); err != nil {
			return err
		}
	}
	return r.store.Update(ctx, func(tx skald.Tx) error { return r.unsource(tx, n.account, scopes) })
}

func (r *Registry) eraseScope(ctx context.Context, scope skald.Scope) error {
	var sessions []skald.Session
	err := r.store.View(ctx, func(tx skald.Tx) (err error) {
		sessions, err = tx.Sessions(skald.SessionQuery{Scopes: []skald.Scope{scope}})
		return err
	})
	if err != nil {
		return err
	}
	for _, s := range sessions {
		if err := r.store.Update(ctx, func(tx skald.Tx) error { return tx.DeleteSession(s.Ref) }); err != nil {
			return err
		}
	}
	return r.store.Update(ctx, func(tx skald.Tx) error { return tx.DeleteScope(scope) })
}

// unsource marks the erased sessions as gone where memories that stay name them: an agent's, which it shares with others.
func (r *Registry) unsource(tx skald.Tx, account string, erased []skald.Scope) error {
	scopes, err := tx.Scopes(account)
	if err != nil {
		return err
	}
	scopes = slices.DeleteFunc(scopes, func(s skald.Scope) bool { return slices.Contains(erased, s) })
	if len(scopes) == 0 {
		return nil
	}
	memories, err := tx.Memories(skald.MemoryQuery{Scopes: scopes})
	for _, m := range memories {
		changed := false
		m.Sources = slices.Clone(m.Sources)
		for i, s := range m.Sources {
			if s.Deleted.IsZero() && slices.Contains(erased, s.Session.Scope) {
				m.Sources[i].Deleted, changed = r.now(), true
			}
		}
		if !changed {
			continue
		}
		if err := tx.PutMemory(m); err != nil {
			return err
		}
	}
	return err
}

// forget removes the user, or the account with its users, from the registry.
func (r *Registry) forget(ctx context.Context, n name) error {
	r.change.Lock()
	defer r.change.Unlock()
	gone := []name{n}
	if n.user == "" {
		gone = slices.DeleteFunc(slices.Collect(maps.Keys(r.users)), func(u name) bool { return u.account != n.account })
	}
	err := r.store.Update(ctx, func(tx skald.Tx) error {
		for _, u := range gone {
			if err := tx.DeleteRecord(skald.Scope{}, kindUser, u.id()); err != nil {
				return err
			}
		}
		if n.user == "" {
			return tx.DeleteRecord(skald.Scope{}, kindAccount, n.account)
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, u := range gone {
		r.drop(u)
	}
	if n.user == "" {
		delete(r.accounts, n.account)
	}
	return nil
}

// Resume puts the jobs of deletions again that have none waiting: one that failed for good, or went with the scope of who asked.
func (r *Registry) Resume(ctx context.Context) error {
	r.change.Lock()
	defer r.change.Unlock()
	accounts, users := maps.Clone(r.accounts), maps.Clone(r.users)
	maps.DeleteFunc(accounts, func(_ string, a account) bool { return a.Deletion == "" })
	maps.DeleteFunc(users, func(_ name, u user) bool { return u.Deletion == "" })
	if len(accounts)+len(users) == 0 {
		return nil
	}
	err := r.store.Update(ctx, func(tx skald.Tx) error {
		jobs, err := tx.Jobs(nil, 0)
		if err != nil {
			return err
		}
		waiting := map[string]bool{}
		for _, j := range jobs {
			waiting[strconv.FormatInt(j.ID, 10)] = j.State == skald.JobReady
		}
		for id, a := range accounts {
			if a.Deletion, err = r.again(tx, waiting, a.Deletion, JobDeleteAccount, id); err != nil {
				return err
			}
			accounts[id] = a
			if err := putRecord(tx, kindAccount, id, a, r.now()); err != nil {
				return err
			}
		}
		for n, u := range users {
			if u.Deletion, err = r.again(tx, waiting, u.Deletion, JobDeleteUser, n.id()); err != nil {
				return err
			}
			users[n] = u
			if err := putRecord(tx, kindUser, n.id(), u, r.now()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.Copy(r.accounts, accounts)
	for n, u := range users {
		r.keep(n, u)
	}
	return nil
}

// again is the id of a deletion's job: the one that waits, or a new one of the daemon's own.
func (r *Registry) again(tx skald.Tx, waiting map[string]bool, job, kind, what string) (string, error) {
	if waiting[job] {
		return job, nil
	}
	return r.enqueue(tx, skald.Scope{}, kind, what)
}
