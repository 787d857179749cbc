package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/store/memory"
	"github.com/skald-engine/skald/store/sqlite"
)

func (h *host) afterTurn(count int, messages ...json.RawMessage) skald.CommitTurnResult {
	h.t.Helper()
	out, err := h.e.AfterTurn(context.Background(), skald.AfterTurnRequest{Request: h.request(), Messages: messages, PrePromptMessageCount: count})
	h.must(err)
	return out
}

func (h *host) ingest(messages ...json.RawMessage) skald.CommitTurnResult {
	h.t.Helper()
	out, err := h.e.Ingest(context.Background(), skald.IngestRequest{Request: h.request(), Messages: messages})
	h.must(err)
	return out
}

// transcript delivers entries with ids e<from>, e<from+1>, …
func (h *host) transcript(from int, messages ...json.RawMessage) skald.ReconcileResult {
	h.t.Helper()
	return h.reconcile(false, from, messages...)
}

func (h *host) reconcile(reset bool, from int, messages ...json.RawMessage) skald.ReconcileResult {
	h.t.Helper()
	r := skald.ReconcileRequest{Request: h.request(), Reset: reset, Cursor: json.RawMessage(fmt.Sprintf(`{"at":%d}`, from+len(messages)))}
	for i, m := range messages {
		position := int64(from + i)
		r.Entries = append(r.Entries, skald.Entry{EntryID: fmt.Sprintf("e%d", from+i), Position: &position, Message: m})
	}
	out, err := h.e.Reconcile(context.Background(), r)
	h.must(err)
	return out
}

func TestCAP01DurableHost(t *testing.T) {
	h := newHost(t)
	u, a := h.user("my cat is called Miro"), h.reply("noted")
	first, err := h.tryCommit("k1", u, a)
	h.must(err)
	if first.Status != "committed" || first.Stored != 2 || first.From != 1 || first.To != 2 {
		t.Fatal(first)
	}
	again, err := h.tryCommit("k1", u, a)
	h.must(err)
	if again.Status != "duplicate" || again.Stored != 0 || again.From != 1 || again.To != 2 {
		t.Fatal(again)
	}
	for i, turn := range h.turns() {
		if string(turn.Raw) != string([]json.RawMessage{u, a}[i]) {
			t.Fatalf("not byte for byte: %s", turn.Raw)
		}
	}
	h.verify()
}

func TestCAP01BothCalls(t *testing.T) {
	for _, order := range []string{"commit first", "after first"} {
		t.Run(order, func(t *testing.T) {
			h := newHost(t)
			var list []json.RawMessage
			for i := range 4 {
				n := len(list)
				// no timestamps: every exchange is equal, and a genuine repeat
				list = append(list, host1("user", "ok", 0, nil), host1("assistant", "fine", 0, nil))
				commit := func() {
					if _, err := h.tryCommit(fmt.Sprint("k", i), list[n:]...); err != nil {
						t.Fatal(err)
					}
				}
				if order == "commit first" {
					commit()
				}
				h.afterTurn(n, list...)
				h.afterTurn(n, list...) // repeated
				if order == "after first" {
					commit()
				}
			}
			if got := len(h.turns()); got != 8 {
				t.Fatalf("%d turns: %q", got, h.texts())
			}
			h.verify()
		})
	}
}

