package backend_test

import (
	"fmt"
	"strings"
	"testing"
)

// What a session may be created with, and how each fault is answered.
func TestCreateIsValidated(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.post("/api/v1/sessions", `{"session_id":"taken"}`)
	for body, want := range map[string]string{
		`{"session_id":"taken"}`:         `409 "code":"ALREADY_EXISTS"`,
		`{"session_id":"a/b"}`:           `400 body.session_id`,
		`{"session_id":7}`:               `400 body.session_id`,
		`[]`:                             `400 "loc":["body"]`,
		`{"auto_commit_policy":{"x":1}}`: `400 body.auto_commit_policy.x: Extra inputs are not permitted`,
		`{"auto_commit_policy":{"keep_recent_count":null}}`:      `400 body.auto_commit_policy.keep_recent_count`,
		`{"auto_commit_policy":{"keep_recent_count":"1"}}`:       `400 body.auto_commit_policy`,
		`{"auto_commit_policy":"x"}`:                             `400 body.auto_commit_policy`,
		`{"auto_commit_policy":{"idle_timeout_seconds":299}}`:    `400 must be 0 or at least 300`,
		`{"auto_commit_policy":{"idle_timeout_seconds":-1}}`:     `400 must be 0 or at least 300`,
		`{"memory_policy":{"x":1}}`:                              `400 memory_policy supports only: memory_types, peer, self, working_memory`,
		`{"memory_policy":{"self":{"enabled":true,"y":1}}}`:      `400 memory_policy target supports only: enabled`,
		`{"memory_policy":{"self":{"enabled":null}}}`:            `400 memory_policy target enabled must be a boolean`,
		`{"memory_policy":{"self":true}}`:                        `400 memory_policy target`,
		`{"memory_policy":{"memory_types":["nope"]}}`:            `400 Unknown memory_policy.memory_types: nope`,
		`{"memory_policy":{"memory_types":"events"}}`:            `400 memory_policy.memory_types`,
		`{"memory_policy":[]}`:                                   `400 body.memory_policy`,
		`{"memory_extraction_config":{"z":1}}`:                   `400 body.memory_extraction_config.z: Extra inputs are not permitted`,
		`{"memory_extraction_config":{"events":{"z":1}}}`:        `400 body.memory_extraction_config.events.z`,
		`{"memory_extraction_config":{"events":{"tags":"a=b"}}}`: `400 body.memory_extraction_config.events.tags`,
	} {
		code, text := d.call("POST", "/api/v1/sessions", body)
		status, part, _ := strings.Cut(want, " ")
		if fmt.Sprint(code) != status || !strings.Contains(text, part) {
			t.Errorf("%s: %d %s, want %s", body, code, text, want)
		}
	}
}

func TestCreateCompletesWhatItIsGiven(t *testing.T) {
	t.Parallel()
	d := start(t)
	made := d.post("/api/v1/sessions", `{"session_id":"","auto_commit_policy":{"message_count_threshold":5000,"keep_recent_count":-3},
		"memory_policy":{"self":{"enabled":false},"memory_types":["events","experiences","events"]},
		"memory_extraction_config":{"events":{"tags":["Team=Core","team=Infra","x=1","bad","=",""]}},"telemetry":false}`)
	id := made["session_id"].(string)
	d.has("id", id, "2026", "-")
	d.same("policy", made["auto_commit_policy"], map[string]any{"pending_token_threshold": 150000, "message_count_threshold": 1000,
		"idle_timeout_seconds": 86400, "keep_recent_count": 0, "min_commit_interval_seconds": 0})
	d.same("tags", made["memory_extraction_config"], map[string]any{"events": map[string]any{"tags": []string{"team=infra", "x=1"}}})
	s := d.get("/api/v1/sessions/" + id)
	d.same("memory policy", s["memory_policy"], map[string]any{"self": map[string]any{"enabled": false}, "peer": map[string]any{"enabled": true},
		"working_memory": map[string]any{"enabled": true}, "memory_types": []string{"cases", "events", "experiences", "trajectories"}})
	d.post("/api/v1/sessions", `{"session_id":"c","memory_policy":{"memory_types":["cases","events"]}}`)
	d.same("implied", d.get("/api/v1/sessions/c")["memory_policy"].(map[string]any)["memory_types"], []string{"events"})
	d.post("/api/v1/sessions", `{"session_id":"all","memory_policy":{}}`)
	if p := d.get("/api/v1/sessions/all")["memory_policy"].(map[string]any); len(p) != 3 {
		t.Error(p)
	}
	d.post("/api/v1/sessions", "")
}

