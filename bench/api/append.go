package apibench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	callers   = 16
	batchSize = 100 // the most that OpenViking takes in one request
)

// appends measures the four rates.
func (o Options) appends(ctx context.Context, c *caller, name string) (r Rates, err error) {
	for _, m := range []struct {
		into    *float64
		callers int
		batch   bool
	}{{&r.Single1, 1, false}, {&r.Single16, callers, false}, {&r.Batch1, 1, true}, {&r.Batch16, callers, true}} {
		if *m.into, err = o.rate(ctx, c, m.callers, m.batch); err != nil {
			return r, fmt.Errorf("%s: %w", name, err)
		}
		o.say("%s: %.0f messages a second (%d callers, batch %t)", name, *m.into, m.callers, m.batch)
	}
	return r, nil
}

// rate lets callers append for a span, each to a new session, and counts what was acknowledged.
func (o Options) rate(ctx context.Context, c *caller, n int, batch bool) (float64, error) {
	var count atomic.Int64
	var wg sync.WaitGroup
	failed := make(chan error, n)
	started := time.Now()
	for i := range n {
		wg.Go(func() {
			session := fmt.Sprintf("bench-%d-%t-%d", n, batch, i)
			for k := 0; time.Since(started) < o.Span; k++ {
				added, err := appendTo(ctx, c, session, k, batch)
				if err != nil {
					failed <- err
					return
				}
				count.Add(int64(added))
			}
		})
	}
	wg.Wait()
	took := time.Since(started)
	close(failed)
	if err := <-failed; err != nil {
		return 0, err
	}
	return float64(count.Load()) / took.Seconds(), nil
}

func appendTo(ctx context.Context, c *caller, session string, k int, batch bool) (added int, err error) {
	path := "/api/v1/sessions/" + session + "/messages"
	if !batch {
		return 1, c.post(ctx, path, said(k))
	}
	list := make([]any, batchSize)
	for i := range list {
		list[i] = said(k*batchSize + i)
	}
	return batchSize, c.post(ctx, path+"/batch", map[string]any{"messages": list})
}

// said is a message of some 300 characters.
func said(k int) any {
	role := "user"
	if k%2 == 1 {
		role = "assistant"
	}
	return map[string]string{"role": role, "content": prose(uint64(k), 45)}
}