func TestCAP01RefusedWrite(t *testing.T) {
	for name, open := range map[string]func() skald.Store{"memory": memory.New, "sqlite": func() skald.Store {
		s, err := sqlite.Open(context.Background(), t.TempDir(), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}} {
		t.Run(name, func(t *testing.T) {
			w := &wrapped{Store: open()}
			h := newHostOver(t, w)
			w.failing(1)
			u, a := h.user("hi there Miro"), h.reply("hello")
			if _, err := h.tryCommit("k1", u, a); err == nil {
				t.Fatal("acknowledged")
			}
			if len(h.turns()) != 0 {
				t.Fatal("half stored")
			}
			if f := h.status().Faults; len(f) != 1 || f[0].Op != "write" {
				t.Fatal(f)
			}
			got, err := h.tryCommit("k1", u, a)
			h.must(err)
			if got.Stored != 2 || len(h.turns()) != 2 {
				t.Fatal(got)
			}
			h.verify()
		})
	}
}

func TestCAP02CountPastThePrompt(t *testing.T) {
	for _, count := range []int{2, 3} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			h := newHost(t)
			list := []json.RawMessage{h.user("old question"), h.reply("old answer"), h.user("I moved to Oslo"), h.reply("Nice!")}
			h.afterTurn(0, list[:2]...)
			h.afterTurn(count, list...)
			equalStrings(t, h.texts(), "old question", "old answer", "I moved to Oslo", "Nice!")
			h.afterTurn(4, list...)
			if len(h.turns()) != 4 {
				t.Fatal("an empty window resurrected something")
			}
		})
	}
}

func TestCAP03InjectedIsNotCaptured(t *testing.T) {
	h := newHost(t)
	h.commit(h.user("Remember that I like tea"), h.reply("ok"))
	h.must(errOf(h.e.Commit(context.Background(), h.identity(), h.id(), true)))
	before := h.memories()
	for range 20 {
		h.commit(h.user("<relevant-memories>- likes tea</relevant-memories>\nWhat is 2+2?"), h.reply("4"))
	}
	h.must(errOf(h.e.Commit(context.Background(), h.identity(), h.id(), true)))
	if after := h.memories(); after != before {
		t.Fatalf("%d memories, then %d", before, after)
	}
	for _, text := range h.texts()[2:] {
		lacks(t, text, "likes tea")
	}
	h.commit(h.user("why does `<relevant-memories>x</relevant-memories>` not render?"), h.reply("…"))
	contains(t, strings.Join(h.texts(), "\n"), "`<relevant-memories>x</relevant-memories>`")
}

func errOf[T any](_ T, err error) error { return err }

func (h *host) memories() (n int) {
	h.t.Helper()
	h.must(h.store.View(context.Background(), func(tx skald.Tx) error {
		list, err := tx.Memories(skald.MemoryQuery{Scopes: skald.Policy{}.Readable(h.identity())})
		n = len(list)
		return err
	}))
	return n
}

// I10, 000-172: on a host that hands the assembled list back, nothing that the engine made is stored.
func TestREQ172AssembledListHandedBack(t *testing.T) {
	h := newHost(t)
	h.commit(h.user("Remember that my boat is called Albatross"), h.reply("ok"))
	h.compactAll()
	other := h.session("agent:main:other")
	out := other.assemble("What is my boat called?")
	contains(t, shownText(out), "Albatross")
	list := append(append([]json.RawMessage{}, out.Messages...), other.user("What is my boat called?"), other.reply("Albatross."))
	other.afterTurn(len(out.Messages), list...)
	equalStrings(t, other.texts(), "What is my boat called?", "Albatross.")
	other.afterTurn(0, list...)
	if len(other.turns()) != 2 {
		t.Fatalf("captured: %q", other.texts())
	}
}

// compactAll commits what is open and runs the jobs.
func (h *host) compactAll() {
	h.t.Helper()
	h.must(errOf(h.e.Commit(context.Background(), h.identity(), h.id(), true)))
}

func TestCAP04SummaryAndKeptOriginal(t *testing.T) {
	h := newHost(t)
	u, a := h.user("delete temp files in /tmp/x"), h.reply("done")
	_, err := h.e.AfterTurn(context.Background(), skald.AfterTurnRequest{Request: h.request(), Messages: []json.RawMessage{
		host1("compactionSummary", nil, h.tick(), map[string]any{"summary": "User asked: delete temp files in /tmp/x"}), u, a},
		AutoCompactionSummary: "User asked: delete temp files in /tmp/x"})
	h.must(err)
	h.list = []json.RawMessage{u, a}
	if n := countText(h.assemble("go on with the next folder"), "delete temp files"); n != 1 {
		t.Fatalf("%d times", n)
	}
}