// A session remembers what its last commit was asked to keep; what was kept is not pending, and what comes after it is.
func TestCommitRemembersWhatItKeeps(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.talk("s", 1, 6)
	kept := func(want ...any) {
		t.Helper()
		s := d.get("/api/v1/sessions/s")
		d.same("kept", []any{s["message_count"], s["keep_recent_count"], s["retention_mode"], s["keep_recent_turn_count"],
			s["retained_message_token_budget"], s["min_raw_tail_steps"], s["pending_tokens"]}, want)
	}
	d.same("active", d.commit("s", `{"keep_recent_count":2}`)["estimated_active_tokens"].(float64) > 0, true)
	kept(2, 2, "", 0, 0, 1, 0)
	if n := d.say("s", "user", "some more words")["pending_tokens"].(float64); n < 1 || n > 60 {
		t.Errorf("%v tokens pending", n)
	}
	d.commit("s", `{"retention_mode":"turn_budget","keep_recent_turn_count":1,"retained_message_token_budget":1000,"min_raw_tail_steps":2}`)
	kept(1, 0, "turn_budget", 1, 1000, 2, 0)
	d.commit("s", "")
	kept(0, 0, "", 0, 0, 1, 0)
}

// PATCH merges, null turns off, and what is not named stays.
func TestConfigMerges(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.post("/api/v1/sessions", `{"session_id":"s"}`)
	patch := func(body string, want map[string]any) {
		t.Helper()
		got := ask[object](d, "PATCH", "/api/v1/sessions/s/config", body)
		for k, v := range want {
			d.same(body+" "+k, got[k], v)
		}
		d.same(body+" session", got["session_id"], "s")
	}
	policy := func(keep, count int) map[string]any {
		return map[string]any{"pending_token_threshold": 150000, "message_count_threshold": count, "idle_timeout_seconds": 86400,
			"keep_recent_count": keep, "min_commit_interval_seconds": 0}
	}
	tags := func(list ...string) map[string]any {
		return map[string]any{"events": map[string]any{"tags": list}}
	}
	patch(`{}`, map[string]any{"auto_commit_policy": nil, "memory_extraction_config": tags()})
	patch(`{"auto_commit_policy":{"keep_recent_count":7}}`, map[string]any{"auto_commit_policy": policy(7, 100)})
	patch(`{"auto_commit_policy":{"message_count_threshold":9}}`, map[string]any{"auto_commit_policy": policy(7, 9)})
	patch(`{"memory_extraction_config":{"events":{"tags":["k=v"]}}}`, map[string]any{"auto_commit_policy": policy(7, 9), "memory_extraction_config": tags("k=v")})
	patch(`{"auto_commit_policy":null}`, map[string]any{"auto_commit_policy": nil, "memory_extraction_config": tags("k=v")})
	patch(`{"auto_commit_policy":{"keep_recent_count":3}}`, map[string]any{"auto_commit_policy": policy(3, 100)})
	patch(`{"memory_extraction_config":null,"telemetry":false}`, map[string]any{"memory_extraction_config": tags("k=v")})
	patch(`{"memory_extraction_config":{"events":{"tags":[]}}}`, map[string]any{"memory_extraction_config": tags()})

	d.has("extra", d.fails(400, "PATCH", "/api/v1/sessions/s/config", `{"memory_policy":{}}`), "body.memory_policy: Extra inputs are not permitted")
	d.fails(400, "PATCH", "/api/v1/sessions/s/config", `{"auto_commit_policy":{"y":1}}`)
	d.fails(400, "PATCH", "/api/v1/sessions/s/config", ``)
	d.has("missing", d.fails(404, "PATCH", "/api/v1/sessions/none/config", `{}`), "Session none not found")
	d.fails(404, "PATCH", "/api/v1/sessions/a_b/config", `{}`)
	d.fails(404, "GET", "/api/v1/sessions/none?auto_create=false", "")
	d.same("auto_create", d.get("/api/v1/sessions/fresh?auto_create=true")["message_count"], 0)
}

