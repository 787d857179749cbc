package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/store/memory"
)

// 000-044 to 000-048: each trigger alone, and their order.
func TestREQ044Triggers(t *testing.T) {
	half, tokens := 0.5, 4000
	for _, c := range []struct {
		name, cause string
		play        func(h *host)
	}{
		{"000-044 budget", "budget", func(h *host) { h.budget = 4000; h.say("please read this", long(13_000)) }},
		{"000-044 threshold", "budget", func(h *host) {
			h.budget, h.req.Settings.CompactCommitThreshold = 6000, &half
			h.say("please read this", long(13_000))
		}},
		{"000-045 tokens", "tokens", func(h *host) { h.budget = 1_000_000; h.say("please read this", long(121_000)) }},
		{"C-12 configured tokens", "tokens", func(h *host) {
			h.req.Settings.CommitTokenThreshold = &tokens
			h.say("please read this", long(17_000))
		}},
		{"000-046 turns", "turns", func(h *host) {
			for i := range 20 {
				if len(h.archives()) > 0 {
					h.t.Fatal("too early: ", i)
				}
				h.say(fmt.Sprint("short one ", i), "yes")
			}
		}},
		{"000-047 interval", "interval", func(h *host) {
			h.say("in the morning", "yes")
			*h.now = h.now.Add(29 * time.Minute)
			h.say("still morning", "yes")
			if len(h.archives()) > 0 {
				h.t.Fatal("too early")
			}
			*h.now = h.now.Add(2 * time.Minute)
			h.say("after the meeting", "yes")
		}},
		{"000-047 sweep", "interval", func(h *host) {
			h.say("in the morning", "yes")
			*h.now = h.now.Add(31 * time.Minute)
			if n, err := h.e.Sweep(context.Background(), *h.now); n != 1 || err != nil {
				h.t.Fatal(n, err)
			}
			if n, _ := h.e.Sweep(context.Background(), h.now.Add(time.Hour)); n != 0 {
				h.t.Fatal("an empty commit")
			}
		}},
		{"000-048 order", "budget", func(h *host) {
			h.budget = 4000
			h.say("one", "two")
			*h.now = h.now.Add(time.Hour)
			h.say("please read this", long(125_000))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t)
			c.play(h)
			list := h.archives()
			if len(list) != 1 || list[0].Cause != c.cause {
				t.Fatalf("%+v", list)
			}
			if s := h.state(); s.OpenTokens != 0 || s.OpenFrom != s.LastSeq+1 || s.Published != 0 {
				t.Fatalf("%+v", s)
			}
			h.verify()
		})
	}
}

func TestREQ048NeverForBackgroundTurns(t *testing.T) {
	h := newHost(t)
	for _, key := range []string{"agent:main:cron:daily", "agent:main:internal-session-effects:abc-12"} {
		s := h.session(key)
		for i := range 25 {
			s.say(fmt.Sprintf("flush the memory of the parrot %d", i), long(9000))
			*h.now = h.now.Add(time.Hour)
		}
		if len(s.archives()) != 0 {
			t.Fatalf("%s: committed", key)
		}
		if strings.Contains(shownText(s.last), "memory_recall_auto") {
			t.Fatal("recall for a background turn")
		}
	}
	if n, err := h.e.Sweep(context.Background(), *h.now); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := h.e.Flush(context.Background()); n != 0 || err != nil {
		t.Fatal(n, err)
	}
}

// A trigger that hit while a back-off lasted fires at the next sweep, whichever it was.
func TestBackOffEnds(t *testing.T) {
	h := newHost(t)
	h.say("first one", "yes")
	h.must(h.store.Update(context.Background(), func(tx skald.Tx) error {
		s, err := tx.Session(h.ref())
		s.RetryAt = h.now.Add(10 * time.Minute)
		return errors.Join(err, tx.PutSession(s))
	}))
	h.say("please read this", long(125_000))
	if len(h.archives()) != 0 {
		t.Fatal("no back-off")
	}
	if n, err := h.e.Sweep(context.Background(), h.now.Add(11*time.Minute)); n != 1 || err != nil {
		t.Fatal(n, err)
	}
}

