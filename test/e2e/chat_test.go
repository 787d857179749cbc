package e2e

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald/test/world"
)

// typed types a line into the session's chat and returns what the chat shows.
func (c *talk) typed(line string) string {
	c.t.Helper()
	text, err := c.w.Gateway.Chat(c.ctx, c.key, line)
	if err != nil {
		c.t.Fatalf("%s: %v", line, err)
	}
	return text
}

// holds fails unless the text holds all the parts.
func holds(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s does not say %q:\n%s", what, part, text)
		}
	}
}

// TestChatCommands: /skald status, why, forget and compact through the real host's chat. They are no conversation: no model and no store
// sees them.
func TestChatCommands(t *testing.T) {
	w, ctx := shared(t), deadline(t, 5*time.Minute)
	s := newTalk(t, ctx, w, "chat")
	s.say("I prefer tea from the Oolong valley of Brakelund in the morning.")
	holds(t, "/skald", s.typed("/skald"), "/skald status", "/skald forget")
	s.commit()
	later := newTalk(t, ctx, w, "chat-later")
	asked := later.first("Which tea do I prefer in the morning?")
	if !asked.Contains("Brakelund") {
		t.Fatalf("the fact is not recalled:\n%s", asked.Raw)
	}
	requests := len(w.Model.Requests())

	holds(t, "status", later.typed("/skald status"), "This session: 2 turns since", "given with Skald's context", "plugin 0.1.0", "OpenClaw 20", "protocol 1")
	holds(t, "why", later.typed("/skald why"), "the model was shown", "Recalled for", "Brakelund", "viking://", "recalls ")
	shown := later.typed("/skald forget tea from Brakelund")
	holds(t, "forget TEXT", shown, "1. ", "Brakelund", "viking://", "/skald forget")
	holds(t, "forget 1", later.typed("/skald forget 1"), "Forgotten: viking://", "can still be read")
	holds(t, "forget again", later.typed("/skald forget tea from Brakelund"), "No memory says that")
	if after := memories(t, s, "Brakelund"); len(after) > 0 {
		t.Errorf("still a memory: %v", after)
	}
	holds(t, "compact", later.typed("/skald compact"), "Nothing changed")
	if n := len(w.Model.Requests()); n != requests {
		t.Errorf("commands caused %d model requests", n-requests)
	}

	r := later.first("Good, that was all for today, my friend.")
	for _, turn := range later.turns() {
		if strings.Contains(string(turn.Raw), "/skald") || strings.Contains(string(turn.Raw), "gateway-injected") {
			t.Errorf("a command is stored: %s", turn.Raw)
		}
	}
	if r.Contains("/skald") || r.Contains("Forgotten: ") {
		t.Errorf("the model was shown a command:\n%s", r.Raw)
	}
}

// TestChatCompact: compact says what it won.
func TestChatCompact(t *testing.T) {
	w, ctx := shared(t), deadline(t, 5*time.Minute)
	s := newTalk(t, ctx, w, "chat-compact")
	for i := range 8 {
		s.say(filler(i, 1200))
	}
	text := s.typed("/skald compact")
	holds(t, "compact", text, "Compacted: the model's view goes from", "Nothing was deleted")
	before := s.requests[len(s.requests)-1]
	if r := s.first("What did we begin with?"); len(r.Raw) >= len(before.Raw) {
		t.Errorf("the next request has %d bytes, the one before the compaction %d\n%s", len(r.Raw), len(before.Raw), text)
	}
}

// TestBypassIsSaid: turns that go past the engine are said once in the log and shown by status, and nothing of it is stored. The host's web
// chat shows an agent's answer from its own stream, which no hook reaches (docs/openclaw.md, 44): the notice under an answer is for channels.
func TestBypassIsSaid(t *testing.T) {
	w, ctx := faulty(t), deadline(t, 5*time.Minute)
	s := newTalk(t, ctx, w, "bypass")
	const notice = "Skald was not used for this answer"
	s.typed("The first turn is served.")
	if n := inGatewayLog(t, w, s.key+" went past Skald"); n != 0 {
		t.Errorf("a served turn is called bypassed")
	}
	w.Proxy.Down()
	for _, text := range []string{"Nobody listens to this.", "Nor to this one.", "And this."} {
		holds(t, "the reply", s.typed(text), text)
	}
	if n := inGatewayLog(t, w, s.key+" went past Skald"); n != 1 {
		t.Errorf("the log has it %d times, not once", n)
	}
	holds(t, "status while nobody answers", s.typed("/skald status"), "no skald daemon", "OpenClaw's own history")
	if err := w.Proxy.Up(); err != nil {
		t.Fatal(err)
	}
	holds(t, "status", s.typed("/skald status"), "NOT served by Skald: the last 3 answers")
	eventually(t, time.Minute, "a turn is served again", func() bool {
		s.typed("Are you back?")
		return strings.Contains(s.typed("/skald status"), "given with Skald's context")
	})
	st, err := w.Client.Status(ctx, world.Identity)
	if err != nil || len(st.Bypassed) > 0 {
		t.Errorf("still bypassed: %+v, %v", st.Bypassed, err)
	}
	for _, turn := range stored(t, ctx, w, s.key) {
		if strings.Contains(string(turn.Raw), notice) {
			t.Errorf("the notice is stored: %s", turn.Raw)
		}
	}
}

// inGatewayLog counts the lines of the gateway's log that hold a text.
func inGatewayLog(t *testing.T, w *world.World, text string) int {
	t.Helper()
	log, err := os.ReadFile(w.Gateway.LogPath())
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(log), text)
}
