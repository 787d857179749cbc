package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/test/gateway"
	"github.com/skald-engine/skald/test/scripted"
	"github.com/skald-engine/skald/test/world"
)

var whole struct {
	once sync.Once
	w    *world.World
	err  error
}

// full is a world with the host's own defaults: all tools, tool search on.
func full(t *testing.T) *world.World {
	t.Helper()
	needHost(t)
	whole.once.Do(func() {
		dir := filepath.Join(scratch, "full")
		if whole.err = os.MkdirAll(dir, 0o755); whole.err != nil {
			return
		}
		whole.w, whole.err = world.Start(context.Background(), world.Options{Dir: dir, ToolProfile: "full", ToolSearch: true})
		closers = append(closers, whole.w.Close)
	})
	if whole.err != nil {
		t.Fatalf("the world with all tools did not start (logs in %s): %v", scratch, whole.err)
	}
	return whole.w
}

// TestPressure: with the full tool set summaries are published before the host's own preflight fires, turn after turn; the context
// shrinks, the newest 8 turns stay raw, and the cut is at an exchange boundary (000-048, 000-064 to 000-069, 000-083).
func TestPressure(t *testing.T) {
	w, ctx := full(t), deadline(t, 25*time.Minute)
	s := newTalk(t, ctx, w, "pressure")
	turns := 60
	if long() {
		turns = 200
	}
	published, highest := int64(0), 0
	var points []int
	for i := range turns {
		s.say(pressureText(i))
		info := s.session()
		n := len(s.requests)
		highest = max(highest, s.requests[n-1].PromptTokens)
		if info.Published == published {
			continue
		}
		published = info.Published
		points = append(points, i)
		now := s.requests[n-1]
		for i := n - 2; i >= 0; i-- { // the request before this turn's
			if before := s.requests[i]; before.Prompt != now.Prompt {
				if now.EstimatedTokens >= before.EstimatedTokens {
					t.Errorf("the context did not shrink: %d, then %d tokens", before.EstimatedTokens, now.EstimatedTokens)
				}
				break
			}
		}
		newestRaw(t, s, now)
	}
	if lines := logged(t, w, "msg=compact ", s.session().ID); len(lines) > 0 {
		t.Errorf("the host compacted although publications are to come first:\n%s", strings.Join(lines, "\n"))
	}
	if len(points) == 0 {
		t.Fatal("no publication")
	}
	unrefused(t, s.requests)
	if got := s.stable(); got != len(points) {
		t.Errorf("%d publications seen, %d logged", len(points), got)
	}
	t.Logf("%d turns, %d requests, publications at turns %v, highest prompt %d tokens of 64,000 (preflight at 48,000)", turns, len(s.requests), points, highest)
}

// pressureText mixes long and short turns and calls.
func pressureText(i int) string {
	switch i % 10 {
	case 3:
		return fmt.Sprintf("Thanks, that was page %d.", i)
	case 6:
		return fmt.Sprintf(`CALL tool_call {"id":"memory_recall","args":{"query":"crates of slate on shelf %d"}}`, 100*(i-1))
	}
	return filler(i, 1200)
}

// newestRaw: the newest 8 stored turns before the prompt stand in the request as they are, in order, and the raw part begins with a
// user's message.
func newestRaw(t *testing.T, s *talk, r scripted.Request) {
	t.Helper()
	turns := s.turns()
	x := s.explain()
	end := int(x.RawTo)
	if x.RawFrom < 2 || end > len(turns) || turns[x.RawFrom-1].Envelope.Role != skald.RoleUser || x.RawTo-x.RawFrom+1 < 8 {
		t.Errorf("raw turns %d to %d of %d, the first from %s: want at least 8, the first the user's", x.RawFrom, x.RawTo, len(turns), turns[max(0, x.RawFrom-1)].Envelope.Role)
		return
	}
	at := 0
	for _, turn := range turns[end-8 : end] {
		m, err := message.Parse(turn.Raw)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.TrimSpace(m.Text())
		if text == "" {
			continue // a call
		}
		for at < r.PromptIndex && !strings.Contains(r.Messages[at].Text, text) {
			at++
		}
		if at >= r.PromptIndex {
			t.Errorf("turn %d is not shown raw: %s", turn.Envelope.Sequence, short(text))
			return
		}
	}
}

// prepared is a session with so many exchanges of 600 tokens.
func prepared(t *testing.T, w *world.World, key string, exchanges int, opts ...gateway.TurnOption) *talk {
	t.Helper()
	s := newTalk(t, deadline(t, 6*time.Minute), w, key, opts...)
	for i := range exchanges {
		s.say(filler(i, 600))
	}
	return s
}

