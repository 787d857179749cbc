package meaning

import (
	"context"
	"sync"
	"time"

	"github.com/skald-engine/skald"
)

// queries embeds what is searched for, and remembers it: the searches of one recall ask for the same text, and so does a prompt that is
// repeated.
type queries struct {
	model  skald.Embedder
	mu     sync.Mutex
	known  map[string]*answer
	misses int       // in a row: no vector in time
	closed time.Time // until then nobody is asked
}

// maxQueries bounds what is remembered; it starts anew beyond it.
const maxQueries = 256

// The reply path waits for a model behind a network no longer than maxWait, so that words still find something in time; after so many misses
// in a row it is not asked for a while (I7).
const (
	maxWait   = 100 * time.Millisecond
	maxMisses = 3
	rest      = time.Minute
)

// answer is a query's vector, once done is closed.
type answer struct {
	done   chan struct{}
	vector []int8
	err    error
}

// embed returns the vector of a text, nil when there is none by the given time (zero: when ctx ends). A call that is late goes on: its
// answer may serve the next search.
func (q *queries) embed(ctx context.Context, text string, by time.Time) []int8 {
	if q.model.Local() {
		v, err := q.model.Query(ctx, text)
		if err != nil {
			return nil
		}
		return v
	}
	a := q.ask(ctx, text)
	if a == nil {
		return nil
	}
	if !by.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, earlier(by, time.Now().Add(maxWait)))
		defer cancel()
	}
	select {
	case <-a.done:
	case <-ctx.Done():
		q.note(true)
		return nil
	}
	q.note(a.err != nil)
	return a.vector
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// note counts the misses in a row.
func (q *queries) note(missed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !missed {
		q.misses = 0
		return
	}
	if q.misses++; q.misses >= maxMisses {
		q.misses, q.closed = 0, time.Now().Add(rest)
	}
}

// ask finds the answer for a text, or starts to look for it; nil: nobody is asked now.
func (q *queries) ask(ctx context.Context, text string) *answer {
	q.mu.Lock()
	defer q.mu.Unlock()
	if a := q.known[text]; a != nil {
		return a
	}
	if time.Now().Before(q.closed) {
		return nil
	}
	if q.known == nil || len(q.known) >= maxQueries {
		q.known = map[string]*answer{}
	}
	a := &answer{done: make(chan struct{})}
	q.known[text] = a
	ctx = context.WithoutCancel(ctx) // the model's own timeout ends it
	go func() {
		defer close(a.done)
		if a.vector, a.err = q.model.Query(ctx, text); a.err != nil {
			q.mu.Lock()
			defer q.mu.Unlock()
			if q.known[text] == a {
				delete(q.known, text)
			}
		}
	}()
	return a
}
