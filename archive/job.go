package archive

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/skald-engine/skald"
)

// The steps of phase 2, recorded in Archive.Steps. Extraction of a long archive has a step for each part (extract.2, …).
const (
	stepSummary    = "summary"
	stepExtract    = "extract"
	stepCheckpoint = "checkpoint"
)

// RunOne claims the oldest due job and runs it; false when none is due. Each step is a transaction of its own that also records
// the step, so that a job killed at any point goes on where it was. A failing step is tried again later with growing pauses and
// at most Attempts times; then the session needs attention. Neither ever keeps later commits waiting, and the archive stays
// readable. The error is about the queue itself: a failed job is not an error of RunOne.
func (r *Runner) RunOne(ctx context.Context) (bool, error) {
	j, ok, err := r.claim(ctx)
	if err != nil || !ok {
		return false, err
	}
	defer r.announce()
	work, end := r.begin(ctx, j.ID)
	defer end()
	release := r.keepLease(work, j)
	err = r.run(work, &j)
	release()
	switch {
	case err != nil && context.Cause(work) == errCancelled:
		return true, nil // Cancel, or the end of the session, has said so in the store
	case err == nil && j.Kind != JobKind:
		return true, r.finishWork(ctx, j)
	case err == nil:
		return true, r.settled(r.finish(ctx, j))
	case ctx.Err() != nil:
		return true, r.settled(r.giveBack(context.WithoutCancel(ctx), j))
	}
	r.log.Warn("job failed", "kind", j.Kind, "session", j.Session.ID, "archive", j.Archive, "attempt", j.Attempts+1, "error", err)
	return true, r.settled(r.fail(ctx, j, err))
}

func (r *Runner) claim(ctx context.Context) (j skald.Job, ok bool, err error) {
	err = r.store.Update(ctx, func(tx skald.Tx) error {
		j, ok, err = tx.ClaimJob(r.clock(), leaseTime)
		return err
	})
	return j, ok, err
}

// keepLease renews the job's lease while it runs: a model may take longer than a killed worker's job should wait.
func (r *Runner) keepLease(ctx context.Context, j skald.Job) (release func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(leaseTime / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			_ = r.update(ctx, j, func(j *skald.Job) { j.Lease = r.clock().Add(leaseTime) })
		}
	}()
	return func() { cancel(); <-ended }
}

