package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skald-engine/skald"
)

// writer owns the one connection that writes. A sync to disk costs more than anything else here, so updates that wait at the
// same time share one: each runs under a savepoint of its own within one transaction, which is committed once, and only then is
// anybody answered. The next group gathers while this one is synced, so nobody waits for company.
type writer struct {
	store *Store
	c     *conn
	queue chan *request
	idle  chan struct{} // closed when the loop has ended

	mu     sync.RWMutex // held for reading while a request is put into the queue
	closed bool

	nextDoc int64 // the next document's number; see docid.go
	index   group // what this group adds to the lexical index
}

// A group ends when this many updates ran, or this much time has gone by: nobody's answer waits for long.
const (
	groupSize = 128
	groupTime = 20 * time.Millisecond
)

// request is one call of Update. Its fn runs on the caller's goroutine, on a transaction that the writer lends to it, so that a
// panic or a Goexit stays where it belongs.
type request struct {
	ctx    context.Context
	state  atomic.Int32
	start  chan *tx
	tx     *tx // what it ran on
	ran    chan error
	answer chan error
}

// The states of a request: the caller may leave until the writer takes it up.
const (
	waiting int32 = iota
	taken
	left
)

func startWriter(s *Store, c *conn) (*writer, error) {
	w := &writer{store: s, c: c, queue: make(chan *request, 4*groupSize), idle: make(chan struct{})}
	var err error
	if w.nextDoc, err = c.firstFreeDoc(); err != nil {
		return nil, errors.Join(failure("store.open", err), c.close())
	}
	go w.loop()
	return w, nil
}

func (w *writer) update(ctx context.Context, fn func(skald.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &request{ctx: ctx, start: make(chan *tx, 1), ran: make(chan error, 1), answer: make(chan error, 1)}
	if err := w.enqueue(r); err != nil {
		return err
	}
	select {
	case t := <-r.start:
		r.run(t, fn)
	case err := <-r.answer:
		return err
	case <-ctx.Done():
		if r.state.CompareAndSwap(waiting, left) {
			return ctx.Err()
		}
		select { // the writer was faster: what it began has an outcome
		case t := <-r.start:
			r.run(t, fn)
		case err := <-r.answer:
			return err
		}
	}
	return <-r.answer
}

func (w *writer) enqueue(r *request) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return failure("store.update", errClosed)
	}
	select {
	case w.queue <- r:
		return nil
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
}

// run calls fn and reports to the writer, also when fn panics or ends its goroutine.
func (r *request) run(t *tx, fn func(skald.Tx) error) {
	err := error(skald.E("store.update", skald.KindInternal, "the transaction's goroutine ended"))
	defer func() {
		if p := recover(); p != nil {
			err = skald.E("store.update", skald.KindInternal, "panic in transaction: %v", p)
		}
		t.done = true
		if t.broken != nil { // also when fn swallowed it: part of its changes may be missing
			err = t.broken
		}
		r.ran <- err
	}()
	err = fn(t)
}

func (w *writer) loop() {
	defer close(w.idle)
	for r := range w.queue {
		w.runGroup(r)
	}
}

// runGroup runs one transaction that starts with first and takes along what else is waiting.
func (w *writer) runGroup(first *request) {
	began := time.Now()
	if err := w.begin(); err != nil {
		w.fail([]*request{first}, err)
		return
	}
	var members []*request
	for r, n := first, 1; ; n++ {
		ok, err := w.member(r)
		if err != nil {
			w.rollback()
			w.fail(append(members, r), err)
			return
		}
		if ok {
			members = append(members, r)
		}
		if n == groupSize || time.Since(began) > groupTime {
			break
		}
		if r = w.next(); r == nil {
			break
		}
	}
	w.finish(members)
}

func (w *writer) next() *request {
	select {
	case r := <-w.queue: // nil once the queue is closed and empty
		return r
	default:
		return nil
	}
}

// member runs one update under its savepoint. It answers the caller itself when the update failed alone; an error means that
// the whole transaction is lost.
func (w *writer) member(r *request) (ok bool, err error) {
	if !r.state.CompareAndSwap(waiting, taken) {
		return false, nil
	}
	if err := r.ctx.Err(); err != nil {
		r.answer <- err
		return false, nil
	}
	if _, err := w.c.exec("savepoint", `SAVEPOINT member`); err != nil {
		return false, err
	}
	before := w.index
	r.tx = &tx{store: w.store, c: w.c, ctx: r.ctx, writer: w}
	r.start <- r.tx
	failed := <-r.ran
	if failed != nil {
		w.index = before
		if err := w.c.script(`ROLLBACK TO member`); err != nil {
			return false, errors.Join(failed, err) // SQLite has rolled back everything: disk full, I/O error
		}
	}
	if err := w.c.script(`RELEASE member`); err != nil {
		return false, errors.Join(failed, err)
	}
	if failed != nil {
		if skald.KindOf(failed) == skald.KindUnavailable {
			w.store.unwell.Store(true)
		}
		r.answer <- failed
		return false, nil
	}
	return true, nil
}

// finish writes the index rows of the whole group, commits, and answers.
func (w *writer) finish(members []*request) {
	if len(members) == 0 {
		w.rollback()
		return
	}
	if err := w.commit(); err != nil {
		w.rollback()
		w.fail(members, err)
		return
	}
	w.store.unwell.Store(false)
	for _, r := range members {
		w.store.ids.adopt(&r.tx.own)
		r.answer <- nil
	}
}

func (w *writer) begin() error {
	w.index = group{}
	_, err := w.c.exec("begin", `BEGIN IMMEDIATE`)
	return err
}

func (w *writer) commit() error {
	if err := w.flush(); err != nil {
		return err
	}
	w.store.df.commitBegins()
	_, err := w.c.exec("commit", `COMMIT`)
	w.store.df.commitEnds(w.index, err == nil)
	if err == nil {
		w.store.near.commit(w.index.vectors)
	}
	return err
}

// rollback may find nothing to do: SQLite rolls back by itself after some errors.
func (w *writer) rollback() {
	if err := w.c.script(`ROLLBACK`); err != nil {
		w.store.options.Logger.Debug("rollback", "error", err)
	}
}

func (w *writer) fail(members []*request, err error) {
	err = failure("store.update", err)
	w.store.unwell.Store(skald.KindOf(err) == skald.KindUnavailable)
	for _, r := range members {
		r.state.Store(taken)
		r.answer <- err
	}
}

// close lets the waiting updates finish.
func (w *writer) close() error {
	w.mu.Lock()
	w.closed = true
	close(w.queue)
	w.mu.Unlock()
	<-w.idle
	if err := w.c.close(); err != nil {
		return fmt.Errorf("writer: %w", err)
	}
	return nil
}