func TestCAP06DeliveryMirror(t *testing.T) {
	h := newHost(t)
	reasoned := host1("assistant", []any{map[string]any{"type": "thinking", "thinking": "hm"}, map[string]any{"type": "text", "text": "Done."}}, h.tick(), map[string]any{"model": "gpt-5"})
	mirror := host1("assistant", []any{map[string]any{"type": "text", "text": "Done."}}, h.tick(), map[string]any{"provider": "openclaw", "model": "delivery-mirror"})
	list := []json.RawMessage{h.user("do it"), reasoned, mirror, h.user("and this"), h.reply("Done.")}
	h.transcript(1, list...)
	h.transcript(1, list...)
	equalStrings(t, h.texts(), "do it", "Done.", "and this", "Done.")
	contains(t, string(h.turns()[1].Raw), "thinking")
	// the mirror alone, in a later page
	h2 := newHost(t)
	h2.transcript(1, list[:2]...)
	h2.transcript(2, list[1:]...)
	if len(h2.turns()) != 4 {
		t.Fatalf("%q", h2.texts())
	}
}

func TestCAP07NoAlignmentNeeded(t *testing.T) {
	h := newHost(t)
	status := []json.RawMessage{host1("user", "status?", 0, nil), host1("assistant", "ok", 0, nil)}
	h.commit(status...)
	h.commit(host1("custom", "control", 0, map[string]any{"customType": "x"}))
	batch := append(append([]json.RawMessage{}, status...), host1("user", "new: ship on Friday", 0, nil), host1("assistant", "will do", 0, nil))
	h.commit(batch...)
	all := strings.Join(h.texts(), "\n")
	contains(t, all, "ship on Friday")
	contains(t, all, "will do")
	h2 := newHost(t)
	h2.transcript(1, status...)
	h2.transcript(7, batch...)
	contains(t, strings.Join(h2.texts(), "\n"), "ship on Friday")
}

func TestCAP08EqualToolLoop(t *testing.T) {
	h := newHost(t)
	var list []json.RawMessage
	for range 5 {
		list = append(list, host1("assistant", []any{map[string]any{"type": "toolCall", "id": "c", "name": "poll", "arguments": map[string]any{}}}, 0, nil),
			host1("toolResult", "pending", 0, map[string]any{"toolCallId": "c", "toolName": "poll"}))
	}
	for i, m := range list {
		h.transcript(i+1, m)
	}
	h.transcript(1, list...)
	if n := len(h.turns()); n != 10 {
		t.Fatalf("%d entries", n)
	}
	for i, turn := range h.turns() {
		if turn.EntryID != fmt.Sprintf("e%d", i+1) {
			t.Fatalf("turn %d is %s", i+1, turn.EntryID)
		}
	}
	h.verify()
}

func TestCAP09BoundedImport(t *testing.T) {
	h := newHost(t)
	var all []json.RawMessage
	for i := range 1000 {
		all = append(all, host1("user", fmt.Sprint("entry ", i), int64(i+1), nil))
	}
	at := 0
	for turn := range 12 {
		all = append(all, host1("user", fmt.Sprint("live ", turn), int64(5000+turn), nil), host1("assistant", fmt.Sprint("reply ", turn), int64(6000+turn), nil))
		to := min(at+100, len(all))
		h.transcript(at, all[at:to]...)
		at = to
		if s := h.state(); string(s.Cursor) != fmt.Sprintf(`{"at":%d}`, s.LastSeq) {
			t.Fatalf("the cursor %s is not at what is stored, %d", s.Cursor, s.LastSeq)
		}
	}
	if n := len(h.turns()); n != at || n < 1000 {
		t.Fatal(n)
	}
	h.verify()
}