// run takes the archive through its steps, or has a job of another kind done.
func (r *Runner) run(ctx context.Context, j *skald.Job) error {
	if j.Kind != JobKind {
		return r.work(ctx, j)
	}
	w, err := r.load(ctx, *j)
	if err != nil {
		return err
	}
	if err := r.stepSummary(ctx, w); err != nil {
		return fmt.Errorf("summary: %w", err)
	}
	if err := r.stepExtract(ctx, w); err != nil {
		return fmt.Errorf("memories: %w", err)
	}
	if err := r.stepCheckpoint(ctx, w); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// work is what the steps of one job share.
type work struct {
	archive  skald.Archive
	agent    string
	audience skald.Audience
	turns    []Turn
	previous []skald.Section
}

func (r *Runner) load(ctx context.Context, j skald.Job) (*work, error) {
	var w work
	err := r.store.View(ctx, func(tx skald.Tx) error {
		a, err := tx.Archive(j.Session, j.Archive)
		if err != nil {
			return err
		}
		s, err := tx.Session(j.Session)
		if err != nil {
			return err
		}
		stored, err := tx.Turns(j.Session, skald.TurnQuery{From: a.From, To: a.To})
		if err != nil {
			return err
		}
		before, err := earlier(tx, a)
		if err != nil {
			return err
		}
		w = work{archive: a, agent: s.Agent, audience: s.Audience, turns: Turns(stored), previous: before}
		return nil
	})
	return &w, err
}

// earlier is the merged overview of the archives before a in its epoch.
func earlier(tx skald.Tx, a skald.Archive) ([]skald.Section, error) {
	all, err := tx.Archives(a.Session, 1)
	if err != nil {
		return nil, err
	}
	return Merge(slices.DeleteFunc(all, func(b skald.Archive) bool { return b.Index >= a.Index || b.Epoch != a.Epoch })), nil
}

// step runs fn on the archive in a transaction and records name, unless the step is done already.
func (r *Runner) step(ctx context.Context, w *work, name string, fn func(tx skald.Tx, a *skald.Archive) error) error {
	return r.store.Update(ctx, func(tx skald.Tx) error {
		a, err := tx.Archive(w.archive.Session, w.archive.Index)
		if err != nil {
			return err
		}
		if !slices.Contains(a.Steps, name) {
			a.Steps, a.Updated = append(slices.Clone(a.Steps), name), r.clock()
			if err := fn(tx, &a); err != nil {
				return err
			}
			if err := tx.PutArchive(a); err != nil {
				return err
			}
		}
		w.archive = a
		return nil
	})
}

func (r *Runner) stepSummary(ctx context.Context, w *work) error {
	if slices.Contains(w.archive.Steps, stepSummary) {
		return nil
	}
	sum, fallback, err := r.summary(ctx, w)
	if err != nil {
		return err
	}
	return r.step(ctx, w, stepSummary, func(tx skald.Tx, a *skald.Archive) error {
		kept, err := unforgotten(tx, *a, sum.Overview)
		if err != nil {
			return err
		}
		a.Abstract, a.Overview, a.Fallback = sum.Abstract, kept, fallback
		a.Tokens = tokens(Text(*a))
		return Index(tx, *a, w.audience)
	})
}

// unforgotten drops lines of turns that were forgotten while the summary was made.
func unforgotten(tx skald.Tx, a skald.Archive, sections []skald.Section) ([]skald.Section, error) {
	turns, err := tx.Turns(a.Session, skald.TurnQuery{From: a.From, To: a.To, NoRaw: true})
	if err != nil {
		return nil, err
	}
	gone := map[int64]bool{}
	for _, t := range turns {
		if t.Forgotten || t.Purged {
			gone[t.Seq] = true
		}
	}
	kept, _ := Without(sections, gone)
	return kept, nil
}

func (r *Runner) stepExtract(ctx context.Context, w *work) error {
	if r.extract == nil {
		return nil
	}
	for i, part := range Parts(w.turns, PartSize) {
		name := stepExtract
		if i > 0 {
			name = fmt.Sprintf("%s.%d", stepExtract, i+1)
		}
		err := r.step(ctx, w, name, func(tx skald.Tx, a *skald.Archive) error {
			fresh, err := current(tx, *a, part)
			if err != nil {
				return err
			}
			uris, diff, err := r.extractSafely(ctx, tx, w, *a, fresh)
			if err != nil {
				return err
			}
			for _, u := range uris {
				if !slices.Contains(a.Memories, u) {
					a.Memories = append(a.Memories, u)
				}
			}
			a.Diff, err = joinDiff(a.Diff, diff)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// current leaves out of a part what was forgotten since the turns were read.
func current(tx skald.Tx, a skald.Archive, part []Turn) ([]Turn, error) {
	if len(part) == 0 {
		return nil, nil
	}
	stored, err := tx.Turns(a.Session, skald.TurnQuery{From: part[0].Seq, To: part[len(part)-1].Seq, NoRaw: true})
	if err != nil {
		return nil, err
	}
	gone := map[int64]bool{}
	for _, t := range stored {
		gone[t.Seq] = t.Forgotten || t.Purged
	}
	return slices.DeleteFunc(slices.Clone(part), func(t Turn) bool { return gone[t.Seq] }), nil
}

// extractSafely turns a panic of an extractor into an error, so that one odd turn cannot stop the daemon (I8).
func (r *Runner) extractSafely(ctx context.Context, tx skald.Tx, w *work, a skald.Archive, turns []Turn) (uris []skald.URI, diff []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("extractor failed: %v", p)
		}
	}()
	return r.extract.Extract(ctx, tx, a.Session, w.agent, a, turns, r.clock())
}

func (r *Runner) stepCheckpoint(ctx context.Context, w *work) error {
	return r.step(ctx, w, stepCheckpoint, func(tx skald.Tx, a *skald.Archive) error {
		a.State, a.Error = skald.ArchiveDone, ""
		return tx.PutCheckpoint(a.Session, Checkpoint(*a))
	})
}
