package hook

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/claudecode"
)

// A turn with a tool call is stored as it was said; what hooks and host put beside it is not.
func TestCaptureOfATurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := firstSession
	w.write(s, "file-history-snapshot", map[string]any{"uuid": ""})
	w.user(s, "Our heron sanctuary opens at 5:44.")
	w.write(s, "attachment", map[string]any{"attachment": map[string]any{"type": "hook_additional_context", "hookEvent": "UserPromptSubmit",
		"content": []string{wrap("[skald] Looked up: the plover secret")}}})
	w.write(s, "system", map[string]any{"subtype": "hook_success", "content": ""})
	w.reply(s, "msg_1", map[string]any{"type": "thinking", "thinking": "", "signature": "x"})
	w.reply(s, "msg_1", map[string]any{"type": "tool_use", "id": "t1", "name": "Grep", "input": map[string]any{"pattern": "heron"}})
	w.write(s, "user", map[string]any{"message": map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": "t1", "content": "gate.md"}}}})
	w.reply(s, "msg_2", text("Noted: 5:44."))
	w.fire("Stop")
	want := []string{
		`user: "Our heron sanctuary opens at 5:44."`,
		`assistant: [{"type":"toolCall","id":"t1","name":"Grep","arguments":{"pattern":"heron"}}]`,
		`toolResult Grep: [{"type":"text","text":"gate.md"}]`,
		`assistant: [{"type":"text","text":"Noted: 5:44."}]`,
	}
	if diff := cmp.Diff(want, w.turns(s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.fire("Stop")
	w.fire("SessionEnd")
	if diff := cmp.Diff(want, w.turns(s)); diff != "" {
		t.Errorf("after the same again:\n%s", diff)
	}
}

// A version of the host that writes what a hook said into the user's message does not make it the user's words (I10).
func TestInjectedTextIsNotCaptured(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(firstSession, wrap("the plover secret")+"\nWhere do the herons nest?")
	w.reply(firstSession, "msg_1", text("In the tower."))
	w.fire("Stop", says("In the tower."))
	for _, turn := range w.turns(firstSession) {
		if strings.HasPrefix(turn, "user:") && turn != `user: "Where do the herons nest?"` {
			t.Errorf("captured as said: %s", turn)
		}
	}
	found, err := w.e.Find(t.Context(), skald.DefaultIdentity, skald.FindQuery{Query: "plover secret", Kinds: []skald.DocKind{skald.DocMemory}})
	if err != nil || len(found.Hits) > 0 {
		t.Errorf("a memory was made of it: %+v %v", found.Hits, err)
	}
}

// The host writes behind the conversation. What is not there yet comes with the next hook, and half a reply is never stored for the whole.
func TestLateTranscript(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := firstSession
	w.user(s, "Count the herons.")
	w.reply(s, "msg_1", text("I count."))
	w.fire("Stop", says("I count. There are nine."))
	if got := w.turns(s); len(got) != 1 {
		t.Fatalf("half a reply was stored: %q", got)
	}
	w.reply(s, "msg_1", text("There are nine."))
	w.user(s, "And the plovers?")
	w.reply(s, "msg_2", text("Two."))
	w.fire("Stop", says("Two."))
	want := []string{`user: "Count the herons."`, `assistant: [{"type":"text","text":"I count."},{"type":"text","text":"There are nine."}]`,
		`user: "And the plovers?"`, `assistant: [{"type":"text","text":"Two."}]`}
	if diff := cmp.Diff(want, w.turns(s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The reply arrives while the hook waits for it.
func TestReplyArrivesMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(firstSession, "Count the herons.")
	looks := 0
	w.h.Engine = watched{w.e, func() {
		if looks++; looks == 2 {
			w.reply(firstSession, "msg_1", text("Nine."))
		}
	}}
	w.h.limits.late = time.Minute
	w.fire("Stop", says("Nine."))
	if got := w.turns(firstSession); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

// watched calls back before each look at the store.
type watched struct {
	skald.Engine
	before func()
}

func (w watched) Bootstrap(ctx context.Context, r skald.BootstrapRequest) (skald.BootstrapResult, error) {
	w.before()
	return w.Engine.Bootstrap(ctx, r)
}

// An import finds nothing new in what the hooks captured, and the hooks nothing new in what was imported.
func TestImportAndHooksRecogniseEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	talk := func(n string) {
		w.user(firstSession, "Question "+n)
		w.reply(firstSession, "msg_"+n, text("Answer "+n))
	}
	bringIn := func() int {
		t.Helper()
		source, err := claudecode.Open(t.Context(), []string{w.dir}, ingest.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		report, err := ingest.Import(t.Context(), w.e, w.e, source, ingest.Options{Identity: skald.DefaultIdentity})
		if err != nil {
			t.Fatal(err)
		}
		return report.Imported
	}
	talk("1")
	w.fire("Stop", says("Answer 1"))
	if n := bringIn(); n != 0 {
		t.Errorf("the import stored %d messages again", n)
	}
	talk("2")
	if n := bringIn(); n != 2 {
		t.Errorf("the import stored %d messages, want 2", n)
	}
	talk("3")
	w.fire("Stop", says("Answer 3")) // behind an import's cursor: the file is read from the start
	if got := w.turns(firstSession); len(got) != 6 {
		t.Errorf("%d turns: %q", len(got), got)
	}
}

// The second hook of a session reads from the newest exchange on, not the whole file.
func TestCursor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, n := range []string{"1", "2", "3"} {
		w.user(firstSession, "Question "+n)
		w.reply(firstSession, "msg_"+n, text("Answer "+n))
		w.fire("Stop", says("Answer "+n))
	}
	b, err := w.e.Bootstrap(t.Context(), skald.BootstrapRequest{Request: skald.Request{Session: skald.SessionAddress{SessionID: firstSession}}})
	if err != nil {
		t.Fatal(err)
	}
	offset := readCursor(b.Cursor, w.path(firstSession))
	c, err := claudecode.Tail(w.path(firstSession), offset, ingest.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for item, err := range c.Items {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(item.Entry.Message))
	}
	if len(got) != 2 || !strings.Contains(got[0], "Question 3") {
		t.Errorf("from byte %d: %q", offset, got)
	}
	if got := w.turns(firstSession); len(got) != 6 {
		t.Errorf("%q", got)
	}
}

// A sub-agent's transcript becomes a session of its own: what it was told is not the user's word.
func TestSubagent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(firstSession, "Find the nests.")
	main := w.path(firstSession)
	log := w.input("SubagentStop").SubagentLog
	w.append(log, []byte(`{"type":"user","uuid":"u1","sessionId":"`+firstSession+`","agentId":"a1b2c3","isSidechain":true,"timestamp":"2026-03-02T09:00:01Z","message":{"role":"user","content":"Look for nests"}}
{"type":"assistant","uuid":"u2","sessionId":"`+firstSession+`","agentId":"a1b2c3","isSidechain":true,"timestamp":"2026-03-02T09:00:02Z","message":{"id":"m1","role":"assistant","model":"claude","content":[{"type":"text","text":"There are nine nests."}]}}
`))
	w.fire("SubagentStop")
	w.fire("SessionEnd", func(in *Input) { in.Transcript = main })
	list, err := w.e.ListSessions(t.Context(), skald.DefaultIdentity, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := map[skald.Audience]int64{}
	for _, s := range list {
		got[s.Audience] += s.Turns
	}
	if want := map[skald.Audience]int64{skald.AudienceDirect: 1, skald.AudienceSubagent: 2}; !cmp.Equal(got, want) {
		t.Errorf("turns by audience: %v", got)
	}
}

// A file that is not there, one that is cut off, and one that became shorter do no harm.
func TestOddTranscripts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fire("SessionEnd")
	w.user(firstSession, "One long question about herons.")
	w.append(w.path(firstSession), []byte("not JSON\n{\"type\":\"user\",\"uuid\":\"half"))
	w.fire("SessionEnd")
	if got := w.turns(firstSession); len(got) != 1 {
		t.Fatalf("%q", got)
	}
	w.dir = t.TempDir()
	w.user(firstSession, "Two.")
	w.fire("SessionEnd")
	if got := w.turns(firstSession); len(got) != 2 {
		t.Errorf("%q", got)
	}
}
