package sqlite

import (
	"cmp"
	"database/sql/driver"
	"fmt"
	"slices"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/internal/record"
)

// PutJob assigns the id: a new one, or that of the job with the same key.
func (t *tx) PutJob(j skald.Job) error {
	const op = "store.put_job"
	if err := t.writing(op); err != nil {
		return err
	}
	if j.Key == "" {
		return skald.Invalid(op, "key", "a job needs a key")
	}
	scope, err := t.needScope(j.Session.Scope)
	if err != nil {
		return err
	}
	var ref any
	if j.Session.ID != "" {
		if ref, err = t.needRef(j.Session); err != nil {
			return err
		}
	}
	j.ID = 0 // the row's id counts
	const query = `INSERT INTO job (key, scope, ref, ready, run_at, lease, body) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET scope = excluded.scope, ref = excluded.ref, ready = excluded.ready, run_at = excluded.run_at,
		lease = excluded.lease, body = excluded.body`
	return t.exec("job.put", query, j.Key, scope, ref, j.State == skald.JobReady, nanos(j.RunAt), leaseNanos(j.Lease), record.Encode(j))
}

func leaseNanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// ClaimJob takes the due job with the earliest RunAt, ties by id.
func (t *tx) ClaimJob(now time.Time, lease time.Duration) (skald.Job, bool, error) {
	if err := t.writing("store.claim_job"); err != nil {
		return skald.Job{}, false, err
	}
	const due = `SELECT id, body FROM job WHERE ready = 1 AND run_at <= ?1 AND lease <= ?1
		AND (ref IS NULL OR ref NOT IN (SELECT ref FROM job WHERE ready = 1 AND lease > 0 AND lease > ?1 AND ref IS NOT NULL))
		ORDER BY run_at, id LIMIT 1`
	list, err := t.jobs("job.due", due, now.UnixNano())
	if err != nil || len(list) == 0 {
		return skald.Job{}, false, err
	}
	j := list[0]
	j.Lease = now.Add(lease).UTC()
	stored := j
	stored.ID = 0
	err = t.exec("job.lease", `UPDATE job SET lease = ?, body = ? WHERE id = ?`, j.Lease.UnixNano(), record.Encode(stored), j.ID)
	return j, err == nil, err
}

// DeleteJob removes a job; it is no error when there is none.
func (t *tx) DeleteJob(id int64) error {
	if err := t.writing("store.delete_job"); err != nil {
		return err
	}
	return t.exec("job.delete", `DELETE FROM job WHERE id = ?`, id)
}

// Jobs lists by id.
func (t *tx) Jobs(scopes []skald.Scope, most int) ([]skald.Job, error) {
	if err := t.reading("store.jobs"); err != nil {
		return nil, err
	}
	if len(scopes) == 0 {
		return t.jobs("job.all", `SELECT id, body FROM job ORDER BY id LIMIT ?`, limit(most))
	}
	list, err := t.known(scopes)
	if err != nil {
		return nil, err
	}
	var out []skald.Job
	for _, scope := range list {
		found, err := t.jobs("job.list", `SELECT id, body FROM job WHERE scope = ? ORDER BY id LIMIT ?`, scope.id, limit(most))
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	slices.SortFunc(out, func(a, b skald.Job) int { return cmp.Compare(a.ID, b.ID) })
	return limited(out, most), nil
}

func (t *tx) Job(id int64) (skald.Job, error) {
	const op = "store.job"
	if err := t.reading(op); err != nil {
		return skald.Job{}, err
	}
	list, err := t.jobs("job.get", `SELECT id, body FROM job WHERE id = ?`, id)
	if err != nil {
		return skald.Job{}, err
	}
	if len(list) == 0 {
		return skald.Job{}, skald.NotFound(op, fmt.Sprintf("job %d", id))
	}
	return list[0], nil
}

func (t *tx) jobs(op, query string, args ...any) ([]skald.Job, error) {
	var out []skald.Job
	err := t.rows(op, query, args, func(row []driver.Value) error {
		var id int64
		var body []byte
		if err := scan(row, &id, &body); err != nil {
			return err
		}
		var j skald.Job
		err := record.Decode(body, &j)
		j.ID = id
		out = append(out, j)
		return err
	})
	return out, err
}
