package sqlite

import (
	"context"
	"errors"
	"sync"
)

// readers is the set of read connections. Some stay open between uses; more are opened when many views run at once.
type readers struct {
	path    string
	options Options
	slots   chan struct{} // bounds how many are in use
	mu      sync.Mutex
	idle    []*conn
	inUse   sync.WaitGroup
	closed  bool
}

const (
	maxReaders  = 64
	idleReaders = 4
)

var errClosed = errors.New("the store is closed")

func newReaders(path string, options Options) *readers {
	return &readers{path: path, options: options, slots: make(chan struct{}, maxReaders)}
}

// take lends a connection, to be given back with give.
func (r *readers) take(ctx context.Context) (*conn, error) {
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c, err := r.idleOrNew()
	if err != nil {
		<-r.slots
	}
	return c, err
}

func (r *readers) idleOrNew() (*conn, error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, errClosed
	}
	r.inUse.Add(1)
	if n := len(r.idle); n > 0 {
		c := r.idle[n-1]
		r.idle = r.idle[:n-1]
		r.mu.Unlock()
		return c, nil
	}
	r.mu.Unlock()
	c, err := connect(r.path, r.options)
	if err == nil {
		err = c.script(`PRAGMA query_only = ON`)
	}
	if err != nil {
		r.inUse.Done()
		return nil, err
	}
	return c, nil
}

// give ends the transaction and keeps the connection for the next view.
func (r *readers) give(c *conn) {
	defer func() { <-r.slots; r.inUse.Done() }()
	healthy := c.endRead() == nil
	r.mu.Lock()
	keep := healthy && !r.closed && len(r.idle) < idleReaders
	if keep {
		r.idle = append(r.idle, c)
	}
	r.mu.Unlock()
	if keep {
		return
	}
	if err := c.close(); err != nil {
		r.options.Logger.Warn("closing a read connection", "error", err)
	}
}

func (r *readers) close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.inUse.Wait()
	var errs []error
	for _, c := range r.idle {
		errs = append(errs, c.close())
	}
	return errors.Join(errs...)
}

// beginRead starts a read transaction. SQLite takes its snapshot with the first read, so there is one.
func (c *conn) beginRead() error {
	if _, err := c.exec("view.begin", `BEGIN`); err != nil {
		return err
	}
	_, err := c.exec("view.snapshot", `SELECT 1 FROM scope LIMIT 1`)
	return err
}

func (c *conn) endRead() error {
	s, err := c.prepare(`ROLLBACK`)
	if err != nil {
		return err
	}
	_, err = s.Exec(nil) //nolint:staticcheck // without arguments there is nothing to convert
	return err
}
