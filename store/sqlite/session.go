package sqlite

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/internal/record"
)

func (t *tx) Session(ref skald.SessionRef) (skald.Session, error) {
	const op = "store.session"
	if err := t.reading(op); err != nil {
		return skald.Session{}, err
	}
	id, err := t.refID(ref)
	if err != nil {
		return skald.Session{}, err
	}
	s, found, err := body[skald.Session](t, "session.get", `SELECT body FROM session WHERE ref = ?`, id)
	if err == nil && !found {
		err = skald.NotFound(op, string(ref.URI()))
	}
	return s, err
}

func (t *tx) PutSession(s skald.Session) error {
	if err := t.writing("store.put_session"); err != nil {
		return err
	}
	id, err := t.needRef(s.Ref)
	if err != nil {
		return err
	}
	scope, err := t.scopeID(s.Ref.Scope)
	if err != nil {
		return err
	}
	open := s.LastSeq > 0 && s.LastSeq >= s.OpenFrom
	const query = `INSERT OR REPLACE INTO session (ref, scope, sid, owner, updated, open, skey, body)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	return t.exec("session.put", query, id, scope, s.Ref.ID, s.Ref.Scope.Key(), nanos(s.Updated), open, optional(s.Key), record.Encode(s))
}

// Sessions asks scope by scope, each in order, and merges.
func (t *tx) Sessions(q skald.SessionQuery) ([]skald.Session, error) {
	if err := t.reading("store.sessions"); err != nil {
		return nil, err
	}
	if len(q.Scopes) == 0 {
		return t.sessionsWhere(q, "", nil)
	}
	scopes, err := t.known(q.Scopes)
	if err != nil {
		return nil, err
	}
	var out []skald.Session
	for _, scope := range scopes {
		list, err := t.sessionsWhere(q, " AND scope = ?", []any{scope.id})
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	slices.SortFunc(out, newestFirst)
	return limited(out, q.Limit), nil
}

func (t *tx) sessionsWhere(q skald.SessionQuery, where string, args []any) ([]skald.Session, error) {
	var b strings.Builder
	b.WriteString(`SELECT body FROM session WHERE 1` + where)
	if q.Key != "" {
		b.WriteString(` AND skey = ?`)
		args = append(args, q.Key)
	}
	if q.Open {
		b.WriteString(` AND open = 1`)
	}
	b.WriteString(` ORDER BY updated DESC, sid, owner LIMIT ?`)
	return bodies[skald.Session](t, "session.list", b.String(), append(args, limit(q.Limit))...)
}

func newestFirst(a, b skald.Session) int {
	return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.Ref.ID, b.Ref.ID), cmp.Compare(a.Ref.Scope.Key(), b.Ref.Scope.Key()))
}

// numbered is a scope in which something was stored.
type numbered struct {
	id    int64
	scope skald.Scope
}

// known returns the asked scopes in which something was stored, each once.
func (t *tx) known(scopes []skald.Scope) ([]numbered, error) {
	var out []numbered
	for _, s := range scopes {
		id, err := t.scopeID(s)
		if err != nil {
			return nil, err
		}
		if n := (numbered{id, s}); id != 0 && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out, nil
}

func limited[T any](list []T, limit int) []T {
	if limit > 0 && len(list) > limit {
		return list[:limit:limit]
	}
	return list
}