// With a 200k budget, 60k tokens and 25 user turns no raw turn has left the view.
func TestCommitChangesNothingVisible(t *testing.T) {
	h := newHost(t)
	h.budget = 200_000
	var before skald.AssembleResult
	for i := range 25 {
		out := h.say(fmt.Sprintf("number %d: please read the report", i), long(2500))
		prefixOf(t, before.Messages, out.Messages)
		before = out
		h.jobs()
	}
	out := h.assemble("and now tell me")
	if n := len(rawOnly(out)); n != 50 || out.EstimatedTokens < 60_000 {
		t.Fatalf("%d raw turns, %d tokens", n, out.EstimatedTokens)
	}
	if len(h.archives()) < 1 || h.state().Published != 0 {
		t.Fatal(len(h.archives()), h.state().Published)
	}
	h.verify()
}

// stuck is a summariser that never answers.
type stuck struct{ calls chan struct{} }

func (s stuck) Summarise(ctx context.Context, _ archive.Input) (archive.Summary, error) {
	s.calls <- struct{}{}
	<-ctx.Done()
	return archive.Summary{}, ctx.Err()
}

// 000-049, I7: commitTurn and assemble call no model and wait for no job.
func TestI7StuckSummariser(t *testing.T) {
	s := stuck{make(chan struct{}, 100)}
	h := newHost(t, func(o *engine.Options) { o.Summariser = s })
	for i := range 20 {
		h.say(fmt.Sprint("we decided on barn number ", i), "yes, on that one")
	}
	if len(h.archives()) != 1 {
		t.Fatal("no commit")
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = h.e.RunJobs(ctx) }()
	<-s.calls // the model was asked, and does not answer
	for i := range 25 {
		valid(t, h.say(fmt.Sprint("and on tower number ", i), "yes, on that one"), h.budget)
	}
	if len(s.calls) != 0 {
		t.Fatal("the reply path asked a model")
	}
	if l := h.archives(); len(l) != 2 || l[0].State != skald.ArchiveClosed {
		t.Fatalf("%+v", l)
	}
	x, err := h.e.Expand(context.Background(), h.identity(), string(h.ref().ArchiveURI(1)), "", 0)
	h.must(err)
	if x.Total != 40 {
		t.Fatal("the archive is not readable while its summary is made")
	}
	cancel()
	<-ended
	h.verify()
}

func TestREQ050Flush(t *testing.T) {
	h := newHost(t)
	h.say("one thing", "yes")
	other := h.session("agent:main:other")
	other.say("another thing", "yes")
	bad := h.session("agent:main:api")
	bad.say("by its own policy", "yes")
	h.must(h.store.Update(context.Background(), func(tx skald.Tx) error {
		s, err := tx.Session(bad.ref())
		s.Policy = json.RawMessage(`{"idle":1}`)
		return errors.Join(err, tx.PutSession(s))
	}))
	if n, err := h.e.Flush(context.Background()); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	for _, s := range []*host{h, other} {
		if l := s.archives(); len(l) != 1 || l[0].Cause != "stop" {
			t.Fatalf("%+v", l)
		}
	}
	if len(bad.archives()) != 0 {
		t.Fatal("a session with its own policy was committed")
	}
	if n, _ := h.e.Flush(context.Background()); n != 0 {
		t.Fatal("twice")
	}
}

