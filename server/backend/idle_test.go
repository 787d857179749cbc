package backend_test

import (
	"context"
	"testing"
	"time"
)

// A session commits by itself when it has been quiet for as long as its policy says; by its own clock, not the machine's.
func TestIdleCommit(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.post("/api/v1/sessions", `{"session_id":"s","auto_commit_policy":{"idle_timeout_seconds":600,"keep_recent_count":2,"min_commit_interval_seconds":3600}}`)
	d.post("/api/v1/sessions", `{"session_id":"off","auto_commit_policy":{"idle_timeout_seconds":0}}`)
	d.talk("s", 1, 4)
	d.talk("off", 1, 2)
	d.talk("none", 1, 2)
	sweep := func(after time.Duration, want int) {
		t.Helper()
		d.later(after)
		n, err := d.back.Sweep(context.Background())
		if err != nil || n != want {
			t.Errorf("after %s: %d commits, want %d (%v)", after, n, want, err)
		}
	}
	sweep(599*time.Second, 0)
	d.say("s", "user", "not idle yet")
	sweep(599*time.Second, 0)
	sweep(time.Second, 1)
	s := d.get("/api/v1/sessions/s")
	d.same("all archived", []any{s["message_count"], s["commit_count"]}, []any{0, 1})
	d.has("told", s["last_idle_commit_accepted_at"].(string)+s["last_auto_commit_at"].(string), "2026-03-02T09:19:59")
	d.same("preference", s["auto_commit_policy"].(map[string]any)["keep_recent_count"], 2)
	sweep(time.Hour, 0) // nothing is open
	d.jobs()
	d.same("summary", d.context("s", "")["stats"].(map[string]any)["includedArchives"], 1)

	d.say("s", "user", "and on")
	sweep(10*time.Minute, 1) // an hour has passed since
	d.say("s", "user", "and on")
	sweep(11*time.Minute, 0) // too soon after the last
	sweep(50*time.Minute, 1)
	d.same("others", []any{d.get("/api/v1/sessions/off")["commit_count"], d.get("/api/v1/sessions/none")["commit_count"]}, []any{0, 0})
}