// TestManualCompact: sessions.compact, which /compact calls, shrinks the context at an exchange boundary, keeps the newest 8 turns, and the
// session goes on (000-080 to 000-087).
func TestManualCompact(t *testing.T) {
	s := prepared(t, shared(t), "compact-manual", 8)
	before := s.requests[len(s.requests)-1]
	var answer struct {
		OK        bool `json:"ok"`
		Compacted bool `json:"compacted"`
		Result    struct {
			Summary      string `json:"summary"`
			FirstKept    string `json:"firstKeptEntryId"`
			TokensBefore int    `json:"tokensBefore"`
			TokensAfter  int    `json:"tokensAfter"`
		} `json:"result"`
	}
	raw := s.rpc("sessions.compact")
	if err := json.Unmarshal(raw, &answer); err != nil || !answer.OK || !answer.Compacted {
		t.Fatalf("sessions.compact answered %s (%v)", raw, err)
	}
	if answer.Result.TokensAfter >= answer.Result.TokensBefore || answer.Result.Summary == "" {
		t.Errorf("compaction result: %s", short(string(raw)))
	}
	for _, turn := range s.turns() {
		if turn.EntryID != "" && turn.EntryID == answer.Result.FirstKept && turn.Envelope.Role != skald.RoleUser {
			t.Errorf("the first kept entry is a %s turn", turn.Envelope.Role)
		}
	}
	s.afterCompaction(before, "manual")
}

// afterCompaction: one compaction with the trigger reached the engine, the next request is smaller, the newest turns are raw, and the
// session goes on with stable prefixes.
func (c *talk) afterCompaction(before scripted.Request, trigger string) {
	c.t.Helper()
	id := c.session().ID
	lines := logged(c.t, c.w, "msg=compact ", id)
	if len(lines) != 1 || !strings.Contains(lines[0], "trigger="+trigger) || !strings.Contains(lines[0], "compacted=true") {
		c.t.Fatalf("compactions of the session: %v, want one by %s", lines, trigger)
	}
	after := c.first("Where were we?")
	newestRaw(c.t, c, after)
	const ofRecall = 4 // messages: a compaction makes room for new recalls
	was, is := len(before.Messages)-ofRecall*recalls(before), len(after.Messages)-ofRecall*recalls(after)
	if is >= was || after.EstimatedTokens >= before.EstimatedTokens {
		c.t.Errorf("%d messages and %d tokens before, %d and %d after", was, before.EstimatedTokens, is, after.EstimatedTokens)
	}
	next := c.first("And what comes next?")
	prefixes(c.t, []scripted.Request{after, next})
	unrefused(c.t, c.requests)
	if got := len(logged(c.t, c.w, "msg=compact ", id, "compacted=true")); got != len(lines) { // it may ask again, and is told that nothing is left
		c.t.Errorf("it was compacted again: %d times", got)
	}
	v, err := c.w.Client.Verify(c.ctx, world.Identity, id)
	if err != nil || !v.OK {
		c.t.Errorf("verify: %v %+v", err, v)
	}
}

// TestOverflow: a provider that refuses a prompt as too long makes the engine compact, and the same turn succeeds (000-085).
func TestOverflow(t *testing.T) {
	w := shared(t)
	s := prepared(t, w, "compact-overflow", 8)
	before := s.requests[len(s.requests)-1]
	w.Model.Push("openai", w.Model.Overflow("openai", 70_000))
	requests := s.say("Please go on with the list.")
	if w.Model.Queued("openai") != 0 || len(requests) < 2 {
		t.Fatalf("%d requests: the turn was not repeated after the overflow", len(requests))
	}
	refused, again := requests[0], requests[len(requests)-1]
	if again.EstimatedTokens >= refused.EstimatedTokens || again.Status != 200 {
		t.Errorf("the repetition had %d tokens (status %d), the refused request %d", again.EstimatedTokens, again.Status, refused.EstimatedTokens)
	}
	newestRaw(t, s, again)
	s.afterCompaction(before, "overflow")
}

// TestBudgetPreflight: when the provider's numbers make the host compact by itself, the engine publishes at once (000-084).
func TestBudgetPreflight(t *testing.T) {
	w := shared(t)
	s := prepared(t, w, "compact-budget", 8)
	before := s.requests[len(s.requests)-1]
	w.Model.Push("openai", scripted.Reply{Text: "That was a lot.", PromptTokens: 48_500})
	s.say("Here is the last page.")
	eventually(t, 20*time.Second, "the host's preflight compaction", func() bool {
		return len(logged(t, w, "msg=compact ", s.session().ID)) > 0
	})
	s.afterCompaction(before, "budget")
}

// TestPreflightExhausted: when the host's preflight asks again although only the newest turns are left, the turn goes on: the host takes
// the engine's answer for a skip, not for a failure (docs/openclaw.md, 36).
func TestPreflightExhausted(t *testing.T) {
	w := shared(t)
	s := prepared(t, w, "compact-exhausted", 5)
	w.Model.Push("openai", scripted.Reply{Text: "That was a lot.", PromptTokens: 60_000})
	s.say("Here is the last page.")
	r := s.first("Do you still answer?")
	lines := logged(t, w, "msg=compact ", s.session().ID)
	if len(lines) < 2 || !strings.Contains(lines[len(lines)-1], "compacted=false") {
		t.Errorf("compactions: %v, want one that finds nothing to do", lines)
	}
	newestRaw(t, s, r)
	s.first("And again?")
	unrefused(t, s.requests)
}