func TestFlushGoesOnAfterAFailure(t *testing.T) {
	w := &wrapped{Store: memory.New()}
	h := newHostOver(t, w)
	for i := range 3 {
		h.session(fmt.Sprint("agent:main:s", i)).say("one thing", "yes")
	}
	w.failing(2)
	if n, err := h.e.Flush(context.Background()); n != 2 || err == nil {
		t.Fatal(n, err)
	}
	if len(h.status().Faults) != 1 {
		t.Fatal(h.status().Faults)
	}
	if n, err := h.e.Flush(context.Background()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
}

func TestGatewayStopIsOneUsers(t *testing.T) {
	h := newHost(t)
	h.say("one thing", "yes")
	other := h.as(func(r *skald.Request) { r.Identity = skald.Identity{Account: "default", User: "kim", Agent: "main"} })
	other.say("my thing", "yes")
	h.must(h.e.Event(context.Background(), skald.EventRequest{Request: h.request(), Event: "gateway_stop"}))
	if len(h.archives()) != 1 || len(other.archives()) != 0 {
		t.Fatal(len(h.archives()), len(other.archives()))
	}
}

// 000-080 to 000-085, 000-111
func TestREQ080Compact(t *testing.T) {
	h := newHost(t)
	var list []json.RawMessage
	for i := range 12 {
		exchange := []json.RawMessage{h.user(fmt.Sprintf("We decided to use tool %d for the barn. %s", i, long(300))), h.call(fmt.Sprint("c", i), "run", map[string]any{}), h.result(fmt.Sprint("c", i), "run", long(500)), h.reply("done")}
		h.anchored(h.nextKey(), fmt.Sprint("x", i), int64(4*i), exchange...)
		list = append(list, exchange...)
	}
	h.assemble("what now, please?")
	out := h.compact(func(r *skald.CompactRequest) { r.Current = 50_000 })
	if !out.OK || !out.Compacted || out.TokensBefore != 50_000 || out.TokensAfter >= out.TokensBefore || out.FirstKept != "x10-0" || out.Summary == "" {
		t.Fatalf("%+v", out)
	}
	c := out.Checkpoint
	if c == nil || c.CheckpointID == "" || c.SessionID != h.id() || c.CommittedAt == "" || c.ArchiveIndex != 1 || c.SourceTurnRange.EndSequence != 48 || c.SummaryURI == "" || c.ExtractedMemoryURIs == nil {
		t.Fatalf("%+v", c)
	}
	view := h.assemble("what now, please?", func(r *skald.AssembleRequest) { r.TurnID = "after" })
	valid(t, view, h.budget)
	if raw := rawOnly(view); len(raw) != 8 || string(raw[0]) != string(list[40]) {
		t.Fatalf("%d raw turns", len(raw))
	}
	contains(t, textOf(view.Messages[0]), "tool 1 ")
	lacks(t, textOf(view.Messages[0]), "tool 11") // still raw: nothing stands twice (CMP-12)
	x, err := h.e.Expand(context.Background(), h.identity(), c.SummaryURI, "tool 3", 6)
	h.must(err)
	if len(x.Turns) != 6 || x.Total != 48 {
		t.Fatal(len(x.Turns), x.Total)
	}
	// exhausted, at once and for good (CMP-03)
	for range 3 {
		again := h.compact(func(r *skald.CompactRequest) { r.Current = 150_000 })
		if again.Compacted || !strings.HasPrefix(again.Reason, "exhausted") || !again.OK {
			t.Fatalf("%+v", again)
		}
	}
	if s := h.state(); s.Attention != "" || s.CommitFails != 0 || s.ReportedInput != 0 {
		t.Fatalf("%+v", s)
	}
	h.verify()
}

func TestCMP03TOK03StaleCounts(t *testing.T) {
	h := newHost(t)
	h.budget = 200_000
	for i := range 12 {
		h.say(fmt.Sprint("go on number ", i), long(400))
	}
	big := host1("assistant", []any{map[string]any{"type": "text", "text": "ok"}}, h.tick(), map[string]any{"usage": map[string]any{"input": 184_000, "output": 10}})
	h.commit(h.user("count this"), big)
	h.compact()
	before := h.state()
	for i := range 5 {
		h.say(fmt.Sprint("after number ", i), "small")
	}
	if after := h.state(); after.Publication != before.Publication || after.Published != before.Published {
		t.Fatal("published again on a stale count")
	}
}

func TestCMP05BeforeAnyTurn(t *testing.T) {
	h := newHost(t)
	if out := h.compact(); out.OK || out.Compacted || out.Reason == "" {
		t.Fatalf("the host would give up: %+v", out)
	}
	tail := []json.RawMessage{}
	for i := range 8 {
		tail = append(tail, h.user(fmt.Sprint("read file ", i)), h.call(fmt.Sprint("c", i), "read", map[string]any{}), h.result(fmt.Sprint("c", i), "read", long(4000)), h.reply("read"))
	}
	out := h.compact(func(r *skald.CompactRequest) { r.Tail = tail })
	if !out.Compacted || out.TokensAfter >= out.TokensBefore {
		t.Fatalf("%+v", out)
	}
	valid(t, h.assemble("go on with the files"), h.budget)
	h.transcript(1, tail...)
	if len(h.turns()) != len(tail) {
		t.Fatal(len(h.turns()))
	}
	h.verify()
}

// broken is a summariser that fails.
type broken struct{}

func (broken) Summarise(context.Context, archive.Input) (archive.Summary, error) {
	return archive.Summary{}, errors.New("HTTP 500")
}

// 000-086, CMP-10: a failing or endless summary hides nothing.
func TestREQ086CompactWithBrokenSummariser(t *testing.T) {
	h := newHost(t, func(o *engine.Options) { o.Summariser = broken{} })
	for i := range 12 {
		h.say(fmt.Sprintf("We decided on plan %d. %s", i, long(400)), long(400))
	}
	out := h.compact()
	if !out.Compacted {
		t.Fatalf("%+v", out)
	}
	x, err := h.e.Expand(context.Background(), h.identity(), string(h.ref().ArchiveURI(1)), "", 50)
	h.must(err)
	if x.Total != 24 {
		t.Fatal(x.Total)
	}
	valid(t, h.assemble("which plan was it?"), h.budget)
	for i := range 12 {
		h.say(fmt.Sprintf("We decided on deal %d. %s", i, long(400)), long(400))
	}
	if out := h.compact(); !out.Compacted {
		t.Fatalf("the next compact: %+v", out)
	}
	h.verify()
}

func TestCMP12RepeatedCompaction(t *testing.T) {
	h := newHost(t)
	for round := range 4 {
		for i := range 15 {
			h.say(fmt.Sprintf("We agreed on item %d-%d. %s", round, i, long(900)), long(900))
		}
		before := h.assemble("what next, please?", func(r *skald.AssembleRequest) { r.TurnID = fmt.Sprint("b", round) })
		h.compact()
		after := h.assemble("what next, please?", func(r *skald.AssembleRequest) { r.TurnID = fmt.Sprint("a", round) })
		valid(t, after, h.budget)
		if after.EstimatedTokens >= before.EstimatedTokens || len(rawOnly(after)) != 8 {
			t.Fatal(before.EstimatedTokens, after.EstimatedTokens, len(rawOnly(after)))
		}
	}
	h.verify()
}

func TestARC01CommitTwice(t *testing.T) {
	h := newHost(t)
	for i := range 5 {
		h.say(fmt.Sprint("number ", i), "yes")
	}
	for i := range 3 {
		out, err := h.e.Commit(context.Background(), h.identity(), h.id(), false)
		h.must(err)
		if out.Archived != (i == 0) {
			t.Fatalf("%d: %+v", i, out)
		}
	}
	h.jobs()
	h.jobs()
	h.compactAll()
	if l := h.archives(); len(l) != 1 || l[0].From != 1 || l[0].To != 10 {
		t.Fatalf("%+v", l)
	}
}

func TestARC04CutAtAnExchange(t *testing.T) {
	h := newHost(t)
	four := 4
	h.req.Settings.RecentRawTurnCount = &four
	for i := range 4 {
		h.say(fmt.Sprint("warm up ", i), long(600))
	}
	deploy := []json.RawMessage{h.user("deploy"), h.call("c1", "run", map[string]any{}), h.result("c1", "run", "a"), h.call("c2", "run", map[string]any{}), h.result("c2", "run", "b"), h.reply("done")}
	h.commit(deploy...)
	h.compact()
	raw := rawOnly(h.assemble("and now what?"))
	if len(raw) != 6 || textOf(raw[0]) != "deploy" {
		t.Fatalf("%d: %s", len(raw), raw)
	}
}

func TestARC06ResetIsNeverUndone(t *testing.T) {
	h := newHost(t)
	h.say("the old story of the barn", "yes")
	h.list = nil
	h.assemble("a new start please")
	if l := h.archives(); len(l) != 1 || l[0].Cause != "reset" {
		t.Fatalf("%+v", l)
	}
	h.commit(h.user("a new start please"), h.reply("sure"))
	for i := range 12 {
		h.say(fmt.Sprint("new talk number ", i), long(300))
	}
	out := h.compact()
	lacks(t, out.Summary, "old story")
	lacks(t, textOf(h.assemble("what did we talk about?").Messages[0]), "old story")
}

func TestMEM06ToolPartsCount(t *testing.T) {
	h := newHost(t)
	ten := 10_000
	h.req.Settings.CommitTokenThreshold = &ten
	for i := range 15 {
		h.commit(h.call(fmt.Sprint("c", i), "read", map[string]any{"path": long(2000)}), h.result(fmt.Sprint("c", i), "read", long(2000)))
	}
	if l := h.archives(); len(l) == 0 || l[0].Cause != "tokens" {
		t.Fatalf("%+v", l)
	}
}

// Publication: at the high water mark, down to the low one, at an exchange boundary, never in mid-turn.
func TestPublicationUnderPressure(t *testing.T) {
	h := newHost(t)
	h.budget = 20_000
	publications, before := 0, skald.AssembleResult{}
	for i := range 60 {
		out := h.say(fmt.Sprintf("We agreed on step %d. %s", i, long(400)), long(400))
		valid(t, out, h.budget)
		if out.EstimatedTokens > h.budget*80/100 {
			t.Fatalf("turn %d: %d tokens", i, out.EstimatedTokens)
		}
		if out.ProjectionEpoch != before.ProjectionEpoch && i > 0 {
			publications++
			raw := rawOnly(out)
			if m := textOf(raw[0]); !strings.HasPrefix(m, "We agreed") || len(raw) < 8 {
				t.Fatalf("%d raw turns begin with %q", len(raw), m)
			}
			if out.EstimatedTokens > h.budget*56/100 { // the low water mark, and a recall
				t.Fatalf("published, and %d tokens are left", out.EstimatedTokens)
			}
		} else {
			prefixOf(t, before.Messages, out.Messages)
		}
		before = out
		h.jobs()
	}
	if publications < 2 || publications > 8 {
		t.Fatal(publications)
	}
	// mid-turn: the same turn again, under pressure that would publish
	h.commit(h.user("please read"), h.reply(long(60_000)))
	mid := h.state()
	h.assemble("in mid-turn now", func(r *skald.AssembleRequest) { r.TurnID = "mid" })
	once := h.state().Publication
	h.commit(h.user("please read"), h.reply(long(60_000)))
	h.jobs()
	h.assemble("in mid-turn now", func(r *skald.AssembleRequest) { r.TurnID = "mid" })
	if h.state().Publication != once {
		t.Fatal("published in mid-turn", mid.Publication)
	}
	h.verify()
}

// I8: whichever write fails, the error is reported, nothing is half done, and the next call heals.
func TestI8EveryFailingWrite(t *testing.T) {
	for n := 1; n <= 4; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			w := &wrapped{Store: memory.New()}
			h := newHostOver(t, w)
			h.say("let us begin now", "yes")
			steps := []func() error{
				func() error { _, err := h.tryAssemble("go on then please"); return err },
				func() error { _, err := h.tryCommit("kx", h.user("go on then please"), h.reply("sure")); return err },
				func() error {
					_, err := h.e.Compact(context.Background(), skald.CompactRequest{Request: h.request(), TokenBudget: 1000})
					return err
				},
			}
			w.failing(n)
			failed := 0
			for _, step := range steps {
				if step() != nil {
					failed++
				}
			}
			h.verify()
			w.update = nil
			for _, step := range steps {
				h.must(step())
			}
			h.verify()
			if failed > 1 || failed == 1 && len(h.status().Faults) == 0 {
				t.Fatal(failed, h.status().Faults)
			}
			if len(h.turns()) < 4 {
				t.Fatalf("%q", h.texts())
			}
		})
	}
}
