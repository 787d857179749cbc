package sqlite

import (
	"cmp"
	"sync"

	"github.com/skald-engine/skald"
)

// ids remembers the numbers of scopes and session references. They never change once committed. What an update sees may yet be
// rolled back, so it keeps an ids of its own, which the store takes over after the commit.
type ids struct {
	mu     sync.RWMutex
	scopes map[skald.Scope]int64
	refs   map[skald.SessionRef]int64
}

// maxIDs bounds the memory; the maps start anew beyond it.
const maxIDs = 20_000

func (i *ids) scope(s skald.Scope) int64 {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.scopes[s]
}

func (i *ids) ref(r skald.SessionRef) int64 {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.refs[r]
}

func (i *ids) keepScope(s skald.Scope, id int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.scopes == nil || len(i.scopes) > maxIDs {
		i.scopes = map[skald.Scope]int64{}
	}
	i.scopes[s] = id
}

func (i *ids) keepRef(r skald.SessionRef, id int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.refs == nil || len(i.refs) > maxIDs {
		i.refs = map[skald.SessionRef]int64{}
	}
	i.refs[r] = id
}

// adopt takes over what a committed update has learned.
func (i *ids) adopt(own *ids) {
	for s, id := range own.scopes {
		i.keepScope(s, id)
	}
	for r, id := range own.refs {
		i.keepRef(r, id)
	}
}

// remember is where the transaction may keep what it learns.
func (t *tx) remember() *ids {
	if t.writer == nil {
		return &t.store.ids
	}
	return &t.own
}

// scopeID is the scope's number, 0 when nothing was stored in it yet.
func (t *tx) scopeID(s skald.Scope) (id int64, err error) {
	if id = cmp.Or(t.store.ids.scope(s), t.own.scope(s)); id != 0 {
		return id, nil
	}
	const query = `SELECT id FROM scope WHERE account = ? AND kind = ? AND user = ? AND agent = ?`
	found, err := t.row("scope.id", query, s.Account, string(s.Kind), s.User, s.Agent)(&id)
	if found {
		t.remember().keepScope(s, id)
	}
	return id, err
}

// refID is the session reference's number, 0 when nothing was stored under it yet.
func (t *tx) refID(ref skald.SessionRef) (id int64, err error) {
	if id = cmp.Or(t.store.ids.ref(ref), t.own.ref(ref)); id != 0 {
		return id, nil
	}
	scope, err := t.scopeID(ref.Scope)
	if err != nil || scope == 0 {
		return 0, err
	}
	found, err := t.row("ref.id", `SELECT id FROM ref WHERE scope = ? AND sid = ?`, scope, ref.ID)(&id)
	if found {
		t.remember().keepRef(ref, id)
	}
	return id, err
}

// needScope is scopeID that gives a new scope its number.
func (t *tx) needScope(s skald.Scope) (int64, error) {
	if id, err := t.scopeID(s); err != nil || id != 0 {
		return id, err
	}
	const query = `INSERT INTO scope (account, kind, user, agent) VALUES (?, ?, ?, ?)`
	return t.insert("scope.insert", query, s.Account, string(s.Kind), s.User, s.Agent)
}

// needRef is refID that gives a new reference its number.
func (t *tx) needRef(ref skald.SessionRef) (int64, error) {
	if id, err := t.refID(ref); err != nil || id != 0 {
		return id, err
	}
	scope, err := t.needScope(ref.Scope)
	if err != nil {
		return 0, err
	}
	return t.insert("ref.insert", `INSERT INTO ref (scope, sid) VALUES (?, ?)`, scope, ref.ID)
}
