package backend_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/server/backend"
	"github.com/skald-engine/skald/store/memory"
	"github.com/skald-engine/skald/store/sqlite"
)

func (d daemon) backend() *backend.Backend { return backend.New(d.engine, d.store) }

// ARC-01.
func TestConcurrentCommitsArchiveOnce(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.talk("s", 1, 10)
	var wg sync.WaitGroup
	results := make([]object, 8)
	for i := range results {
		wg.Go(func() { results[i] = d.commit("s", "") })
	}
	wg.Wait()
	archived := 0
	for _, r := range results {
		if r["archived"] == true {
			archived++
			continue
		}
		d.same("others", []any{r["status"], r["reason"], r["task_id"]}, []any{"skipped", "no_messages", nil})
	}
	d.same("archived", archived, 1)
	d.jobs()
	d.same("later", d.commit("s", "")["reason"], "no_messages")
	a := d.get("/api/v1/sessions/s/archives/archive_001")
	d.same("messages", a.count(), 10)
	d.fails(404, "GET", "/api/v1/sessions/s/archives/archive_002", "")
}

func TestKeepRecentStaysAtExchanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body string
		live int
	}{
		{`{"keep_recent_count":2}`, 2},
		{`{"keep_recent_count":3}`, 4}, // the third newest is an answer: its question stays too
		{`{"keep_recent_count":8}`, 8},
		{`{"retention_mode":"turn_budget","keep_recent_turn_count":2}`, 4},
		{`{"retention_mode":"turn_budget"}`, 0},
	} {
		d := start(t)
		d.talk("s", 1, 10)
		before := d.get("/api/v1/sessions/s")["pending_tokens"].(float64)
		active := d.commit("s", c.body)["estimated_active_tokens"].(float64)
		s := d.get("/api/v1/sessions/s")
		d.same(c.body, []any{s["message_count"], s["total_message_count"], s["commit_count"]}, []any{c.live, 10, 1})
		d.same(c.body+" pending", s["pending_tokens"], 0)
		if active >= before || (active > 0) != (c.live > 0) {
			t.Errorf("%s: %v of %v tokens active", c.body, active, before)
		}
		d.same(c.body+" archived", d.get("/api/v1/sessions/s/archives/archive_001").count(), 10-c.live)
		d.say("s", "user", "next")
		d.same(c.body+" next", d.get("/api/v1/sessions/s")["message_count"], c.live+1)
	}
}

func TestKeepWindowHoldsAll(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.talk("s", 1, 4)
	for _, body := range []string{`{"keep_recent_count":4}`, `{"keep_recent_count":100}`, `{"retention_mode":"turn_budget","keep_recent_turn_count":9}`} {
		r := d.commit("s", body)
		d.same(body, []any{r["status"], r["reason"], r["archived"]}, []any{"skipped", "all_within_keep_window", false})
	}
	r := d.commit("s", `{"retention_mode":"turn_budget","keep_recent_turn_count":9,"retained_message_token_budget":1}`)
	d.same("the newest exchange stays whole", []any{r["archived"], r["budget_exceeded"]}, []any{true, true})
	d.same("live", d.get("/api/v1/sessions/s")["message_count"], 2)
	d.fails(404, "POST", "/api/v1/sessions/none/commit", "")
}

func TestPolicyCommits(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.post("/api/v1/sessions", `{"session_id":"s","auto_commit_policy":{"message_count_threshold":3,"keep_recent_count":1,"min_commit_interval_seconds":60}}`)
	d.talk("s", 1, 3)
	d.same("at the threshold", d.get("/api/v1/sessions/s")["commit_count"], 0)
	d.talk("s", 4, 1)
	s := d.get("/api/v1/sessions/s")
	d.same("over it", []any{s["commit_count"], s["message_count"]}, []any{1, 2})
	if s["last_auto_commit_at"] == nil {
		t.Error("the commit is not noted")
	}
	d.talk("s", 5, 6)
	d.same("within the interval", d.get("/api/v1/sessions/s")["commit_count"], 1)
	*d.clock = now.Add(time.Minute)
	d.talk("s", 11, 1)
	d.same("after it", d.get("/api/v1/sessions/s")["commit_count"], 2)
}

