package enginebench

import (
	"context"
	"errors"
	"sync"
)

const (
	sessionSize = 500 // messages of a session
	loaders     = 8   // sessions that are loaded at once
	rotation    = 4   // sessions that take turns while measuring
	assembleGap = 15  // exchanges between assembles while loading: often enough for publications
)

// loader fills the store with sessions of one user.
type loader struct {
	prompts  []string
	mu       sync.Mutex
	sessions []*session
	messages int
	raw      int64 // bytes of all messages
	turn     int
}

func newLoader(prompts []string) *loader { return &loader{prompts: prompts} }

func (l *loader) count(x exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.messages += len(x.messages)
	for _, raw := range x.messages {
		l.raw += int64(len(raw))
	}
}

// next is the session whose turn it is.
func (l *loader) next() *session {
	if len(l.sessions) == 0 {
		l.sessions = append(l.sessions, newSession(0, l.prompts))
	}
	l.turn++
	newest := l.sessions[max(0, len(l.sessions)-rotation):]
	return newest[l.turn%len(newest)]
}

// fill loads new sessions until the store holds total messages.
func (l *loader) fill(ctx context.Context, t Target, total int) error {
	var wg sync.WaitGroup
	failed := make(chan error, loaders)
	work := make(chan func() error)
	for range loaders {
		wg.Go(func() {
			for do := range work {
				if err := do(); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	err := l.share(ctx, t, total, work, failed)
	close(work)
	wg.Wait()
	close(failed)
	for e := range failed {
		err = errors.Join(err, e)
	}
	return errors.Join(err, t.RunJobs(ctx))
}

// share deals out the sessions.
func (l *loader) share(ctx context.Context, t Target, total int, work chan<- func() error, failed chan error) error {
	l.mu.Lock()
	missing := total - l.messages
	l.mu.Unlock()
	for missing > 0 {
		n := min(missing, sessionSize)
		missing -= n
		s := newSession(len(l.sessions), l.prompts)
		l.sessions = append(l.sessions, s)
		select {
		case work <- func() error { return l.write(ctx, t, s, n) }:
		case err := <-failed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// write loads one session of n messages, and does its jobs.
func (l *loader) write(ctx context.Context, t Target, s *session, n int) error {
	for s.messages < n {
		x := s.exchange(n - s.messages)
		if s.turns%assembleGap == 0 {
			if err := s.assemble(ctx, t.Engine, x); err != nil {
				return err
			}
		}
		if err := s.commit(ctx, t.Engine, x); err != nil {
			return err
		}
		l.count(x)
	}
	return t.RunJobs(ctx)
}