// The tags of a commit, or of the session, are on the events that it makes; and the policy says what is made.
func TestExtractionHeedsPolicyAndTags(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ create, commit, want, not string }{
		"session tags": {`{"session_id":"s","memory_extraction_config":{"events":{"tags":["team=core"]}}}`, ``, "tags: team=core", "x"},
		"commit tags":  {`{"session_id":"s","memory_extraction_config":{"events":{"tags":["team=core"]}}}`, `{"extraction_metadata":{"event":{"tags":["Run=7"]}}}`, "tags: run=7", "team=core"},
		"types":        {`{"session_id":"s","memory_policy":{"memory_types":["events"]}}`, ``, "Zanzibar", "vermilion"},
		"self off":     {`{"session_id":"s","memory_policy":{"self":{"enabled":false}}}`, ``, "", "Zanzibar"},
		"no types":     {`{"session_id":"s","memory_policy":{"memory_types":[]}}`, ``, "", "Zanzibar"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := start(t)
			d.post("/api/v1/sessions", c.create)
			d.say("s", "user", "My favourite colour is vermilion. We decided to use Zanzibar as the release name.")
			d.commit("s", c.commit)
			d.jobs()
			all := ""
			for _, f := range ask[[]object](d, "GET", "/api/v1/fs/ls?recursive=true&uri=viking://~/memories", "") {
				if f["isDir"] != true {
					all += ask[string](d, "GET", "/api/v1/content/read?raw=true&uri="+f["uri"].(string), "")
				}
			}
			d.has("memories", all, c.want)
			if c.want == "" {
				d.same("memories", all, "")
			}
			d.lacks("memories", strings.ReplaceAll(all, "x", ""), c.not)
		})
	}
	d := start(t)
	d.say("s", "user", "hello")
	for body, part := range map[string]string{
		`{"extraction_metadata":{"event":{"tags":["a=b"]},"q":1}}`:           "body.extraction_metadata.q: Extra inputs are not permitted",
		`{"extraction_metadata":{"event":{"tags":["bad"]}}}`:                 "invalid search tag 'bad': expected strict k=v format",
		`{"extraction_metadata":{"event":{"z":1}}}`:                          "body.extraction_metadata.event.z",
		`{"extraction_metadata":7}`:                                          "body.extraction_metadata",
		`{"retention_mode":"zz"}`:                                            "body.retention_mode",
		`{"keep_recent_count":-1}`:                                           "body.keep_recent_count",
		`{"retained_message_token_budget":5}`:                                "needs retention_mode",
		`{"retention_mode":"turn_budget","retained_message_token_budget":0}`: "body.retained_message_token_budget",
		`{"reset_context":true,"keep_recent_count":2}`:                       "body.reset_context",
	} {
		d.has(body, d.fails(400, "POST", "/api/v1/sessions/s/commit", body), part)
	}
	d.same("still open", d.get("/api/v1/sessions/s")["message_count"], 1)
}

// reset_context: the session goes on, its context begins anew.
func TestResetContext(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.talk("s", 1, 4)
	c := d.commit("s", `{"reset_context":true}`)
	d.same("commit", []any{c["status"], c["reset_context"]}, []any{"accepted", true})
	d.jobs()
	d.say("s", "user", "a new beginning")
	c = d.context("s", "")
	d.same("messages", c.count(), 1)
	d.same("overview", c["latest_archive_overview"], "")
	d.same("archive", d.get("/api/v1/sessions/s/archives/archive_001").count(), 4)
	d.same("nothing open", d.commit("s", `{"keep_recent_count":1}`)["reason"], "all_within_keep_window")
}

// Extraction of the open messages stores memories now, and their commit adds nothing to them.
func TestExtract(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.fails(404, "POST", "/api/v1/sessions/none/extract", "")
	d.say("s", "user", "My favourite colour is vermilion.")
	got := ask[[]object](d, "POST", "/api/v1/sessions/s/extract", "")
	if len(got) != 1 || got[0]["category"] != "preferences" || !strings.Contains(got[0]["content"].(string), "vermilion") {
		t.Fatal(got)
	}
	d.same("open", d.get("/api/v1/sessions/s")["message_count"], 1)
	d.same("again", len(ask[[]object](d, "POST", "/api/v1/sessions/s/extract", "")), 0)
	d.commit("s", "")
	d.jobs()
	d.same("total", d.get("/api/v1/stats/memories")["total_memories"], 1)
	d.same("nothing open", ask[[]object](d, "POST", "/api/v1/sessions/s/extract", ""), []object{})
}

// A failed archive is tried again by its endpoint; its messages were readable all the time.
func TestRetryArchive(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.talk("s", 1, 4)
	task := d.commit("s", "")["task_id"].(string)
	d.post("/api/v1/tasks/"+task+"/cancel", "")
	d.same("context", d.context("s", "").count(), 4)
	d.same("failed", d.context("s", "")["stats"].(map[string]any)["failedArchives"], 1)
	again := d.post("/api/v1/sessions/s/archives/archive_001/retry", "")
	d.same("task", again["task_id"], task)
	d.jobs()
	d.same("status", d.get("/api/v1/tasks/" + task)["status"], "completed")
	d.has("done", d.fails(412, "POST", "/api/v1/sessions/s/archives/archive_001/retry", ""), "FAILED_PRECONDITION", "done already")
	d.fails(404, "POST", "/api/v1/sessions/s/archives/archive_002/retry", "")
	d.fails(404, "POST", "/api/v1/sessions/s/archives/x/retry", "")
	d.fails(404, "POST", "/api/v1/sessions/none/archives/archive_001/retry", "")
}