func TestCAP10ErroredTurns(t *testing.T) {
	h := newHost(t)
	h.commit(h.user("hello you"))
	for range 3 {
		h.commit(host1("assistant", []any{}, h.tick(), map[string]any{"stopReason": "error"}))
	}
	h.commit(h.reply("Hello"))
	out := h.assemble("and now?")
	if n := len(rawOnly(out)); n != 2 {
		t.Fatalf("%d messages: %s", n, out.Messages)
	}
	if len(h.turns()) != 5 {
		t.Fatal("the errored turns are not stored")
	}
}

func TestCAP11Heartbeats(t *testing.T) {
	h := newHost(t)
	for i := range 10 {
		text := "[heartbeat poll] read HEARTBEAT.md"
		if i == 4 {
			text = "[exec finished: backup 17]\n" + text
		}
		h.assemble(text)
		_, err := h.e.CommitTurn(context.Background(), skald.CommitTurnRequest{Request: h.request(), AdvancementKey: h.nextKey(), Heartbeat: true,
			Messages: []json.RawMessage{h.user(text), h.reply("HEARTBEAT_OK")}})
		h.must(err)
	}
	_, err := h.e.CommitTurn(context.Background(), skald.CommitTurnRequest{Request: h.request(), AdvancementKey: h.nextKey(), Heartbeat: true,
		Messages: []json.RawMessage{h.user("[heartbeat poll] read HEARTBEAT.md"), h.reply("HEARTBEAT_OK - disk at 91%, please look")}})
	h.must(err)
	if s := h.state(); s.OpenTokens != 0 || s.OpenUserTurns != 0 {
		t.Fatalf("heartbeats count: %+v", s)
	}
	*h.now = h.now.Add(24 * time.Hour)
	if n, err := h.e.Sweep(context.Background(), *h.now); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	h.compactAll()
	if h.memories() != 0 {
		t.Fatal("memories of heartbeats")
	}
	lacks(t, h.find("HEARTBEAT.md backup poll"), "read HEARTBEAT")
	contains(t, h.find("disk 91%"), "please look")
	h.list = make([]json.RawMessage, 22)
	contains(t, shownText(h.assemble("what was that about the disk?")), "HEARTBEAT_OK - disk")
}

func TestCAP13RedactedForm(t *testing.T) {
	h := newHost(t)
	u := h.user("deploy")
	call := h.call("c1", "run", map[string]any{"cmd": "deploy"})
	live, done := h.result("c1", "run", "token=abc123"), h.reply("done")
	h.commit(u, call, live, done)
	redacted := host1("toolResult", "token=***", h.now.UnixMilli(), map[string]any{"toolCallId": "c_1", "toolName": "run"})
	h.transcript(1, u, call, redacted, done)
	h.transcript(1, u, call, redacted, done)
	if n := len(h.turns()); n != 4 {
		t.Fatalf("%d rows: %q", n, h.texts())
	}
	if h.turns()[2].EntryID != "e3" {
		t.Fatal("the row does not know its entry")
	}
	h.verify()
}

func TestCAP14SinkThrows(t *testing.T) {
	h := newHost(t, func(o *engine.Options) { o.Metrics = badSink{} })
	h.say("The vault code is PELICAN", "ok")
	contains(t, h.find("PELICAN"), "PELICAN")
}

type badSink struct{}

func (badSink) Count(string, int)             { panic("sink") }
func (badSink) Observe(string, time.Duration) { panic("sink") }

func TestREQ160Envelope(t *testing.T) {
	h := newHost(t)
	other := h.session("agent:main:before")
	other.say("The vault code is PELICAN-77", "noted")
	h.assemble("what is the vault code?")
	h.commit(h.user("what is the vault code?"), h.call("c1", "lookup", map[string]any{"q": "vault"}), h.result("c1", "lookup", "PELICAN-77"), h.reply("PELICAN-77"))
	list := h.turns()
	roles := []skald.Role{"user", "assistant", "tool", "assistant"}
	for i, turn := range list {
		e := turn.Envelope
		if e.Role != roles[i] || e.Sequence != int64(i+1) || e.SessionID != h.id() || e.TurnID == "" || e.Timestamp == "" || len(e.Parts) == 0 ||
			e.UsedSkills == nil || e.ToolCalls == nil || e.ToolResults == nil {
			t.Fatalf("%+v", e)
		}
	}
	if e := list[1].Envelope; len(e.ToolCalls) != 1 || e.ToolCalls[0].ToolName != "lookup" {
		t.Fatalf("%+v", e)
	}
	if e := list[2].Envelope; len(e.ToolResults) != 1 || e.Parts[0].Type != "tool_result" {
		t.Fatalf("%+v", e)
	}
	if len(list[0].Envelope.UsedContextURIs) == 0 {
		t.Fatal("the packet's uris are not linked")
	}
}

