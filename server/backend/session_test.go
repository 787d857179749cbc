package backend_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	skald "github.com/skald-engine/skald"
)

// API-05: live, archived and total are apart, and right as soon as a commit is accepted.
func TestCounts(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.talk("s", 1, 4)
	c := d.commit("s", "")
	counts := func(when string, live, total, commits int) {
		t.Helper()
		s := d.get("/api/v1/sessions/s")
		d.same(when, []any{s["message_count"], s["total_message_count"], s["commit_count"]}, []any{live, total, commits})
	}
	counts("accepted", 0, 4, 1)
	d.same("pending", d.get("/api/v1/sessions/s")["pending_tokens"], 0)
	d.jobs()
	d.same("task", d.get("/api/v1/tasks/" + c["task_id"].(string))["status"], "completed")
	counts("done", 0, 4, 1)
	d.same("live after the add", d.say("s", "user", "next")["message_count"], 1)
	counts("after the add", 1, 5, 1)
}

// A message with a call and its result is one message, though it takes two turns.
func TestCountsMessagesNotTurns(t *testing.T) {
	t.Parallel()
	d := start(t)
	call := `{"role":"assistant","parts":[{"type":"text","text":"let me see"},
		{"type":"tool","tool_id":"c1","tool_name":"ls","tool_status":"completed","tool_input":{"path":"/"},"tool_output":"a b"}]}`
	d.say("s", "user", "what is there?")
	d.same("live", d.post("/api/v1/sessions/s/messages", call)["message_count"], 2)
	d.same("read", d.context("s", "").count(), 2)
	d.commit("s", "")
	s := d.get("/api/v1/sessions/s")
	d.same("after a commit", []any{s["message_count"], s["total_message_count"]}, []any{0, 2})
	d.same("live again", d.post("/api/v1/sessions/s/messages", call)["message_count"], 1)
	// A commit from elsewhere (the CLI) is noticed.
	if _, err := d.engine.Commit(context.Background(), ann, "s", false); err != nil {
		t.Fatal(err)
	}
	s = d.get("/api/v1/sessions/s")
	d.same("after a foreign commit", []any{s["message_count"], s["total_message_count"], s["commit_count"]}, []any{0, 3, 2})
}

func TestRepeatedEntriesAreStoredOnce(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := d.backend()
	entries := []skald.Entry{
		{EntryID: "msg_a", Message: []byte(`{"role":"user","content":"ok"}`)},
		{EntryID: "msg_b", Message: []byte(`{"role":"user","content":"ok"}`)},
		{EntryID: "msg_a", Message: []byte(`{"role":"user","content":"ok"}`)},
	}
	for range 2 {
		s, err := b.AddMessages(context.Background(), ann, "s", entries)
		if err != nil || s.Live != 2 || s.Total != 2 {
			t.Fatalf("%+v %v", s, err)
		}
	}
}

// The peers of a session are not its owner (I10).
func TestPeersAreNotTheOwner(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.post("/api/v1/sessions/s/messages", `{"role":"user","content":"My name is Kim.","peer_id":"kim"}`)
	d.post("/api/v1/sessions/s/messages", `{"role":"user","content":"My name is Ann.","peer_id":"ann"}`)
	turns, err := d.engine.ListTurns(context.Background(), ann, "s", 0, 0)
	if err != nil || len(turns) != 2 {
		t.Fatal(turns, err)
	}
	d.same("origins", []skald.Origin{turns[0].Origin, turns[1].Origin}, []skald.Origin{skald.OriginPerson, skald.OriginOwner})
	d.has("peer", fmt.Sprint(d.context("s", "")["messages"]), "peer_id:kim")
}

func TestChainHolds(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.talk("s", 1, 7)
	d.commit("s", `{"keep_recent_count":2}`)
	d.jobs()
	d.talk("s", 8, 3)
	d.commit("s", "")
	d.jobs()
	v, err := d.engine.Verify(context.Background(), ann, "s")
	if err != nil || !v.OK {
		t.Error(v.Problems, err)
	}
}

