package engine

import (
	"context"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/strategy"
)

// compactWait is how long compact waits for the summary; the archive is durable and readable before that.
const compactWait = 20 * time.Second

// exhausted says that nothing can leave. The host takes a reason with "nothing to compact" for a skip and goes on with the turn; any other
// one fails the turn when its preflight had asked (docs/openclaw.md, 36).
const exhausted = "exhausted: nothing to compact; only the newest turns are left, and they stay"

// Compact commits, publishes and answers with summary, tokens and the first kept entry (000-080 to 000-087). It is never a no-op
// without saying so (C-17).
func (e *Engine) Compact(ctx context.Context, r skald.CompactRequest) (skald.CompactResult, error) {
	set := e.settings(r.Settings)
	ref, err := e.ref(r.Request, set)
	if err != nil {
		return skald.CompactResult{}, err
	}
	var result skald.CompactResult
	if err = set.known(r.Settings); err == nil {
		result, err = e.compact(ctx, ref, r, set)
	}
	if err != nil {
		e.note("compact", ref.ID, err)
		return result, err
	}
	e.opts.Log.Info("compact", "session", ref.ID, "trigger", r.Trigger, "current", r.Current, "compacted", result.Compacted,
		"tokens_before", result.TokensBefore, "tokens_after", result.TokensAfter, "reason", result.Reason)
	return result, nil
}

func (e *Engine) compact(ctx context.Context, ref skald.SessionRef, r skald.CompactRequest, set settings) (skald.CompactResult, error) {
	now := e.now(r.Request)
	s, a, err := e.closeOpen(ctx, ref, r, set, now)
	if err != nil {
		return skald.CompactResult{}, err
	}
	if s.LastSeq == 0 {
		return skald.CompactResult{Reason: "nothing is stored for this session: the host's own compaction has to do it"}, nil
	}
	e.awaitSummary(ctx, ref, a)
	target := strategy.Target{Tokens: 0, Keep: set.RecentTurns, Force: true}
	in := strategy.Input{Session: s, Settings: set.Settings, Budget: compactBudget(r, s), Now: now}
	p, err := e.publish(ctx, set.chosen, &s, in, target)
	if err != nil {
		return skald.CompactResult{}, err
	}
	if p.Through == 0 {
		n := max(s.ViewTokens+s.Unviewed, r.Current)
		return skald.CompactResult{OK: true, Reason: exhausted, TokensBefore: n, TokensAfter: n}, nil
	}
	return e.compacted(ctx, ref, r, p, a)
}

// closeOpen is phase 1, and clears what needed attention: a manual compact starts afresh (CMP-03).
func (e *Engine) closeOpen(ctx context.Context, ref skald.SessionRef, r skald.CompactRequest, set settings, now time.Time) (s skald.Session, a skald.Archive, err error) {
	err = e.store.Update(ctx, func(tx skald.Tx) error {
		if s, err = open(tx, ref, r.Request, now); err != nil {
			return err
		}
		if set.autoCapture { // the host compacts before any turn was stored (CMP-05)
			if _, err := e.append(tx, &s, delivery{by: byView, messages: captured(convertAll(r.Tail)), now: now}); err != nil {
				return err
			}
		}
		if s.LastSeq == 0 {
			return nil
		}
		s.RetryAt, s.Attention, s.CommitFails = time.Time{}, "", 0
		var closed bool
		if a, closed, err = archive.Close(tx, &s, "compact", now); err != nil {
			return err
		}
		if !closed && s.Archives > 0 {
			if a, err = tx.Archive(ref, s.Archives); err != nil {
				return err
			}
		}
		return tx.PutSession(s)
	})
	if err == nil && a.Index > 0 {
		e.runner.Wake()
	}
	return s, a, err
}

// awaitSummary waits for the newest archive's phase 2, within the host's limit. Extraction that takes longer, and a step that has to
// be repeated, go on behind (CMP-10).
func (e *Engine) awaitSummary(ctx context.Context, ref skald.SessionRef, a skald.Archive) {
	if a.Index == 0 || a.State != skald.ArchiveClosed {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, compactWait)
	defer cancel()
	if err := e.await(ctx, ref, a.Index); err != nil {
		e.opts.Log.Info("compact goes on without the newest summary", "session", ref.ID, "error", err)
	}
}

// await returns when an archive's phase 2 is over. Where no background workers run, it runs the due jobs itself.
func (e *Engine) await(ctx context.Context, ref skald.SessionRef, index int) error {
	if e.workers.Load() > 0 {
		return e.runner.Wait(ctx, ref, index)
	}
	return e.RunJobs(ctx)
}

func compactBudget(r skald.CompactRequest, s skald.Session) int {
	if r.TokenBudget > 0 {
		return min(r.TokenBudget, maxBudget)
	}
	return knownBudget(s)
}

func (e *Engine) compacted(ctx context.Context, ref skald.SessionRef, r skald.CompactRequest, p strategy.Publication, a skald.Archive) (skald.CompactResult, error) {
	result := skald.CompactResult{OK: true, Compacted: true, Summary: p.Summary, TokensBefore: max(p.Before, r.Current)}
	result.TokensAfter = result.TokensBefore - (p.Before - p.After)
	err := e.store.View(ctx, func(tx skald.Tx) error {
		kept, err := tx.Turns(ref, skald.TurnQuery{From: p.FirstKept, To: p.FirstKept, NoRaw: true})
		if err != nil {
			return err
		}
		if len(kept) == 1 {
			result.FirstKept = kept[0].EntryID
		}
		list, err := tx.Checkpoints(ref)
		for i := range list {
			if list[i].ArchiveIndex == a.Index {
				result.Checkpoint = &list[i]
			}
		}
		return err
	})
	return result, err
}
