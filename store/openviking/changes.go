package openviking

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/skald-engine/skald"
)

// changes are what the journal tells.
type changes struct {
	turns map[turnKey]header
	kept  map[skald.URI]skald.Memory // by memory_store
	order []skald.URI
	gone  map[skald.URI]time.Time // forgotten
}

type turnKey struct {
	session string // its name on the server
	seq     int64
}

// readJournal reads what changed after it was delivered; of several changes of one thing the last counts.
func (s *Store) readJournal(ctx context.Context) (c changes, err error) {
	c = changes{turns: map[turnKey]header{}, kept: map[skald.URI]skald.Memory{}, gone: map[skald.URI]time.Time{}}
	have, err := s.takeStock(ctx, journalName, 0)
	if err != nil {
		return c, err
	}
	slices.Reverse(have.archives)
	for _, a := range have.archives {
		for _, m := range a.messages {
			err = firstOf(err, c.read(m.Sources))
		}
	}
	for _, m := range have.live {
		err = firstOf(err, c.read(m.Sources))
	}
	return c, err
}

func (c *changes) read(sources []string) error {
	if len(sources) != carrierSize || sources[0] != markJournal {
		return nil
	}
	if sources[1] == opTurn {
		h, err := unpackTurn(sources)
		if err != nil {
			return err
		}
		c.turns[turnKey{sources[2], h.Turn.Seq}] = h
		return nil
	}
	b, err := unpack(sources[carrierSize-1])
	if err != nil {
		return err
	}
	var e entry
	if err := json.Unmarshal(b, &e); err != nil || e.Memory == nil {
		return err
	}
	uri := e.Memory.URI
	if e.Op == opForget {
		delete(c.kept, uri)
		c.gone[uri] = e.Since
		return nil
	}
	delete(c.gone, uri)
	c.kept[uri] = *e.Memory
	c.order = append(c.order, uri)
	return nil
}

// memories restores what memory_store kept, and takes away what was forgotten.
func (c changes) memories(s *Store, tx skald.Tx) error {
	for _, uri := range c.order {
		m, ok := c.kept[uri]
		if !ok || !s.mine(m.Scope) {
			continue
		}
		if _, err := tx.Memory(m.Scope, uri); skald.KindOf(err) != skald.KindNotFound {
			if err != nil {
				return err
			}
			continue
		}
		if err := save(tx, m); err != nil {
			return err
		}
	}
	for uri, at := range c.gone {
		if err := s.removeEverywhere(tx, uri, at); err != nil {
			return err
		}
	}
	return nil
}

// removeEverywhere takes a forgotten memory away that the server made before it was forgotten.
func (s *Store) removeEverywhere(tx skald.Tx, uri skald.URI, at time.Time) error {
	target, err := uri.Resolve(s.o.Identity.Account)
	if err != nil || !strings.Contains(string(uri), "/"+serverFolder+"/") {
		return nil
	}
	m, err := tx.Memory(target.Scope, uri)
	if err != nil || m.Updated.After(at) {
		return unlessMissing(err)
	}
	return remove(tx, target.Scope, uri)
}