// What was used counts for good, not for one request.
func TestUsedCountsForGood(t *testing.T) {
	t.Parallel()
	d := start(t)
	uri := d.remember(ann, "The staging cluster is called heron.", "entities")
	d.say("s", "user", "hello")
	body := fmt.Sprintf(`{"contexts":[%q,"viking://user/bob/memories/x.md","nonsense"],"skill":{"uri":"viking://agent/skills/x"}}`, uri)
	for i := 1; i <= 2; i++ {
		u := d.post("/api/v1/sessions/s/used", body)
		d.same("used", []any{u["contexts_used"], u["skills_used"]}, []any{3 * i, i})
	}
	s := d.get("/api/v1/sessions/s")
	d.same("session", []any{s["contexts_used"], s["skills_used"]}, []any{6, 2})
	d.has("memory", ask[string](d, "GET", "/api/v1/content/read?raw=true&uri="+uri, ""), "uses: 2")
	d.fails(404, "POST", "/api/v1/sessions/none/used", body)
}

// Sessions of one id belong to their users, and a session id is not a way out of one's space.
func TestTenants(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.talk("s", 1, 4)
	uri := d.remember(ann, "The vault code is tangerine.", "entities")
	task := d.commit("s", "")["task_id"].(string)
	d.jobs()
	d.say("s", "user", "tangerine is open")
	for _, key := range []string{"key-bob", "key-eve"} {
		t.Run(key, func(t *testing.T) {
			other := d.in(t).as(key)
			for _, path := range []string{"sessions/s", "sessions/s/context", "sessions/s/archives/archive_001", "tasks/" + task} {
				other.fails(404, "GET", "/api/v1/"+path, "")
			}
			other.fails(404, "POST", "/api/v1/sessions/s/commit", "")
			other.fails(404, "POST", "/api/v1/sessions/s/used", `{"contexts":["`+uri+`"]}`)
			other.fails(404, "DELETE", "/api/v1/sessions/s", "")
			other.same("sessions", ask[[]any](other, "GET", "/api/v1/sessions", ""), []any{})
			other.same("tasks", ask[[]any](other, "GET", "/api/v1/tasks", ""), []any{})
			other.strangerSees(uri)
		})
	}
	d.has("kept", ask[string](d, "GET", "/api/v1/content/read?raw=true&uri="+uri, ""), "tangerine", "uses: 0")
	d.same("kept", d.get("/api/v1/sessions/s")["total_message_count"], 5)
}

// strangerSees tries to reach another user's memory and turns by every reading and removing call.
func (d daemon) strangerSees(uri string) {
	d.Helper()
	session := "viking://user/ann/sessions/s"
	for _, u := range []string{uri, "viking://user/ann/memories", session, session + "/turns/1", session + "/messages.jsonl",
		session + "/history/archive_001/.overview.md", "viking://user/ann"} {
		for _, call := range [][2]string{
			{"GET", "fs/stat"}, {"GET", "fs/ls"}, {"GET", "fs/tree"}, {"GET", "content/read"}, {"GET", "content/overview"},
			{"GET", "content/abstract"}, {"DELETE", "fs"},
		} {
			code, text := d.call(call[0], "/api/v1/"+call[1]+"?recursive=true&uri="+u, "")
			text = strings.ReplaceAll(text, u, "") // an answer may repeat what was asked
			d.lacks(call[1]+" "+u, text, "tangerine", "Lisbon", "turns 1")
			if code == 200 && call[1] != "fs" && d.key == "key-bob" { // eve's own space has the same address
				d.Errorf("%s of %s: %d %s", call[1], u, code, text)
			}
		}
		_, text := d.call("POST", "/api/v1/search/grep", fmt.Sprintf(`{"uri":%q,"pattern":"."}`, u))
		d.lacks("grep of "+u, strings.ReplaceAll(text, u, ""), "tangerine", "Lisbon")
	}
	_, text := d.call("POST", "/api/v1/search/grep", `{"uri":"viking://","pattern":"tangerine|Lisbon"}`)
	d.lacks("grep of all", text, `"uri"`)
	_, text = d.call("POST", "/api/v1/search/find", `{"query":"vault code tangerine Lisbon","limit":50}`)
	d.lacks("find", text, "tangerine", "Lisbon")
	_, text = d.call("GET", "/api/v1/fs/tree?uri=viking://&level_limit=6", "")
	d.lacks("tree", text, "tangerine", "sessions/s")
}

func TestUnsafeIDs(t *testing.T) {
	t.Parallel()
	d := start(t)
	for _, id := range []string{"a%2Fb", "..", "a%20b", "%00", strings.Repeat("x", 129)} {
		code, text := d.call("GET", "/api/v1/sessions/"+id+"?auto_create=true", "")
		if code < 300 || code >= 500 {
			t.Errorf("%s: %d %s", id, code, text)
		}
	}
}
