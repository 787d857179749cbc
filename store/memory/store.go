// Package memory is the store that keeps everything in plain Go maps. It is the model that the durable engines are compared
// with, so it is written to be obviously right rather than fast: a search looks at every document of a scope.
package memory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/skald-engine/skald"
)

// Store is a skald.Store in memory. A published state is never changed again: an Update works on a copy that shares what it
// does not touch and takes the old one's place on success. So a View has its snapshot for free and rolling back is forgetting.
type Store struct {
	writer sync.Mutex // held by the one running Update
	state  atomic.Pointer[state]
	closed atomic.Bool
}

var _ skald.Store = (*Store)(nil)

// New returns an empty store.
func New() skald.Store {
	s := &Store{}
	s.state.Store(&state{})
	return s
}

// state is everything stored. Maps and slices are copied before they are changed; what they point to likewise.
type state struct {
	sessions map[skald.SessionRef]*session
	memories map[memoryKey]skald.Memory
	files    map[fileKey]skald.File
	records  map[recordKey]skald.Record
	docs     map[skald.Scope][]doc // in order of id
	jobs     map[int64]skald.Job
	dead     []skald.DeadLetter // in order of arrival
	nextDoc  int64
	nextJob  int64
}

type memoryKey struct {
	scope skald.Scope
	uri   skald.URI
}

// session is all that belongs to one session reference; state is nil until PutSession.
type session struct {
	state       *skald.Session
	turns       []skald.Turn // turns[i].Seq == i+1
	keys        map[string]skald.TurnRange
	recalls     map[int64]skald.PlacedRecall
	archives    map[int]skald.Archive
	checkpoints []skald.CompactCheckpoint
	traces      []skald.Trace // oldest first
}

// View runs fn on the newest published state.
func (s *Store) View(ctx context.Context, fn func(skald.Tx) error) error {
	if err := s.ready("store.view", ctx); err != nil {
		return err
	}
	t := &tx{state: s.state.Load()}
	defer func() { t.done = true }()
	return fn(t)
}

// Update runs fn on a copy of the state and publishes it when fn succeeds.
func (s *Store) Update(ctx context.Context, fn func(skald.Tx) error) error {
	s.writer.Lock()
	defer s.writer.Unlock()
	if err := s.ready("store.update", ctx); err != nil {
		return err
	}
	work := *s.state.Load()
	t := &tx{state: &work, write: true, own: map[skald.SessionRef]bool{}}
	if err := t.run(fn); err != nil {
		return err
	}
	s.state.Store(&work)
	return nil
}

// run turns a panic of fn into an error, as every engine does.
func (t *tx) run(fn func(skald.Tx) error) (err error) {
	defer func() {
		t.done = true
		if p := recover(); p != nil {
			err = skald.E("store.update", skald.KindInternal, "panic in transaction: %v", p)
		}
	}()
	return fn(t)
}

func (s *Store) ready(op string, ctx context.Context) error {
	if s.closed.Load() {
		return skald.E(op, skald.KindUnavailable, "the store is closed")
	}
	return ctx.Err()
}

// Health counts what is stored.
func (s *Store) Health(ctx context.Context) (skald.StoreHealth, error) {
	if err := s.ready("store.health", ctx); err != nil {
		return skald.StoreHealth{}, err
	}
	h := skald.StoreHealth{Engine: "memory", Schema: 1, Free: -1, Writing: true}
	st := s.state.Load()
	for _, sess := range st.sessions {
		h.Turns += int64(len(sess.turns))
		for _, t := range sess.turns {
			h.Bytes += int64(len(t.Raw))
		}
	}
	for _, docs := range st.docs {
		h.Docs += int64(len(docs))
	}
	return h, nil
}

// Close makes all further calls fail.
func (s *Store) Close() error {
	s.closed.Store(true)
	return nil
}

// tx is one transaction on a state: a published one, read only, or the copy of an Update.
type tx struct {
	*state
	write bool
	done  bool
	own   map[skald.SessionRef]bool // sessions that were copied already
}

var errDone = errors.New("the transaction is over")

func (t *tx) reading(op string) error {
	if t.done {
		return &skald.Error{Op: op, Kind: skald.KindInvalid, Err: errDone}
	}
	return nil
}

func (t *tx) writing(op string) error {
	if err := t.reading(op); err != nil {
		return err
	}
	if !t.write {
		return skald.E(op, skald.KindInvalid, "a view cannot write")
	}
	return nil
}

// read returns what is stored under ref; an empty session when there is nothing.
func (t *tx) read(ref skald.SessionRef) *session {
	if s := t.sessions[ref]; s != nil {
		return s
	}
	return &session{}
}

// change returns a session that this transaction may change: its slices may be appended to (a published state does not see
// beyond its own length), everything else is a copy.
func (t *tx) change(ref skald.SessionRef) *session {
	if t.own[ref] {
		return t.sessions[ref]
	}
	c := *t.read(ref)
	c.keys, c.recalls, c.archives = copied(c.keys), copied(c.recalls), copied(c.archives)
	if len(t.own) == 0 {
		t.sessions = copied(t.sessions)
	}
	t.own[ref], t.sessions[ref] = true, &c
	return &c
}

func copied[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return maps.Clone(m)
}

func named(ref skald.SessionRef, format string, args ...any) string {
	return string(ref.URI()) + fmt.Sprintf(format, args...)
}
