package sqlite

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/internal/record"
)

func (t *tx) PutMemory(m skald.Memory) error {
	if err := t.writing("store.put_memory"); err != nil {
		return err
	}
	if err := t.deleteMemory(m.Scope, m.URI); err != nil {
		return err
	}
	scope, err := t.needScope(m.Scope)
	if err != nil {
		return err
	}
	const query = `INSERT INTO memory (scope, uri, type, current, body) VALUES (?, ?, ?, ?, ?)`
	id, err := t.insert("memory.put", query, scope, string(m.URI), string(m.Type), m.Superseded == "", record.Encode(m))
	if err != nil {
		return err
	}
	return t.putSources(id, m.Sources)
}

// putSources makes the way back from turns to what was made of them (I5).
func (t *tx) putSources(memory int64, sources []skald.MemorySource) error {
	for _, s := range sources {
		if !s.Deleted.IsZero() {
			continue
		}
		ref, err := t.needRef(s.Session)
		if err != nil {
			return err
		}
		const query = `INSERT INTO memory_source (ref, memory, first_seq, last_seq) VALUES (?, ?, ?, ?)`
		if err := t.exec("memory_source.put", query, ref, memory, s.From, s.To); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) Memory(scope skald.Scope, uri skald.URI) (skald.Memory, error) {
	const op = "store.memory"
	if err := t.reading(op); err != nil {
		return skald.Memory{}, err
	}
	id, err := t.scopeID(scope)
	if err != nil {
		return skald.Memory{}, err
	}
	m, found, err := body[skald.Memory](t, "memory.get", `SELECT body FROM memory WHERE scope = ? AND uri = ?`, id, string(uri))
	if err == nil && !found {
		err = skald.NotFound(op, string(uri))
	}
	return m, err
}

// DeleteMemory removes a memory; it is no error when there is none.
func (t *tx) DeleteMemory(scope skald.Scope, uri skald.URI) error {
	if err := t.writing("store.delete_memory"); err != nil {
		return err
	}
	return t.deleteMemory(scope, uri)
}

func (t *tx) deleteMemory(scope skald.Scope, uri skald.URI) error {
	id, err := t.scopeID(scope)
	if err != nil || id == 0 {
		return err
	}
	var memory int64
	found, err := t.row("memory.id", `SELECT id FROM memory WHERE scope = ? AND uri = ?`, id, string(uri))(&memory)
	if err != nil || !found {
		return err
	}
	if err := t.exec("memory_source.delete", `DELETE FROM memory_source WHERE memory = ?`, memory); err != nil {
		return err
	}
	return t.exec("memory.delete", `DELETE FROM memory WHERE id = ?`, memory)
}

// Memories asks scope by scope, each in order, and merges.
func (t *tx) Memories(q skald.MemoryQuery) ([]skald.Memory, error) {
	if err := t.reading("store.memories"); err != nil {
		return nil, err
	}
	scopes, err := t.known(q.Scopes)
	if err != nil {
		return nil, err
	}
	where, args, err := t.memoryFilter(q)
	if err != nil {
		return nil, err
	}
	var out []skald.Memory
	for _, scope := range scopes {
		query := `SELECT body FROM memory WHERE scope = ?` + where + ` ORDER BY uri LIMIT ?`
		if q.Source != nil { // a few memories of one session: not by way of all of the scope, in the order of their URIs
			query = `SELECT body FROM memory WHERE +scope = ?` + where + ` ORDER BY uri LIMIT ?`
		}
		list, err := bodies[skald.Memory](t, "memory.list", query, append(append([]any{scope.id}, args...), limit(q.Limit))...)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	slices.SortFunc(out, func(a, b skald.Memory) int {
		return cmp.Or(cmp.Compare(a.URI, b.URI), cmp.Compare(a.Scope.Key(), b.Scope.Key()))
	})
	return limited(out, q.Limit), nil
}

func (t *tx) memoryFilter(q skald.MemoryQuery) (where string, args []any, err error) {
	if len(q.Types) > 0 {
		where += ` AND type IN (?` + strings.Repeat(`, ?`, len(q.Types)-1) + `)`
		for _, typ := range q.Types {
			args = append(args, string(typ))
		}
	}
	if q.Prefix != "" { // from "prefix/" up to the byte that follows the slash
		prefix := strings.TrimRight(string(q.Prefix), "/")
		where += ` AND uri >= ? AND uri < ?`
		args = append(args, prefix+"/", prefix+"0")
	}
	if q.After != "" {
		where += ` AND uri > ?`
		args = append(args, string(q.After))
	}
	if q.Current {
		where += ` AND current = 1`
	}
	if q.Source == nil {
		return where, args, nil
	}
	ref, err := t.refID(*q.Source)
	where += ` AND id IN (SELECT memory FROM memory_source WHERE ref = ? AND last_seq >= ?`
	args = append(args, ref, q.From)
	if q.To != 0 {
		where += ` AND first_seq <= ?`
		args = append(args, q.To)
	}
	return where + `)`, args, err
}
