package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

// What a recall names can be expanded as it is written there: the beginning of the session's id stands for the whole.
func TestShortURIsExpand(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	before := h.session("agent:main:before")
	before.say("My grey parrot is called Polly", "Nice name")
	out := h.assemble("What is my parrot called?")
	result, err := message.Parse(out.Messages[2])
	h.must(err)
	var body struct {
		Memories []struct{ From string }
		More     string
	}
	h.must(json.Unmarshal([]byte(result.Blocks[0].Text), &body))
	date, uri, ok := strings.Cut(body.Memories[0].From, " ")
	if !ok || date != "2026-03-02" || strings.Contains(uri, before.id()) || !strings.Contains(body.More, "viking://~/"+before.id()[:skald.ShortSession]) {
		t.Fatalf("%+v", body)
	}
	x, err := h.e.Expand(t.Context(), h.identity(), uri, "", 0)
	h.must(err)
	if len(x.Turns) == 0 || x.Session != before.ref().URI() {
		t.Errorf("%+v", x)
	}
	nowhere := strings.Replace(uri, before.id()[:skald.ShortSession], "0123456789", 1)
	if _, err := h.e.Expand(t.Context(), h.identity(), nowhere, "", 0); skald.KindOf(err) != skald.KindNotFound {
		t.Errorf("an unknown beginning: %v", err)
	}
}