func TestAutoCaptureOff(t *testing.T) {
	off := false
	h := newHost(t)
	h.req.Settings.AutoCapture = &off
	if out := h.commit(h.user("secret"), h.reply("ok")); out.Status != "committed" || out.Reason != "auto_capture_off" || out.Stored != 0 {
		t.Fatal(out)
	}
	h.afterTurn(0, h.user("secret"))
	h.ingest(h.user("secret"))
	h.assemble("x y z", func(r *skald.AssembleRequest) { r.Tail, r.MessageCount = []json.RawMessage{h.user("secret")}, 1 })
	h.compact(func(r *skald.CompactRequest) { r.Tail = []json.RawMessage{h.user("secret")} })
	h.transcript(1, h.user("secret"))
	if len(h.turns()) != 0 {
		t.Fatalf("stored: %q", h.texts())
	}
	if h.status().CaptureOff != 4 {
		t.Fatal(h.status().CaptureOff)
	}
	h.req.Settings.AutoCapture = nil
	boot, err := h.e.Bootstrap(context.Background(), skald.BootstrapRequest{Request: h.request()})
	h.must(err)
	if string(boot.Cursor) != `{"at":2}` {
		t.Fatalf("the cursor stayed at %s: what was said while opted out would be imported", boot.Cursor)
	}
}

func TestDeadLetter(t *testing.T) {
	h := newHost(t, func(o *engine.Options) { o.MaxMessage = 1000 })
	huge := h.user(strings.Repeat("x", 2000))
	for range 2 {
		out, err := h.tryCommit("k1", huge, h.reply("ok"))
		h.must(err)
		if out.Status == "committed" && out.Reason != "dead_letter" {
			t.Fatal(out)
		}
	}
	h.afterTurn(0, h.user(strings.Repeat("y", 2000)))
	if h.status().DeadLetters != 2 || len(h.turns()) != 1 {
		t.Fatal(h.status().DeadLetters, h.texts())
	}
}

func TestCON03SameMoment(t *testing.T) {
	h := newHost(t)
	u, a := h.user("remember X"), h.reply("ok")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			r := skald.CommitTurnRequest{Request: h.request(), AdvancementKey: "same", Messages: []json.RawMessage{u, a}}
			if _, err := h.e.CommitTurn(context.Background(), r); err != nil {
				t.Error(err)
			}
			r.AdvancementKey = fmt.Sprint("own", i)
			r.Messages = []json.RawMessage{host1("user", fmt.Sprint("first of ", i), int64(i+1), nil)}
			if _, err := h.e.CommitTurn(context.Background(), r); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(h.turns()); n != 10 {
		t.Fatalf("%d turns: %q", n, h.texts())
	}
	h.verify()
	one := map[string]any{"text": "I prefer dark mode"}
	for range 4 {
		wg.Go(func() { h.tool("memory_store", one) })
	}
	wg.Wait()
	if h.memories() != 1 {
		t.Fatal(h.memories())
	}
}

