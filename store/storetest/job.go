package storetest

import (
	"testing"
	"time"

	"github.com/skald-engine/skald"
)

func job(key string, ref skald.SessionRef, minute int) skald.Job {
	return skald.Job{Key: key, Kind: "commit_phase2", Session: ref, Archive: 1, State: skald.JobReady, Attempts: 2, Created: at(0), Updated: at(0),
		RunAt: at(minute), Error: "last \xff", Result: "{}"}
}

// claim returns the key of the claimed job, "" when there was none.
func claim(t *testing.T, s skald.Store, minute int) (key string) {
	t.Helper()
	update(t, s, func(tx skald.Tx) error {
		j, ok, err := tx.ClaimJob(at(minute), 10*time.Minute)
		if key = j.Key; ok != (j.ID != 0) || ok && !j.Lease.Equal(at(minute+10)) {
			t.Errorf("claimed %+v, %t", j, ok)
		}
		return err
	})
	return key
}

func put(t *testing.T, s skald.Store, jobs ...skald.Job) {
	t.Helper()
	update(t, s, func(tx skald.Tx) error {
		for _, j := range jobs {
			if err := tx.PutJob(j); err != nil {
				return err
			}
		}
		return nil
	})
}

var jobTests = map[string]func(*testing.T, skald.Store){
	"PutReplacesByKey": func(t *testing.T, s skald.Store) {
		changed := job("a", chat, 3)
		changed.State, changed.Attempts = skald.JobFailed, 9
		put(t, s, job("a", chat, 0), job("b", skald.SessionRef{Scope: bob, ID: "x"}, 0), changed)
		all := read(t, s, func(tx skald.Tx) ([]skald.Job, error) { return tx.Jobs(nil, 0) })
		if len(all) != 2 || all[0].ID >= all[1].ID || all[0].Key != "a" {
			t.Fatalf("jobs: %+v", all)
		}
		changed.ID = all[0].ID
		same(t, "replaced", all[0], changed)
		same(t, "by id", read(t, s, func(tx skald.Tx) (skald.Job, error) { return tx.Job(changed.ID) }), changed)
		same(t, "of a scope", read(t, s, func(tx skald.Tx) ([]skald.Job, error) { return tx.Jobs([]skald.Scope{bob}, 5) }), all[1:])
		same(t, "limit", read(t, s, func(tx skald.Tx) ([]skald.Job, error) { return tx.Jobs(nil, 1) }), all[:1])
		update(t, s, func(tx skald.Tx) error {
			wantKind(t, "no key", tx.PutJob(skald.Job{}), skald.KindInvalid)
			return firstError(func() error { return tx.DeleteJob(changed.ID) }, func() error { return tx.DeleteJob(4711) })
		})
		view(t, s, func(tx skald.Tx) error {
			_, err := tx.Job(changed.ID)
			wantKind(t, "deleted", err, skald.KindNotFound)
			return nil
		})
	},
	"ClaimTakesTheOldestDue": func(t *testing.T, s skald.Store) {
		ref := func(id string) skald.SessionRef { return skald.SessionRef{Scope: alice, ID: id} }
		done := job("done", ref("d"), 0)
		done.State = skald.JobDone
		put(t, s, done, job("third", ref("c"), 3), job("first", ref("a"), 1), job("second", ref("b"), 2), job("later", ref("e"), 99))
		for _, want := range []string{"first", "second", "third", ""} {
			same(t, "claimed", claim(t, s, 5), want)
		}
	},
	"LeaseKeepsOthersOutUntilItEnds": func(t *testing.T, s skald.Store) {
		put(t, s, job("a", chat, 0))
		same(t, "first", claim(t, s, 1), "a")
		same(t, "while leased", claim(t, s, 10), "")
		same(t, "when it has ended", claim(t, s, 11), "a")
	},
	"OneOfASessionAtATime": func(t *testing.T, s skald.Store) {
		other := skald.SessionRef{Scope: bob, ID: chat.ID}
		put(t, s, job("a1", chat, 0), job("a2", chat, 1), job("b1", other, 2))
		same(t, "first", claim(t, s, 5), "a1")
		same(t, "another session's", claim(t, s, 5), "b1")
		same(t, "none left", claim(t, s, 5), "")
		finished := job("a1", chat, 0)
		finished.State, finished.Lease = skald.JobDone, at(99)
		put(t, s, finished)
		same(t, "after the first is done", claim(t, s, 6), "a2")
	},
	"JobsWithoutSessionDoNotExcludeEachOther": func(t *testing.T, s skald.Store) {
		put(t, s, job("a", skald.SessionRef{}, 0), job("b", skald.SessionRef{}, 1))
		same(t, "first", claim(t, s, 5), "a")
		same(t, "second", claim(t, s, 5), "b")
	},
	"PutFreesTheLease": func(t *testing.T, s skald.Store) {
		put(t, s, job("a", chat, 0))
		same(t, "first", claim(t, s, 1), "a")
		put(t, s, job("a", chat, 2))
		same(t, "put back", claim(t, s, 3), "a")
	},
}
