package backend_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	skald "github.com/skald-engine/skald"
)

func TestSystemWait(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.talk("s", 1, 4)
	w := d.post("/api/v1/system/wait", "")
	d.same("idle", w["Semantic"], map[string]any{"processed": 0, "requeue_count": 0, "error_count": 0, "errors": []any{}})
	d.commit("s", "")
	d.has("too late", d.fails(504, "POST", "/api/v1/system/wait", `{"timeout":0.02}`), "DEADLINE_EXCEEDED")
	ran := make(chan error)
	go func() { ran <- d.engine.RunJobs(context.Background()) }()
	w = d.post("/api/v1/system/wait", `{"timeout":30}`)
	d.same("ran", <-ran, nil)
	d.same("done", w["Semantic"].(map[string]any)["processed"], 1)
	if n := w["Embedding"].(map[string]any)["processed"].(float64); n < 4 {
		t.Errorf("%v documents", n)
	}
	d.fails(400, "POST", "/api/v1/system/wait", `{"timeout":"x"}`)
	d.same("of another", d.as("key-bob").post("/api/v1/system/wait", "")["Semantic"].(map[string]any)["processed"], 0)
}

// The check finds what the index lacks, and only below the URI.
func TestConsistency(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.say("s", "user", "My favourite colour is vermilion. We decided to use Zanzibar as the release name.")
	d.talk("s", 1, 30)
	d.commit("s", "")
	d.jobs()
	d.talk("t", 1, 3)
	check := func(uri string) object {
		t.Helper()
		return d.post("/api/v1/system/consistency", fmt.Sprintf(`{"uri":%q}`, uri))
	}
	whole := check("viking://~")
	d.same("whole", []any{whole["ok"], whole["missing_record_count"], whole["missing_records"]}, []any{true, 0, []any{}})
	if n := whole["expected_count"].(float64); n < 35 {
		t.Errorf("expected %v", n)
	}
	memory := firstMemory(d)
	ref := skald.SessionRef{Scope: skald.Policy{}.UserScope(ann), ID: "s"}
	if err := d.store.Update(t.Context(), func(tx skald.Tx) error {
		if err := tx.DeleteTurnDocs(ref, 1, 25); err != nil {
			return err
		}
		return tx.DeleteURIDocs(ref.Scope, skald.URI(memory))
	}); err != nil {
		t.Fatal(err)
	}
	whole = check("viking://~")
	d.same("missing", []any{whole["ok"], whole["missing_record_count"], whole["missing_records_truncated"], len(whole["missing_records"].([]any))},
		[]any{false, 26, true, 20})
	first := whole["missing_records"].([]any)[0].(map[string]any)
	d.same("record", []any{first["uri"], first["level"], first["key"]}, []any{memory, 2, strings.TrimPrefix(memory, "viking://user/ann/") + "#level=2"})
	d.same("one turn", check("viking://session/s/turns/3")["missing_record_count"], 1)
	d.same("another session", check("viking://~/sessions/t")["ok"], true)
	d.same("archive", check("viking://~/sessions/s/history")["ok"], true)
	d.has("no uri", d.fails(400, "POST", "/api/v1/system/consistency", `{}`), "body.uri: Field required")
	d.has("bad uri", d.fails(400, "POST", "/api/v1/system/consistency", `{"uri":"viking://nope"}`), "INVALID_URI")
	d.fails(403, "POST", "/api/v1/system/consistency", `{"uri":"viking://user/bob/memories"}`)
}

func TestObservers(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.talk("s", 1, 4)
	d.commit("s", "")
	d.jobs()
	q := d.get("/api/v1/observer/queue")
	d.has("table", q["status"].(string), "| Queue ", "Processed")
	d.same("name", []any{q["name"], q["is_healthy"], q["has_errors"]}, []any{"queue", true, false})
	rows := d.get("/api/v1/observer/queue?format=json")["status"].(map[string]any)
	d.same("commits", rows["queues"].([]any)[1].(map[string]any)["processed"], 1)
	for _, name := range []string{"vikingdb", "models", "lock", "retrieval", "filesystem"} {
		o := d.get("/api/v1/observer/" + name)
		d.same(name, []any{o["name"], o["is_healthy"]}, []any{name, true})
		d.has(name, o["status"].(string), ": ")
	}
	all := d.get("/api/v1/observer/system")
	d.same("system", []any{all["is_healthy"], all["errors"], len(all["components"].(map[string]any))}, []any{true, []any{}, 6})
	d.fails(404, "GET", "/api/v1/observer/nope", "")
	d.fails(400, "GET", "/api/v1/observer/queue?format=xml", "")
}

