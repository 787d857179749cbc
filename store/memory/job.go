package memory

import (
	"fmt"
	"time"

	"github.com/skald-engine/skald"
)

func seqError(got, want int64) error { return fmt.Errorf("sequence %d, expected %d", got, want) }

// PutJob assigns the id: a new one, or that of the job with the same key.
func (t *tx) PutJob(j skald.Job) error {
	const op = "store.put_job"
	if err := t.writing(op); err != nil {
		return err
	}
	if j.Key == "" {
		return skald.Invalid(op, "key", "a job needs a key")
	}
	t.jobs = copied(t.jobs)
	j.ID = 0
	for id, old := range t.jobs {
		if old.Key == j.Key {
			j.ID = id
		}
	}
	if j.ID == 0 {
		t.nextJob++
		j.ID = t.nextJob
	}
	t.jobs[j.ID] = cloneJob(j)
	return nil
}

// ClaimJob takes the due job with the earliest RunAt, ties by id.
func (t *tx) ClaimJob(now time.Time, lease time.Duration) (skald.Job, bool, error) {
	if err := t.writing("store.claim_job"); err != nil {
		return skald.Job{}, false, err
	}
	busy := map[skald.SessionRef]bool{}
	for _, j := range t.jobs {
		if j.State == skald.JobReady && j.Lease.After(now) && j.Session.ID != "" {
			busy[j.Session] = true
		}
	}
	var best *skald.Job
	for _, j := range sortedValues(t.jobs) {
		due := j.State == skald.JobReady && !j.RunAt.After(now) && !j.Lease.After(now) && !busy[j.Session]
		if due && (best == nil || j.RunAt.Before(best.RunAt)) {
			best = &j
		}
	}
	if best == nil {
		return skald.Job{}, false, nil
	}
	best.Lease = now.Add(lease).UTC()
	t.jobs = copied(t.jobs)
	t.jobs[best.ID] = *best
	return *best, true, nil
}

// DeleteJob removes a job; it is no error when there is none.
func (t *tx) DeleteJob(id int64) error {
	if err := t.writing("store.delete_job"); err != nil {
		return err
	}
	t.jobs = copied(t.jobs)
	delete(t.jobs, id)
	return nil
}

// Jobs lists by id.
func (t *tx) Jobs(scopes []skald.Scope, limit int) ([]skald.Job, error) {
	if err := t.reading("store.jobs"); err != nil {
		return nil, err
	}
	var out []skald.Job
	for _, j := range sortedValues(t.jobs) {
		if inScopes(scopes, j.Session.Scope, true) {
			out = append(out, j)
		}
	}
	return limited(out, limit), nil
}

func (t *tx) Job(id int64) (skald.Job, error) {
	const op = "store.job"
	if err := t.reading(op); err != nil {
		return skald.Job{}, err
	}
	j, ok := t.jobs[id]
	if !ok {
		return skald.Job{}, skald.NotFound(op, fmt.Sprintf("job %d", id))
	}
	return j, nil
}
