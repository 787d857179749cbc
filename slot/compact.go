package slot

import (
	"context"
	"sync/atomic"

	"github.com/skald-engine/skald"
)

// compactTimes is how many times longer than another call a compaction may take.
const compactTimes = 12

type delegationKey struct{}

// delegation is the host's own compaction on its way through an engine.
type delegation struct {
	compact Compact
	called  atomic.Bool
}

// Delegate has the host compact: what an engine's Compact calls that does not own compaction (003-007).
func Delegate(ctx context.Context, r skald.CompactRequest) (skald.CompactResult, error) {
	d, ok := ctx.Value(delegationKey{}).(*delegation)
	if !ok || d.compact == nil {
		return skald.CompactResult{}, skald.E("slot.delegate", skald.KindUnavailable, "the host has no compaction of its own")
	}
	d.called.Store(true)
	return d.compact(ctx, r)
}

// Compact makes the context smaller. An engine that neither compacts nor delegates is at fault, and the host's own compaction, else that of
// legacy, does it.
func (s *Slot) Compact(ctx context.Context, r skald.CompactRequest) skald.CompactResult {
	e := s.engine.(Compactor) // Select has seen to it
	d := &delegation{compact: s.host.Compact}
	own := r
	own.Tail = clone(r.Tail)
	out, ok := guarded(ctx, s, "compact", session(r.Request), compactTimes*s.host.Deadline, func(ctx context.Context) (skald.CompactResult, error) {
		return e.Compact(context.WithValue(ctx, delegationKey{}, d), own)
	}, func(out skald.CompactResult) error {
		switch {
		case out.Compacted || d.called.Load():
			return nil
		case s.engine.Info().OwnsCompaction && out.Reason != "":
			return nil // it says why there is nothing to do
		}
		return skald.E("", skald.KindInvalid, "it neither compacted nor delegated, and gave no reason")
	})
	if ok {
		return out
	}
	s.guard.fellBack()
	if s.host.Compact != nil {
		if out, err := timed(ctx, compactTimes*s.host.Deadline, func(ctx context.Context) (skald.CompactResult, error) { return s.host.Compact(ctx, r) }); err == nil {
			return out
		}
	}
	return s.legacy.summarise(ctx, r)
}
