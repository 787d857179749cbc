package storetest

import (
	"testing"

	"github.com/skald-engine/skald"
)

func newMemory(scope skald.Scope, uri skald.URI) skald.Memory {
	return skald.Memory{
		URI: uri, Scope: scope, Type: skald.MemoryEvent, Text: "body \xff\x00 \n", Created: at(1), Updated: at(2), ValidFrom: at(3), ValidTo: at(4),
		Origin: skald.OriginOwner, Audience: skald.AudienceDirect, Session: chat.ID, Explicit: true, Archive: 1, Uses: 2, Lang: "en",
		Sources: []skald.MemorySource{{Session: chat, From: 10, To: 20}, {Session: chat, From: 40, To: 40}},
	}
}

func uris(q skald.MemoryQuery) func(skald.Tx) ([]skald.URI, error) {
	return func(tx skald.Tx) (out []skald.URI, err error) {
		list, err := tx.Memories(q)
		for _, m := range list {
			out = append(out, m.URI)
		}
		return out, err
	}
}

var memoryTests = map[string]func(*testing.T, skald.Store){
	"PutGetDelete": func(t *testing.T, s skald.Store) {
		const uri = "viking://user/alice/memories/profile.md"
		get := func(tx skald.Tx) (skald.Memory, error) { return tx.Memory(alice, uri) }
		update(t, s, func(tx skald.Tx) error {
			_, err := get(tx)
			wantKind(t, "missing", err, skald.KindNotFound)
			return firstError(
				func() error { return tx.DeleteMemory(alice, uri) },
				func() error { return tx.PutMemory(newMemory(alice, uri)) },
			)
		})
		same(t, "memory", read(t, s, get), newMemory(alice, uri))
		want := skald.Memory{URI: uri, Scope: alice, Text: "short"}
		update(t, s, func(tx skald.Tx) error { return tx.PutMemory(want) })
		same(t, "replaced", read(t, s, get), want)
		bySource := skald.MemoryQuery{Scopes: []skald.Scope{alice}, Source: &chat}
		same(t, "sources of the old one", read(t, s, uris(bySource)), []skald.URI(nil))
		update(t, s, func(tx skald.Tx) error { return tx.DeleteMemory(alice, uri) })
		same(t, "deleted", read(t, s, uris(skald.MemoryQuery{Scopes: everyone})), []skald.URI(nil))
	},
	"Query": func(t *testing.T, s skald.Store) {
		put := func(tx skald.Tx, scope skald.Scope, uri skald.URI, change func(*skald.Memory)) error {
			m := newMemory(scope, uri)
			change(&m)
			return tx.PutMemory(m)
		}
		sub := skald.SessionRef{Scope: alice, ID: "sub"}
		update(t, s, func(tx skald.Tx) error {
			return firstError(
				func() error {
					return put(tx, alice, "viking://m/events/b.md", func(m *skald.Memory) { m.Superseded = "viking://m/events/a.md" })
				},
				func() error { return put(tx, alice, "viking://m/events/a.md", func(*skald.Memory) {}) },
				func() error {
					return put(tx, alice, "viking://m/events2/c.md", func(m *skald.Memory) { m.Type, m.Sources = skald.MemoryEntity, nil })
				},
				func() error {
					return put(tx, agent, "viking://m/cases/d.md", func(m *skald.Memory) {
						m.Type, m.Sources = skald.MemoryCase, []skald.MemorySource{{Session: sub, From: 1, To: 5}}
					})
				},
				func() error { return put(tx, stranger, "viking://m/events/a.md", func(*skald.Memory) {}) },
			)
		})
		const a, b, c, d = "viking://m/events/a.md", "viking://m/events/b.md", "viking://m/events2/c.md", "viking://m/cases/d.md"
		mine := []skald.Scope{alice, agent}
		for name, c := range map[string]struct {
			q    skald.MemoryQuery
			want []skald.URI
		}{
			"by uri":          {skald.MemoryQuery{Scopes: mine}, []skald.URI{d, a, b, c}},
			"no scope":        {skald.MemoryQuery{}, nil},
			"limit":           {skald.MemoryQuery{Scopes: mine, Limit: 2}, []skald.URI{d, a}},
			"types":           {skald.MemoryQuery{Scopes: mine, Types: []skald.MemoryType{skald.MemoryCase, skald.MemoryEntity}}, []skald.URI{d, c}},
			"prefix":          {skald.MemoryQuery{Scopes: mine, Prefix: "viking://m/events"}, []skald.URI{a, b}},
			"prefix, slash":   {skald.MemoryQuery{Scopes: mine, Prefix: "viking://m/events/"}, []skald.URI{a, b}},
			"root":            {skald.MemoryQuery{Scopes: mine, Prefix: skald.Root}, []skald.URI{d, a, b, c}},
			"after":           {skald.MemoryQuery{Scopes: mine, After: a}, []skald.URI{b, c}},
			"not itself":      {skald.MemoryQuery{Scopes: mine, Prefix: a}, nil},
			"current":         {skald.MemoryQuery{Scopes: mine, Current: true, Prefix: "viking://m/events"}, []skald.URI{a}},
			"source":          {skald.MemoryQuery{Scopes: mine, Source: &chat}, []skald.URI{a, b}},
			"source, before":  {skald.MemoryQuery{Scopes: mine, Source: &chat, From: 1, To: 9}, nil},
			"source, touches": {skald.MemoryQuery{Scopes: mine, Source: &chat, From: 1, To: 10}, []skald.URI{a, b}},
			"source, between": {skald.MemoryQuery{Scopes: mine, Source: &chat, From: 21, To: 39}, nil},
			"source, second":  {skald.MemoryQuery{Scopes: mine, Source: &chat, From: 30}, []skald.URI{a, b}},
			"source, after":   {skald.MemoryQuery{Scopes: mine, Source: &chat, From: 41}, nil},
			"other scope":     {skald.MemoryQuery{Scopes: mine, Source: &sub, From: 5, To: 5}, []skald.URI{d}},
		} {
			same(t, name, read(t, s, uris(c.q)), c.want)
		}
	},
}
