package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/server/chat"
	"github.com/skald-engine/skald/server/wire"
	"github.com/skald-engine/skald/store/memory"
)

var monday = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// room is a chat with an engine behind it.
type room struct {
	t   *testing.T
	e   *engine.Engine
	c   *chat.Commands
	now time.Time
	n   int
	req skald.Request
}

func newRoom(t *testing.T) *room {
	t.Helper()
	r := &room{t: t, now: monday, req: skald.Request{Identity: skald.DefaultIdentity}}
	e, err := engine.New(memory.New(), engine.Options{Clock: func() time.Time { return r.now }, Recall: time.Minute, Version: "1.2.3"})
	r.must(err)
	r.e, r.c = e, &chat.Commands{Engine: e, Inspector: e}
	r.req.Session.SessionKey = "agent:main:main"
	return r
}

func (r *room) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *room) request() skald.Request {
	q := r.req
	q.Now = r.now.UnixMilli()
	return q
}

func (r *room) message(role, text string, more string) json.RawMessage {
	content, _ := json.Marshal(text)
	if role == "assistant" {
		content = []byte(`[{"type":"text","text":` + string(content) + `}]`)
	}
	return json.RawMessage(fmt.Sprintf(`{"role":%q,"content":%s,"timestamp":%d%s}`, role, content, r.now.UnixMilli(), more))
}

// exchange is one turn of the host: assemble unless it went past the engine, then commitTurn.
func (r *room) exchange(prompt, answer, usage string, served bool) {
	r.t.Helper()
	r.now = r.now.Add(time.Minute)
	r.n++
	if served {
		_, err := r.e.Assemble(r.t.Context(), skald.AssembleRequest{Request: r.request(), Prompt: prompt, TokenBudget: 20_000, MessageCount: 2 * (r.n - 1)})
		r.must(err)
	}
	_, err := r.e.CommitTurn(r.t.Context(), skald.CommitTurnRequest{Request: r.request(), AdvancementKey: fmt.Sprint(r.req.Session.SessionKey, r.n),
		Messages: []json.RawMessage{r.message("user", prompt, ""), r.message("assistant", answer, usage)}})
	r.must(err)
}

func (r *room) commit() {
	r.t.Helper()
	_, err := r.e.Commit(r.t.Context(), skald.DefaultIdentity, r.req.Session.SessionKey, true)
	r.must(err)
	r.must(r.e.RunJobs(r.t.Context()))
}

func (r *room) say(line string, change ...func(*wire.CommandRequest)) wire.CommandAnswer {
	r.t.Helper()
	q := wire.CommandRequest{Request: r.request(), Line: line, Owner: true}
	for _, c := range change {
		c(&q)
	}
	a, err := r.c.Run(r.t.Context(), q)
	r.must(err)
	for _, l := range strings.Split(a.Text, "\n") {
		if len(l) > 300 || strings.Contains(l, "\t") || strings.Contains(l, "|") {
			r.t.Errorf("not for a chat: %q", l)
		}
	}
	return a
}

