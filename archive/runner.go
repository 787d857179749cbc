package archive

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/skald-engine/skald"
)

// Limits of phase 2.
const (
	Attempts  = 5                // tries of one job before it needs attention
	PartSize  = 60_000           // tokens that a summariser is given at once (ARC-05)
	leaseTime = 2 * time.Minute  // a killed worker's job is free after this
	firstWait = 15 * time.Second // before the second attempt; times four for each further one
	pollTime  = time.Second      // how often idle workers look for due jobs
	drainTime = 5 * time.Second  // for the jobs that are due when the daemon stops
)

// Runner runs phase 2 of commits. Its state is in the store: a runner that was killed at any point is continued by the next one,
// and two runners of one store don't do a step twice (each step checks and records itself in the transaction of its result).
type Runner struct {
	store     skald.Store
	summarise Summariser
	extract   Extractor
	clock     func() time.Time
	log       *slog.Logger
	wake      chan struct{}
	workers   map[string]skald.Worker // of the other kinds of jobs

	mu      sync.Mutex
	done    chan struct{}                     // closed and replaced whenever a job ended
	running map[int64]context.CancelCauseFunc // by job id
}

// New makes a runner. A nil s is Builtin, a nil e extracts nothing, a nil log is silent.
func New(store skald.Store, s Summariser, e Extractor, clock func() time.Time, log *slog.Logger) *Runner {
	if s == nil {
		s = Builtin{}
	}
	if clock == nil {
		clock = time.Now
	}
	if log == nil {
		log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	return &Runner{store: store, summarise: s, extract: e, clock: clock, log: log,
		wake: make(chan struct{}, 1), done: make(chan struct{}), running: map[int64]context.CancelCauseFunc{},
		workers: map[string]skald.Worker{}}
}

// Wake tells idle workers that a job was enqueued. It never blocks.
func (r *Runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run works on due jobs with the given number of workers until ctx ends. Then jobs that are running or due get five more seconds
// (they are taken up after the next start otherwise), and Run returns.
func (r *Runner) Run(ctx context.Context, workers int) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(drainTime)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-work.Done():
		}
	})
	defer stop()
	var wg sync.WaitGroup
	for range max(workers, 1) {
		wg.Go(func() { r.loop(ctx, work) })
	}
	wg.Wait()
}

// loop is one worker: it drains what is due, then waits for a wake, the poll or the end.
func (r *Runner) loop(ctx, work context.Context) {
	poll := time.NewTicker(pollTime)
	defer poll.Stop()
	for {
		for {
			ran, err := r.RunOne(work)
			if err != nil && work.Err() == nil {
				r.log.Error("commit job", "error", err)
			}
			if !ran || work.Err() != nil {
				break
			}
			r.Wake() // another worker may help with what is left
		}
		if ctx.Err() != nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-r.wake:
		case <-poll.C:
		}
	}
}

// ReleaseLeases frees the jobs that a killed daemon held. Call it at the start of a daemon that has the store to itself; others
// wait for the lease to end.
func (r *Runner) ReleaseLeases(ctx context.Context) error {
	return r.store.Update(ctx, func(tx skald.Tx) error {
		jobs, err := tx.Jobs(nil, 0)
		if err != nil {
			return err
		}
		for _, j := range jobs {
			if j.State != skald.JobReady || j.Lease.IsZero() {
				continue
			}
			j.Lease = time.Time{}
			if err := tx.PutJob(j); err != nil {
				return err
			}
		}
		return nil
	})
}

// Wait returns when phase 2 of an archive is done or has failed for good, or ctx ends.
func (r *Runner) Wait(ctx context.Context, ref skald.SessionRef, index int) error {
	poll := time.NewTicker(pollTime / 4) // another daemon may run the job
	defer poll.Stop()
	for {
		changed := r.changed()
		state, err := r.state(ctx, ref, index)
		if err != nil || state == skald.ArchiveDone || state == skald.ArchiveFailed {
			return err
		}
		select {
		case <-ctx.Done():
			return &skald.Error{Op: "archive.wait", URI: string(ref.ArchiveURI(index)), Kind: skald.KindDeadline, Err: ctx.Err()}
		case <-changed:
		case <-poll.C:
		}
	}
}

func (r *Runner) state(ctx context.Context, ref skald.SessionRef, index int) (state skald.ArchiveState, err error) {
	err = r.store.View(ctx, func(tx skald.Tx) error {
		a, err := tx.Archive(ref, index)
		state = a.State
		return err
	})
	return state, err
}

// Ended is closed when the next job ends.
func (r *Runner) Ended() <-chan struct{} { return r.changed() }

func (r *Runner) changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done
}

func (r *Runner) announce() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.done)
	r.done = make(chan struct{})
}
