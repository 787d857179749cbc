package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/test/gateway"
)

// filler is a text of about so many tokens, different for each n.
func filler(n, tokens int) string {
	var b strings.Builder
	for i := 0; b.Len() < 4*tokens; i++ {
		fmt.Fprintf(&b, "Row %d.%d of the inventory: %d crates of slate, %d of lime, %d pots of tar, shelf %d.\n", n, i, (n*7+i)%90, (n+i*3)%70, (i*11)%50, n*100+i)
	}
	return b.String()
}

// TestTriggerTurns: 20 user turns commit; the model sees no change, the reply does not wait (000-046, 000-049; I7).
func TestTriggerTurns(t *testing.T) {
	w, ctx := shared(t), deadline(t, 6*time.Minute)
	s := newTalk(t, ctx, w, "trigger-turns")
	var took []time.Duration
	for i := range 20 {
		began := time.Now()
		s.say(fmt.Sprintf("Entry %d of the garden book: the beans are %d centimetres high.", i+1, 3*i))
		took = append(took, time.Since(began))
		want := 0
		if i == 19 {
			want = 1
		}
		if info := s.session(); info.Archives != want || info.Published != 0 {
			t.Fatalf("after %d user turns: %+v", i+1, info)
		}
	}
	if last, slowest := took[19], slices.Max(took[:19]); last > 2*slowest+time.Second {
		t.Errorf("the turn with the commit took %v, the slowest other one %v", last, slowest)
	}
	quiet(t, ctx, w) // summary and memories are made
	unchanged(t, s)
}

// unchanged: what the model sees after the commit begins with what it saw before, and no turn has left.
func unchanged(t *testing.T, s *talk) {
	t.Helper()
	s.say("Let us go on with the next page.")
	prefixes(t, s.requests)
	unrefused(t, s.requests)
	if info := s.session(); info.Published != 0 {
		t.Errorf("a commit published: %+v", info)
	}
	if x := s.explain(); x.RawFrom != 1 || x.RawTo != int64(len(s.turns())-2) {
		t.Errorf("raw turns %d to %d of %d are shown", x.RawFrom, x.RawTo, len(s.turns()))
	}
}

// TestTriggerTokens: 30,000 new tokens commit (000-045); with a window of 200,000 no raw turn has left after 60,000 tokens in 25 user turns.
func TestTriggerTokens(t *testing.T) {
	w, ctx := shared(t), deadline(t, 6*time.Minute)
	s := newTalk(t, ctx, w, "trigger-tokens", gateway.WithModel("lab-gpt/gpt-large"))
	at := 0
	for i := range 25 {
		s.say(filler(i, 2450))
		if info := s.session(); info.Archives > 0 && at == 0 {
			at = i + 1
			if info.Open != 0 {
				t.Errorf("%d turns are open after the commit", info.Open)
			}
		}
	}
	if at < 10 || at > 13 {
		t.Errorf("the first commit came after %d turns of 2,450 tokens, want it at 30,000 tokens", at)
	}
	quiet(t, ctx, w)
	unchanged(t, s)
	last := s.requests[len(s.requests)-1]
	if last.EstimatedTokens < 60_000 {
		t.Errorf("the last request has %d tokens, want 60,000", last.EstimatedTokens)
	}
	t.Logf("commit after %d turns; last request %d tokens, %d messages", at, last.EstimatedTokens, len(last.Messages))
}

// TestTriggerBudget: a small budget that fills up commits (000-044) before the model sees a change, and publishes before the host's own
// compaction fires.
func TestTriggerBudget(t *testing.T) {
	w, ctx := shared(t), deadline(t, 5*time.Minute)
	s := newTalk(t, ctx, w, "trigger-budget", gateway.WithModel("lab-gpt/gpt-small"))
	turns := 0
	for ; turns < 15 && s.archives() == 0; turns++ {
		s.say(filler(turns, 900))
	}
	if turns == 15 || turns < 3 {
		t.Fatalf("the first commit came after %d turns of 900 tokens in a window of 20,000", turns)
	}
	quiet(t, ctx, w)
	unchanged(t, s)
	for i := 0; i < 12 && s.session().Published == 0; i++ {
		s.say(filler(100+i, 900))
	}
	if s.session().Published == 0 {
		t.Error("no publication followed")
	}
	if lines := logged(t, w, "msg=compact ", s.session().ID); len(lines) > 0 {
		t.Errorf("the host compacted first: %v", lines)
	}
	t.Logf("commit after %d turns", turns)
}

func (c *talk) archives() int {
	info, err := c.w.Session(c.ctx, c.key)
	if err != nil {
		return 0
	}
	return info.Archives
}

// TestHeartbeats: a day of the host's heartbeats is stored, and makes no commit, no recall, and no model call of ours (CAP-11).
func TestHeartbeats(t *testing.T) {
	w, ctx := shared(t), deadline(t, 8*time.Minute)
	s := newTalk(t, ctx, w, "main")
	s.say("The kettle whistles in the kitchen of the mill.")
	beats := 24
	if long() {
		beats = 48
	}
	sent := len(w.Model.Requests())
	const real = 4 // the host's flood guard defers a wake after 5 in a short time; the others are turns with the same text
	for i := range beats {
		if i >= real {
			s.say("[OpenClaw heartbeat poll]")
			continue
		}
		before := turnsOf(ctx, s)
		if _, err := w.Gateway.Call(ctx, "wake", map[string]any{"mode": "now", "text": fmt.Sprintf("tick %d", i)}); err != nil {
			t.Fatal(err)
		}
		eventually(t, 60*time.Second, fmt.Sprintf("heartbeat %d is stored", i+1), func() bool { return turnsOf(ctx, s) > before })
	}
	requests := w.Model.Requests()[sent:]
	if len(requests) != beats {
		t.Errorf("%d model requests for %d heartbeats", len(requests), beats)
	}
	for _, r := range requests {
		if recallForm(r) != "" {
			t.Errorf("the heartbeat %q got a recall:\n%s", short(r.PromptText()), short(recalled(r)))
			break
		}
	}
	marked := 0
	for _, turn := range s.turns() {
		if turn.Purpose == skald.PurposeHeartbeat {
			marked++
		}
	}
	if info := s.session(); info.Archives != 0 || info.Published != 0 || marked < beats {
		t.Errorf("after %d heartbeats: %d turns marked, %+v", beats, marked, info)
	}
	unrefused(t, requests)
	t.Logf("%d heartbeats, %d turns marked, prompt %q", beats, marked, short(requests[0].PromptText()))
}

func turnsOf(ctx context.Context, s *talk) int64 {
	info, err := s.w.Session(ctx, s.key)
	if err != nil {
		return 0
	}
	return info.Turns
}
