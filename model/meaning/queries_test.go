package meaning

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// distant is a model that answers after a time.
type distant struct {
	after atomic.Int64
	asked atomic.Int64
}

func (*distant) Name() string                                         { return "distant" }
func (*distant) Local() bool                                          { return false }
func (*distant) Passages(context.Context, []string) ([][]int8, error) { return nil, nil }

func (d *distant) Query(context.Context, string) ([]int8, error) {
	d.asked.Add(1)
	time.Sleep(time.Duration(d.after.Load()))
	return []int8{1}, nil
}

// I7: a search waits for a model behind a network for its share of the time only, and after three misses asks it again in a minute.
func TestQueriesRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &distant{}
		d.after.Store(int64(time.Hour))
		q := queries{model: d}
		embed := func(text string) (v []int8, took time.Duration) {
			began := time.Now()
			v = q.embed(t.Context(), text, began.Add(150*time.Millisecond))
			return v, time.Since(began)
		}
		for _, text := range []string{"a", "b", "c"} {
			if v, took := embed(text); v != nil || took != maxWait {
				t.Errorf("%s: %v after %v", text, v, took)
			}
		}
		if v, took := embed("d"); v != nil || took != 0 || d.asked.Load() != 3 {
			t.Errorf("asked %d times: %v after %v", d.asked.Load(), v, took)
		}
		time.Sleep(rest)
		d.after.Store(int64(maxWait / 2))
		if v, took := embed("e"); !slices.Equal(v, []int8{1}) || took != maxWait/2 || d.asked.Load() != 4 {
			t.Errorf("asked %d times: %v after %v", d.asked.Load(), v, took)
		}
		time.Sleep(2 * time.Hour) // the late answers arrive
		if v, took := embed("a"); !slices.Equal(v, []int8{1}) || took != 0 || d.asked.Load() != 4 {
			t.Errorf("asked %d times: %v after %v", d.asked.Load(), v, took)
		}
	})
}
