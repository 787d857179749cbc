package backend_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	skald "github.com/skald-engine/skald"
)

// DELETE is complete: nothing of the session's words is found, listed or read, while its memories stay and say what they came from.
func TestDeleteIsComplete(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.say("s", "user", "My favourite colour is vermilion. We decided to use Zanzibar as the release name.")
	d.say("s", "assistant", "Noted: quagga.")
	task := d.commit("s", "")["task_id"].(string)
	d.jobs()
	d.say("s", "user", "an open remark about okapis")
	memory := firstMemory(d)
	d.same("deleted", ask[object](d, "DELETE", "/api/v1/sessions/s", "")["session_id"], "s")

	text := d.fails(404, "GET", "/api/v1/sessions/s", "")
	d.has("receipt", text, "Session s not found: deleted on 2026-03-02", "3 turns")
	for _, path := range []string{"sessions/s/context", "sessions/s/archives/archive_001", "tasks/" + task, "sessions/s/tool-results"} {
		d.fails(404, "GET", "/api/v1/"+path, "")
	}
	d.fails(404, "DELETE", "/api/v1/sessions/s", "")
	d.same("listed", ask[[]any](d, "GET", "/api/v1/sessions", ""), []any{})
	for _, word := range []string{"quagga", "okapis"} {
		_, found := d.call("POST", "/api/v1/search/find", fmt.Sprintf(`{"query":%q}`, word))
		d.lacks("find", found, word)
		_, lines := d.call("POST", "/api/v1/search/grep", fmt.Sprintf(`{"uri":"viking://","pattern":%q}`, word))
		d.lacks("grep", lines, `"uri"`)
	}

	d.has("memory", ask[string](d, "GET", "/api/v1/content/read?raw=true&uri="+memory, ""), "deleted on 2026-03-02")
	x, err := d.engine.Expand(context.Background(), ann, memory, "", 0)
	if err != nil || len(x.Turns) == 0 || !strings.Contains(x.Turns[0].Text, "deleted on 2026-03-02") {
		t.Errorf("expanded memory: %+v %v", x, err)
	}
	_, err = d.engine.Expand(context.Background(), ann, "viking://user/ann/sessions/s/turns/1", "", 0)
	if skald.KindOf(err) != skald.KindNotFound || !strings.Contains(err.Error(), "deleted on 2026-03-02") {
		t.Errorf("expanded turn: %v", err)
	}
	_, err = d.engine.Explain(context.Background(), ann, "s", 0)
	if err == nil || !strings.Contains(err.Error(), "deleted on") {
		t.Errorf("explained: %v", err)
	}
	if v, err := d.engine.Verify(context.Background(), ann, ""); err != nil || !v.OK {
		t.Errorf("verify: %v %v", v.Problems, err)
	}
}

// Another session may take the id: it is nobody's source.
func TestDeletedIDCanBeTakenAgain(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.say("s", "user", "My favourite colour is vermilion.")
	d.commit("s", "")
	d.jobs()
	memory := firstMemory(d)
	ask[object](d, "DELETE", "/api/v1/sessions/s", "")
	d.same("new", d.say("s", "user", "Something about walruses.")["message_count"], 1)
	x, err := d.engine.Expand(context.Background(), ann, memory, "", 0)
	if err != nil || strings.Contains(fmt.Sprint(x.Turns), "walruses") {
		t.Errorf("%+v %v", x.Turns, err)
	}
	x, err = d.engine.Expand(context.Background(), ann, "viking://user/ann/sessions/s/turns/1", "", 0)
	if err != nil || len(x.Derived) > 0 {
		t.Errorf("derived of the new turn: %v %v", x.Derived, err)
	}
	code, text := d.call("DELETE", "/api/v1/fs?uri="+memory, "")
	d.same("forgotten", code, 200)
	d.lacks("forgetting", text, "error\":{")
	d.has("new turns", d.context("s", "").texts(), "walruses")
}

// A job that runs while its session is deleted ends, and brings nothing back.
func TestDeleteWhileJobWaits(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.talk("s", 1, 4)
	d.commit("s", "")
	ask[object](d, "DELETE", "/api/v1/sessions/s", "")
	d.jobs()
	d.same("tasks", ask[[]any](d, "GET", "/api/v1/tasks", ""), []any{})
	jobs, err := d.engine.ListJobs(context.Background(), ann, true)
	if err != nil || len(jobs) != 0 {
		t.Error(jobs, err)
	}
}

// What another session was shown of a deleted one is taken back.
func TestDeleteEmptiesRecallsElsewhere(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.say("s", "user", "okapis")
	d.say("other", "user", "hello")
	ref := skald.SessionRef{Scope: skald.Policy{}.UserScope(ann), ID: "other"}
	recall := skald.PlacedRecall{AfterSeq: 1, Messages: [][]byte{[]byte(`{"text":"okapis"}`)}, URIs: []string{"viking://user/ann/sessions/s/turns/1"}}
	kept := skald.PlacedRecall{AfterSeq: 2, Messages: [][]byte{[]byte(`{}`)}, URIs: []string{"viking://user/ann/sessions/s2/turns/1"}}
	if err := d.store.Update(t.Context(), func(tx skald.Tx) error {
		quotes := skald.Trace{TurnID: "t1", JSON: []byte(`{"uri":"viking://user/ann/sessions/s/turns/1","text":"okapis"}`)}
		plain := skald.Trace{TurnID: "t2", JSON: []byte(`{"uri":"viking://user/ann/sessions/s2/turns/1"}`)}
		return errors.Join(tx.PutRecall(ref, recall), tx.PutRecall(ref, kept), tx.PutTrace(ref, quotes), tx.PutTrace(ref, plain),
			tx.PutRecord(skald.Record{Scope: ref.Scope, Kind: skald.RecordShown, ID: "s", Body: []byte(`{}`)}))
	}); err != nil {
		t.Fatal(err)
	}
	got, err := d.engine.DeleteSession(t.Context(), ann, "s")
	if err != nil || got.Recalls != 1 || got.Turns != 1 {
		t.Fatalf("%+v %v", got, err)
	}
	if err := d.store.View(t.Context(), func(tx skald.Tx) error {
		list, err := tx.Recalls(ref, 0)
		if err != nil || len(list) != 2 || len(list[0].Messages) != 0 || len(list[1].Messages) != 1 {
			t.Errorf("%+v %v", list, err)
		}
		traces, err := tx.Traces(ref, skald.TraceQuery{})
		if err != nil || len(traces) != 1 || traces[0].TurnID != "t2" {
			t.Errorf("traces: %+v %v", traces, err)
		}
		if _, err := tx.Record(ref.Scope, skald.RecordShown, "s"); skald.KindOf(err) != skald.KindNotFound {
			t.Errorf("the record of what it was shown is there: %v", err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// firstMemory is the URI of some memory.
func firstMemory(d daemon) string {
	d.Helper()
	for _, f := range ask[[]object](d, "GET", "/api/v1/fs/ls?recursive=true&uri=viking://~/memories", "") {
		if f["isDir"] != true {
			return f["uri"].(string)
		}
	}
	d.Fatal("no memory")
	return ""
}

// later moves the daemon's clock.
func (d daemon) later(by time.Duration) { *d.clock = d.clock.Add(by) }
