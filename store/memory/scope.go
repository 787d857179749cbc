package memory

import (
	"cmp"
	"maps"
	"slices"

	"github.com/skald-engine/skald"
)

func (t *tx) Scopes(account string) ([]skald.Scope, error) {
	if err := t.reading("store.scopes"); err != nil {
		return nil, err
	}
	var out []skald.Scope
	add := func(s skald.Scope) {
		if s.Account == account && s.Kind != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for ref := range t.sessions {
		add(ref.Scope)
	}
	for k := range t.memories {
		add(k.scope)
	}
	for k := range t.files {
		add(k.scope)
	}
	for k := range t.records {
		add(k.scope)
	}
	for s := range t.docs {
		add(s)
	}
	for _, j := range t.jobs {
		add(j.Session.Scope)
	}
	for _, d := range t.dead {
		add(d.Session.Scope)
	}
	slices.SortFunc(out, func(a, b skald.Scope) int { return cmp.Compare(a.Key(), b.Key()) })
	return out, nil
}

func (t *tx) DeleteScope(scope skald.Scope) error {
	if err := t.writing("store.delete_scope"); err != nil {
		return err
	}
	if scope == (skald.Scope{}) {
		return skald.Invalid("store.delete_scope", "scope", "the daemon's own scope is not deleted")
	}
	for ref := range t.sessions {
		if ref.Scope != scope {
			continue
		}
		if err := t.DeleteSession(ref); err != nil {
			return err
		}
	}
	t.memories, t.files, t.records = copied(t.memories), copied(t.files), copied(t.records)
	maps.DeleteFunc(t.memories, func(k memoryKey, _ skald.Memory) bool { return k.scope == scope })
	maps.DeleteFunc(t.files, func(k fileKey, _ skald.File) bool { return k.scope == scope })
	maps.DeleteFunc(t.records, func(k recordKey, _ skald.Record) bool { return k.scope == scope })
	t.docs, t.jobs = copied(t.docs), copied(t.jobs)
	delete(t.docs, scope)
	maps.DeleteFunc(t.jobs, func(_ int64, j skald.Job) bool { return j.Session.Scope == scope })
	t.dead = slices.DeleteFunc(slices.Clone(t.dead), func(d skald.DeadLetter) bool { return d.Session.Scope == scope })
	return nil
}
