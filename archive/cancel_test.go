package archive_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
)

func (w *world) onlyJob() (j skald.Job) {
	w.t.Helper()
	w.update(func(tx skald.Tx) error {
		jobs, err := tx.Jobs(nil, 0)
		if len(jobs) != 1 {
			w.t.Fatalf("%d jobs", len(jobs))
		}
		j = jobs[0]
		return err
	})
	return j
}

// TestCancelWaiting: a cancelled job is not run, nor taken up by a later commit; only Again takes it up.
func TestCancelWaiting(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t, ten()...), context.Background()
	w.close("turns")
	r := w.runner(nil, nil)
	id := w.onlyJob().ID
	if err := r.Cancel(ctx, id); err != nil {
		t.Fatal(err)
	}
	if n := w.drain(r); n != 0 {
		t.Errorf("%d jobs ran", n)
	}
	if a, j := w.archive(1), w.onlyJob(); a.State != skald.ArchiveFailed || j.State != skald.JobFailed || j.Error != archive.Cancelled {
		t.Errorf("archive %s, job %+v", a.State, j)
	}
	if kind := skald.KindOf(r.Cancel(ctx, id)); kind != skald.KindConflict {
		t.Errorf("a second cancel: %s", kind)
	}
	if w.close("compact"); w.drain(r) != 0 {
		t.Error("a commit took the cancelled job up")
	}
	if err := r.Again(ctx, id); err != nil {
		t.Fatal(err)
	}
	if w.drain(r) != 1 || w.archive(1).State != skald.ArchiveDone {
		t.Errorf("not done after a retry: %s", w.archive(1).State)
	}
	if kind := skald.KindOf(r.Again(ctx, id)); kind != skald.KindConflict {
		t.Errorf("a retry of what is done: %s", kind)
	}
}

// TestAgainClearsAttention: a retry of the job that failed for good gives it all attempts, and the session is calm.
func TestAgainClearsAttention(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ten()...)
	w.close("turns")
	e := &failing{err: errors.New("disk full")}
	r := w.runner(nil, e)
	for range archive.Attempts {
		w.drain(r)
		w.now = w.now.Add(time.Hour)
	}
	if w.session().Attention == "" {
		t.Fatal("no attention")
	}
	if err := r.Again(context.Background(), w.onlyJob().ID); err != nil {
		t.Fatal(err)
	}
	if j := w.onlyJob(); w.session().Attention != "" || j.Attempts != 0 || j.State != skald.JobReady {
		t.Errorf("attention %q, job %+v", w.session().Attention, j)
	}
}

// TestCancelUnknown: a job that is not there is not found.
func TestCancelUnknown(t *testing.T) {
	t.Parallel()
	r := newWorld(t).runner(nil, nil)
	for _, err := range []error{r.Cancel(context.Background(), 99), r.Again(context.Background(), 99)} {
		if skald.KindOf(err) != skald.KindNotFound {
			t.Error(err)
		}
	}
}
