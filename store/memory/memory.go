package memory

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
)

func (t *tx) PutMemory(m skald.Memory) error {
	if err := t.writing("store.put_memory"); err != nil {
		return err
	}
	t.memories = copied(t.memories)
	t.memories[memoryKey{m.Scope, m.URI}] = cloneMemory(m)
	return nil
}

func (t *tx) Memory(scope skald.Scope, uri skald.URI) (skald.Memory, error) {
	const op = "store.memory"
	if err := t.reading(op); err != nil {
		return skald.Memory{}, err
	}
	m, ok := t.memories[memoryKey{scope, uri}]
	if !ok {
		return skald.Memory{}, skald.NotFound(op, string(uri))
	}
	return cloneMemory(m), nil
}

// DeleteMemory removes a memory; it is no error when there is none.
func (t *tx) DeleteMemory(scope skald.Scope, uri skald.URI) error {
	if err := t.writing("store.delete_memory"); err != nil {
		return err
	}
	t.memories = copied(t.memories)
	delete(t.memories, memoryKey{scope, uri})
	return nil
}

func (t *tx) Memories(q skald.MemoryQuery) ([]skald.Memory, error) {
	if err := t.reading("store.memories"); err != nil {
		return nil, err
	}
	var out []skald.Memory
	for _, m := range t.memories {
		if matches(m, q) {
			out = append(out, cloneMemory(m))
		}
	}
	slices.SortFunc(out, func(a, b skald.Memory) int {
		return cmp.Or(cmp.Compare(a.URI, b.URI), cmp.Compare(a.Scope.Key(), b.Scope.Key()))
	})
	return limited(out, q.Limit), nil
}

func matches(m skald.Memory, q skald.MemoryQuery) bool {
	return inScopes(q.Scopes, m.Scope, false) &&
		(len(q.Types) == 0 || slices.Contains(q.Types, m.Type)) &&
		(q.Prefix == "" || strings.HasPrefix(string(m.URI), strings.TrimRight(string(q.Prefix), "/")+"/")) &&
		(q.After == "" || m.URI > q.After) &&
		(!q.Current || m.Superseded == "") &&
		(q.Source == nil || slices.ContainsFunc(m.Sources, func(s skald.MemorySource) bool { return overlaps(s, q) }))
}

// overlaps reports whether a source shares a turn with the asked run; 0 leaves an end of the run open.
func overlaps(s skald.MemorySource, q skald.MemoryQuery) bool {
	return s.Session == *q.Source && s.Deleted.IsZero() && s.To >= q.From && (q.To == 0 || s.From <= q.To)
}
