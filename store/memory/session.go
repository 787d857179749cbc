package memory

import (
	"cmp"
	"maps"
	"slices"

	"github.com/skald-engine/skald"
)

func (t *tx) Session(ref skald.SessionRef) (skald.Session, error) {
	const op = "store.session"
	if err := t.reading(op); err != nil {
		return skald.Session{}, err
	}
	s := t.read(ref).state
	if s == nil {
		return skald.Session{}, skald.NotFound(op, string(ref.URI()))
	}
	return cloneSession(*s), nil
}

func (t *tx) Sessions(q skald.SessionQuery) ([]skald.Session, error) {
	if err := t.reading("store.sessions"); err != nil {
		return nil, err
	}
	var out []skald.Session
	for ref, s := range t.sessions {
		if s.state != nil && inScopes(q.Scopes, ref.Scope, true) && (q.Key == "" || s.state.Key == q.Key) && (!q.Open || open(*s.state)) {
			out = append(out, cloneSession(*s.state))
		}
	}
	slices.SortFunc(out, func(a, b skald.Session) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.Ref.ID, b.Ref.ID), cmp.Compare(a.Ref.Scope.Key(), b.Ref.Scope.Key()))
	})
	return limited(out, q.Limit), nil
}

func (t *tx) PutSession(s skald.Session) error {
	if err := t.writing("store.put_session"); err != nil {
		return err
	}
	s = cloneSession(s)
	t.change(s.Ref).state = &s
	return nil
}

func (t *tx) DeleteSession(ref skald.SessionRef) error {
	if err := t.writing("store.delete_session"); err != nil {
		return err
	}
	if len(t.own) == 0 {
		t.sessions = copied(t.sessions)
	}
	t.own[ref] = true // the map is a copy from here on; nothing of a later session of this id is shared
	t.sessions[ref] = &session{keys: map[string]skald.TurnRange{}, recalls: map[int64]skald.PlacedRecall{}, archives: map[int]skald.Archive{}}
	t.docs = copied(t.docs)
	t.docs[ref.Scope] = slices.DeleteFunc(slices.Clone(t.docs[ref.Scope]), func(d doc) bool {
		return d.Session == ref.ID && (d.Kind == skald.DocTurn || d.Kind == skald.DocArchive)
	})
	t.dead = slices.DeleteFunc(slices.Clone(t.dead), func(d skald.DeadLetter) bool { return d.Session == ref })
	t.jobs = copied(t.jobs)
	maps.DeleteFunc(t.jobs, func(_ int64, j skald.Job) bool { return j.Session == ref })
	return nil
}

// open reports whether the session has turns that no archive covers.
func open(s skald.Session) bool { return s.LastSeq > 0 && s.LastSeq >= s.OpenFrom }

// inScopes reports whether the scope is among those asked for; an empty list means all of them only where all is set.
func inScopes(scopes []skald.Scope, s skald.Scope, all bool) bool {
	return all && len(scopes) == 0 || slices.Contains(scopes, s)
}

func limited[T any](list []T, limit int) []T {
	if limit > 0 && len(list) > limit {
		return list[:limit:limit]
	}
	return list
}