func (r *room) holds(a wire.CommandAnswer, parts ...string) {
	r.t.Helper()
	for _, p := range parts {
		if !strings.Contains(a.Text, p) {
			r.t.Errorf("no %q in:\n%s", p, a.Text)
		}
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	for _, line := range []string{"", "  ", "help"} {
		if a := r.say(line); a.IsError {
			t.Errorf("%q: %+v", line, a)
		} else {
			r.holds(a, "/skald status", "/skald why", "/skald forget", "/skald compact")
		}
	}
	if a := r.say("frobnicate now"); !a.IsError {
		t.Error("an unknown word is no error")
	} else {
		r.holds(a, "There is no /skald frobnicate.", "/skald status")
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.holds(r.say("status"), "Skald 1.2.3", "This session: nothing is stored of it yet.", "In all: 0 sessions, 0 turns, 0 memories")
	r.exchange("I prefer the green harbour tea of Lofoten.", "Noted.", "", true)
	a := r.say("status")
	r.holds(a, "This session: 2 turns since 2 Mar 2026", "0 archives, 2 not archived yet", "stored just now", "1 session, 2 turns", "was given with Skald's context")
	r.commit()
	r.now = r.now.Add(3 * time.Hour)
	r.holds(r.say("STATUS"), "1 archive, 0 not archived yet", "3 hours ago", "1 memory")
	a = r.say("status", func(q *wire.CommandRequest) {
		q.Host = wire.HostState{Name: "OpenClaw 2026.9.6", Plugin: "0.9", Protocol: 2}
	})
	r.holds(a, "Versions: Skald 1.2.3, plugin 0.9, OpenClaw 2026.9.6, protocol 1 and 2.")
	var details struct{ Served bool }
	if err := json.Unmarshal(a.Details, &details); err != nil || !details.Served {
		t.Errorf("details %s, %v", a.Details, err)
	}
}

// Whether the engine really served the last answer: it is seen in the store, and told by the host.
func TestStatusTellsOfABypass(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.exchange("one", "1", "", true)
	r.exchange("two", "2", "", false)
	r.holds(r.say("status"), "NOT given with Skald's context")
	r.exchange("three", "3", "", true)
	r.holds(r.say("status"), "was given with Skald's context")
	r.holds(r.say("status", func(q *wire.CommandRequest) { q.Host = wire.HostState{Missed: 2, Reason: "another runtime"} }),
		"NOT served by Skald: the last 2 answers (another runtime)")
	r.holds(r.say("status", func(q *wire.CommandRequest) { q.Host = wire.HostState{Slot: "the slot is taken"} }), "not in use here: the slot is taken.")

	other := r.request()
	other.Session = skald.SessionAddress{SessionKey: "agent:main:other"}
	for range 2 {
		r.must(r.e.Event(t.Context(), skald.EventRequest{Request: other, Event: "bypassed", Reason: "a CLI ran it"}))
	}
	r.holds(r.say("status"), "Bypassed: session ", "2 turns (a CLI ran it)")
	st, err := r.e.Status(t.Context(), skald.DefaultIdentity)
	r.must(err)
	if len(st.Bypassed) != 1 || st.Bypassed[0].Turns != 2 || st.Bypassed[0].Since.IsZero() {
		t.Errorf("%+v", st.Bypassed)
	}
	if st, err := r.e.Status(t.Context(), skald.Identity{Account: "a", User: "b", Agent: "main"}); err != nil || len(st.Bypassed) > 0 {
		t.Errorf("another user sees %+v, %v", st.Bypassed, err)
	}
	r.req.Session.SessionKey = "agent:main:other"
	r.exchange("back", "yes", "", true)
	if a := r.say("status"); strings.Contains(a.Text, "Bypassed") {
		t.Errorf("it has ended:\n%s", a.Text)
	}
}

func TestWhy(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.holds(r.say("why"), "has not made a context for this session yet")
	r.exchange("I prefer the green harbour tea of Lofoten.", "Noted.", "", true)
	r.commit()
	r.req.Session.SessionKey = "agent:main:next"
	r.exchange("Which tea do I prefer?", "The green harbour tea.", `,"usage":{"input":100,"cacheRead":1900,"cacheWrite":0}`, true)
	a := r.say("why")
	r.holds(a, "of the 20,000 it may have", "Notes and summaries", "no earlier turns, recalls ", `Recalled for "Which tea`, "1. 1.", "Lofoten", "viking://",
		"read 1,900 of 2,000 input tokens from its cache (95 %)")
	var w struct {
		Explanation skald.Explanation `json:"explanation"`
		Raw         int               `json:"raw_tokens"`
		Recalls     int               `json:"recalls_tokens"`
	}
	r.must(json.Unmarshal(a.Details, &w))
	if e := w.Explanation; e.Tokens != e.Head+w.Raw+w.Recalls || w.Recalls < e.Recall.Tokens || e.Recall.Tokens == 0 {
		t.Errorf("the parts do not add up: %+v", w)
	}
	r.exchange("hello", "hi", "", true)
	r.exchange("hello", "hi", "", true)
	r.holds(r.say("why"), "Nothing was recalled", "as they were said", "from the provider's cache (estimate)")
}

func TestForget(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.exchange("I prefer the green harbour tea of Lofoten.", "Noted.", "", true)
	r.exchange("I prefer rye bread from Bergen.", "Noted.", "", true)
	r.commit()
	stranger := func(q *wire.CommandRequest) { q.Owner = false }
	if a := r.say("forget harbour tea", stranger); !a.IsError || strings.Contains(a.Text, "Lofoten") {
		t.Errorf("a stranger gets %+v", a)
	}
	r.holds(r.say("forget"), "Say what to forget")
	r.holds(r.say("forget 1"), "no such number")
	r.holds(r.say("forget --yes"), "see what would be forgotten")
	r.holds(r.say("forget a purple submarine"), "nothing to forget")
	a := r.say("forget harbour tea of Lofoten")
	r.holds(a, "1. ", "Lofoten", "viking://", "the conversation itself stays")
	if n := r.memories(); n != 2 {
		t.Fatalf("%d memories before anything was forgotten", n)
	}
	r.holds(r.say("forget 9"), "no such number")
	r.holds(r.say("forget 1"), "Forgotten: viking://", "can still be read by uri")
	if n := r.memories(); n != 1 {
		t.Errorf("%d memories are left", n)
	}
	r.holds(r.say("forget 1"), "no such number") // the list is over
	turns, err := r.e.ListTurns(t.Context(), skald.DefaultIdentity, r.req.Session.SessionKey, 0, 0)
	r.must(err)
	if len(turns) != 4 || !strings.Contains(string(turns[0].Raw), "Lofoten") {
		t.Errorf("the turns do not stay: %d", len(turns))
	}
	if a := r.say("forget viking://user/default/memories/preferences/none.md"); !a.IsError {
		t.Errorf("what does not exist was forgotten: %+v", a)
	}
	r.holds(r.say("forget rye bread from Bergen"), "/skald forget --yes")
	r.holds(r.say("forget --yes"), "Forgotten: ")
	if n := r.memories(); n != 0 {
		t.Errorf("%d memories are left", n)
	}
}

func (r *room) memories() (n int) {
	r.t.Helper()
	files, err := r.e.List(r.t.Context(), skald.DefaultIdentity, "viking://user/memories", 6)
	r.must(err)
	for _, f := range files {
		if !f.Dir {
			n++
		}
	}
	return n
}

// A list belongs to the chat in which it was shown.
func TestForgetListsAreApart(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.exchange("I prefer the green harbour tea of Lofoten.", "Noted.", "", true)
	r.commit()
	r.holds(r.say("forget harbour tea"), "Lofoten")
	r.holds(r.say("forget 1", func(q *wire.CommandRequest) { q.Session.SessionKey = "agent:main:elsewhere" }), "no such number")
	r.holds(r.say("forget 1", func(q *wire.CommandRequest) { q.Identity = skald.Identity{Account: "a", User: "b", Agent: "main"} }), "no such number")
}

func TestCompact(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.holds(r.say("compact"), "Nothing changed: nothing is stored for this session")
	for i := range 12 {
		r.exchange(fmt.Sprintf("Question %d about the slate quarry. %s", i, strings.Repeat("Much was said. ", 60)), "Well. "+strings.Repeat("Indeed. ", 60), "", true)
	}
	a := r.say("compact keep the names")
	r.holds(a, "Compacted: the model's view goes from ", " tokens with the next message.", "every turn stays stored")
	var res skald.CompactResult
	r.must(json.Unmarshal(a.Details, &res))
	if res.TokensAfter >= res.TokensBefore || res.Checkpoint == nil {
		t.Errorf("%+v", res)
	}
}

// broken fails in every call.
type broken struct{ *engine.Engine }

func (broken) Status(context.Context, skald.Identity) (skald.Status, error) {
	return skald.Status{}, skald.E("status", skald.KindUnavailable, "the disk is full")
}

func TestAFaultIsNoAnswer(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.c.Inspector = broken{r.e}
	_, err := r.c.Run(t.Context(), wire.CommandRequest{Request: r.request(), Line: "status"})
	if skald.KindOf(err) != skald.KindUnavailable {
		t.Errorf("%v", err)
	}
	_, err = r.c.Run(t.Context(), wire.CommandRequest{Line: "status"})
	var e *skald.Error
	if !errors.As(err, &e) || e.Field != "session.session_id" {
		t.Errorf("without a session: %v", err)
	}
}