func TestDebug(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.same("health", d.get("/api/v1/debug/health"), object{"healthy": true, "account_id": "acme"})
	for i := range 5 {
		d.remember(ann, fmt.Sprintf("The cluster number %d is called heron-%d.", i, i), "entities")
	}
	d.same("count", d.get("/api/v1/debug/vector/count")["count"], 5)
	seen, cursor := 0, ""
	for page := 0; ; page++ {
		p := d.get("/api/v1/debug/vector/scroll?limit=2&cursor=" + cursor)
		seen += len(p["records"].([]any))
		if p["next_cursor"] == nil {
			break
		}
		cursor = p["next_cursor"].(string)
	}
	d.same("scrolled", seen, 5)
	d.same("of another", d.as("key-bob").get("/api/v1/debug/vector/count")["count"], 0)
	d.has("filter", d.fails(400, "GET", "/api/v1/debug/vector/count?filter=x", ""), "INVALID_FILTER")
	d.fails(501, "GET", "/api/v1/debug/vector/count?filter=%7B%22op%22:1%7D", "")
	d.fails(400, "GET", "/api/v1/debug/vector/scroll?limit=0", "")
	d.fails(400, "GET", "/api/v1/debug/vector/scroll?cursor=%25", "")
	d.fails(400, "GET", "/api/v1/debug/vector/count?uri=viking://nope", "")
}

// Stats count what was used, for good; a task says how many uses its commit took along.
func TestStats(t *testing.T) {
	t.Parallel()
	d := start(t)
	uri := d.remember(ann, "The staging cluster is called heron.", "entities")
	d.remember(ann, "The other cluster is called stork.", "entities")
	d.say("s", "user", "hello there, my friend")
	use := func(times int) {
		for range times {
			d.post("/api/v1/sessions/s/used", fmt.Sprintf(`{"contexts":[%q,%q],"skill":{"uri":"viking://agent/skills/x"}}`, uri, uri))
		}
	}
	hot := func() any { return d.get("/api/v1/stats/memories")["hotness_distribution"] }
	d.same("cold", hot(), map[string]any{"cold": 2, "warm": 0, "hot": 0})
	use(4)
	d.same("warm", hot(), map[string]any{"cold": 1, "warm": 1, "hot": 0})
	use(1)
	d.same("hot", hot(), map[string]any{"cold": 1, "warm": 0, "hot": 1})
	task := d.commit("s", "")["task_id"].(string)
	d.jobs()
	d.same("task", d.get("/api/v1/tasks/" + task)["result"].(map[string]any)["active_count_updated"], 5)
	d.same("session", d.get("/api/v1/stats/sessions/s"), object{"session_id": "s", "total_turns": 1, "memories_extracted": 0, "contexts_used": 10, "skills_used": 5})

	d.later(10 * 24 * time.Hour)
	use(1)
	st := d.get("/api/v1/stats/memories?category=entities")
	d.same("stale", st["staleness"], map[string]any{"not_accessed_7d": 1, "not_accessed_30d": 0, "oldest_memory_age_days": 10})
	d.same("category", st["by_category"], map[string]any{"entities": 2})
	d.same("empty category", d.get("/api/v1/stats/memories?category=skills")["total_memories"], 0)
	d.has("unknown", d.fails(400, "GET", "/api/v1/stats/memories?category=zzz", ""), "Unknown category: zzz. Valid categories: profile")
	d.fails(404, "GET", "/api/v1/stats/sessions/none", "")
	d.same("console", d.get("/api/v1/console/dashboard/summary")["enabled"], false)
	d.has("sync", d.fails(501, "POST", "/api/v1/system/backend/sync-status", `{"uri":"viking://resources"}`), "UNIMPLEMENTED")
	d.same("status", d.get("/api/v1/system/status?profile=1"), object{"initialized": true, "user": "ann"})
}