func TestCRS04FailedReconcile(t *testing.T) {
	w := &wrapped{Store: memory.New()}
	h := newHostOver(t, w)
	list := []json.RawMessage{h.user("one"), h.reply("two"), h.user("three"), h.reply("four")}
	h.transcript(1, list[:2]...)
	w.failing(1)
	position := int64(3)
	if _, err := h.e.Reconcile(context.Background(), skald.ReconcileRequest{Request: h.request(), Cursor: json.RawMessage(`{"at":5}`),
		Entries: []skald.Entry{{EntryID: "e3", Position: &position, Message: list[2]}}}); err == nil {
		t.Fatal("no error")
	}
	if s := h.state(); s.LastSeq != 2 || string(s.Cursor) != `{"at":3}` {
		t.Fatalf("advanced: %s", s.Cursor)
	}
	h.transcript(3, list[2:]...)
	equalStrings(t, h.texts(), "one", "two", "three", "four")
}

func TestCRS05TranscriptWrittenAnew(t *testing.T) {
	h := newHost(t)
	list := []json.RawMessage{h.user("one"), h.reply("ok"), h.user("two"), h.reply("ok")}
	h.transcript(1, list...)
	rewritten := append(append([]json.RawMessage{}, list[2:]...), h.user("three"), h.reply("new"))
	h.reconcile(true, 101, rewritten...)
	equalStrings(t, h.texts(), "one", "ok", "two", "ok", "three", "new")
	if h.turns()[2].EntryID != "e101" {
		t.Fatal("the new entry id is not known: ", h.turns()[2].EntryID)
	}
	h.verify()
}

func TestViewIsReplacedByTheOriginal(t *testing.T) {
	h := newHost(t)
	owner := map[string]any{"__openclaw": map[string]any{"senderIsOwner": false, "senderName": "Kim"}}
	ts := h.tick()
	h.assemble("go", func(r *skald.AssembleRequest) {
		r.MessageCount, r.Tail = 1, []json.RawMessage{host1("user", "seen first", ts, nil)}
	})
	if l := h.turns(); len(l) != 1 || l[0].Source != skald.SourceView || l[0].Origin != skald.OriginOwner {
		t.Fatalf("%+v", l)
	}
	original := host1("user", "seen first", ts, owner)
	h.transcript(1, original)
	l := h.turns()
	if len(l) != 1 || l[0].Source != skald.SourceHost || string(l[0].Raw) != string(original) || l[0].Origin != skald.OriginPerson || l[0].EntryID != "e1" {
		t.Fatalf("%+v", l)
	}
	h.verify()
}

func TestNothingIsRefused(t *testing.T) {
	h := newHost(t)
	odd := []json.RawMessage{
		json.RawMessage(`{"role":"bashExecution","command":"ls","output":"a\nb","timestamp":1}`),
		json.RawMessage(`{"role":"custom","customType":"note","content":"x","timestamp":2}`),
		json.RawMessage(`{"role":"user","content":[{"type":"hologram","data":"?"}],"timestamp":3}`),
		json.RawMessage(`"just text"`), json.RawMessage(`not json at all`), json.RawMessage(`{"role":"user","content":"\ud800 broken","timestamp":4}`),
		json.RawMessage("{\"role\":\"user\",\"content\":\"nul \\u0000 and \xff\xfe\",\"timestamp\":5}"), json.RawMessage(`{}`), json.RawMessage(`[]`),
	}
	h.commit(odd...)
	for i, turn := range h.turns() {
		if string(turn.Raw) != string(odd[i]) {
			t.Fatalf("%q became %q", odd[i], turn.Raw)
		}
	}
	valid(t, h.assemble("and?"), h.budget)
	h.compact()
	h.verify()
	_ = message.RoleUser
}

// The write path over the durable store, byte for byte and once.
func TestWritePathSQLite(t *testing.T) {
	s, err := sqlite.Open(context.Background(), t.TempDir(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	h := newHostOver(t, s)
	list := []json.RawMessage{h.user("one"), h.call("c1", "run", map[string]any{"a": 1}), h.result("c1", "run", "two"), h.reply("three")}
	h.commit(list...)
	h.afterTurn(0, list...)
	h.transcript(1, list...)
	h.transcript(1, list...)
	if n := len(h.turns()); n != 4 {
		t.Fatalf("%d turns", n)
	}
	h.compactAll()
	valid(t, h.assemble("next one please"), h.budget)
	h.verify()
}