// The engine's triggers, its sweep and its flush are for hosts' sessions.
func TestEngineLeavesAPISessionsAlone(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.talk("s", 1, 50)
	r := skald.CommitTurnRequest{AdvancementKey: "k"}
	r.Identity, r.Session.SessionID = ann, "host"
	r.Messages = append(r.Messages, []byte(`{"role":"user","content":"hello"}`))
	if _, err := d.engine.CommitTurn(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	d.say("host", "user", "by the API")
	*d.clock = now.Add(24 * time.Hour)
	if _, err := d.engine.Sweep(context.Background(), *d.clock); err != nil {
		t.Fatal(err)
	}
	if _, err := d.engine.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	d.same("of the API", d.get("/api/v1/sessions/s")["commit_count"], 0)
	d.same("of a host", d.get("/api/v1/sessions/host")["commit_count"], 1)
}

// prose is a model whose answers cannot be used.
type prose struct{}

func (prose) Summarise(context.Context, archive.Input) (archive.Summary, error) {
	return archive.Summary{}, fmt.Errorf("no structure in the answer")
}

// API-06: the answers are the same after a restart, and what went wrong is said.
func TestTasksSurviveARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func() (daemon, func()) {
		store, err := sqlite.Open(context.Background(), dir, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return startOn(t, store, prose{}), func() {
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	d, stop := open()
	d.talk("s", 1, 10)
	task := "/api/v1/tasks/" + d.commit("s", "")["task_id"].(string)
	d.same("before", d.get(task)["status"], "pending")
	d.same("live data", d.get("/api/v1/sessions/s")["message_count"], 0)
	stop()
	d, stop = open()
	d.same("pending after a restart", d.get(task)["status"], "pending")
	d.jobs()
	done := d.get(task)
	d.same("done", []any{done["status"], done["resource_id"], done["task_type"]}, []any{"completed", "s", "session_commit"})
	d.has("reason", fmt.Sprint(done["error"]), "completed with errors", "builtin")
	d.has("result", fmt.Sprint(done["result"]), "archive_uri:viking://user/ann/sessions/s/history/archive_001")
	stop()
	d, stop = open()
	defer stop()
	d.same("the same", d.get(task), done)
	d.same("list", ask[[]object](d, "GET", "/api/v1/tasks?resource_id=s", ""), []object{done})
	d.same("filters", ask[[]object](d, "GET", "/api/v1/tasks?status=failed", ""), []object{})
	d.same("filters", len(ask[[]object](d, "GET", "/api/v1/tasks?status=completed&task_type=session_commit", "")), 1)
	for _, id := range []string{"99", "0", "-1", "x", "01"} {
		d.fails(404, "GET", "/api/v1/tasks/"+id, "")
	}
}

// A step that failed for good is a failed task with its reason; the next commit tries again, even with nothing new to archive.
func TestFailedTask(t *testing.T) {
	t.Parallel()
	store := memory.New()
	defer store.Close()
	d := startOn(t, store, nil)
	d.talk("s", 1, 4)
	task := "/api/v1/tasks/" + d.commit("s", "")["task_id"].(string)
	d.setArchive("s", skald.ArchiveFailed, skald.JobFailed)
	got := d.get(task)
	d.same("failed", []any{got["status"], got["error"], got["result"]}, []any{"failed", "disk on fire", nil})
	d.has("raw", d.context("s", "").texts(), "Message 1:", "Message 4:")
	d.same("stats", d.context("s", "")["stats"].(map[string]any)["failedArchives"], 1)
	d.same("nothing new", d.commit("s", "")["reason"], "no_messages")
	d.jobs()
	d.same("tried again", d.get(task)["status"], "completed")
}

// setArchive puts the newest archive and its job into a state.
func (d daemon) setArchive(session string, state skald.ArchiveState, job skald.JobState) {
	d.Helper()
	ref := skald.SessionRef{Scope: skald.Policy{}.UserScope(ann), ID: session}
	err := d.store.Update(context.Background(), func(tx skald.Tx) error {
		s, err := tx.Session(ref)
		if err != nil {
			return err
		}
		a, err := tx.Archive(ref, s.Archives)
		if err != nil {
			return err
		}
		jobs, err := tx.Jobs([]skald.Scope{ref.Scope}, 0)
		if err != nil {
			return err
		}
		j := jobs[len(jobs)-1]
		a.State, a.Error, j.State, j.Error = state, "disk on fire", job, "disk on fire"
		s.Attention, s.CommitFails = "disk on fire", 5
		for _, put := range []func() error{
			func() error { return tx.PutArchive(a) }, func() error { return tx.PutJob(j) }, func() error { return tx.PutSession(s) },
		} {
			if err := put(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		d.Fatal(err)
	}
}
