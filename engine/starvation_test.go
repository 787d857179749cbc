package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skald-engine/skald/message"
)

// Earlier recalls stay where they stood and share a tenth of the budget: after 40 turns of talk that each find a little, an exact question
// about an old fact is still answered, and no prefix was broken on the way.
func TestRecallIsNotStarved(t *testing.T) {
	t.Parallel()
	for _, budget := range []int{5_000, 16_000, 64_000} {
		t.Run(fmt.Sprint(budget), func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			h.budget = budget
			old := h.session("agent:main:before")
			old.say("The spare key of the boathouse lies under the blue flowerpot", "Noted, under the blue flowerpot.")
			for day := range 10 {
				for _, topic := range starvedTopics {
					old.say(fmt.Sprintf("On day %d we talked about %s for a while, and about how much %s costs these days", day, topic, topic),
						fmt.Sprintf("Interesting, day %d. ", day)+strings.Repeat("There is a lot to say about "+topic+" and their price. ", 8))
				}
			}
			for i := range 40 {
				topic := starvedTopics[i%len(starvedTopics)]
				out := h.say(fmt.Sprintf("I was thinking about %s again this week, what would you do number %d?", topic, i), "I would wait and see.")
				valid(t, out, budget)
				h.jobs()
			}
			before := h.assemble("And what about the weather in general these days?")
			h.commit(h.user("And what about the weather in general these days?"), h.reply("Mild."))
			out := h.assemble("Where is the spare key of the boathouse?")
			valid(t, out, budget)
			if !strings.Contains(shownText(out), "under the blue flowerpot") {
				x, err := h.e.Explain(t.Context(), h.identity(), h.id(), 0)
				h.must(err)
				t.Errorf("the fact is not shown; skipped: %q", x.Recall.Skipped)
			}
			prefixOf(t, before.Messages, out.Messages)
			recalls := 0
			for _, m := range out.Messages {
				if strings.Contains(string(m), "Looked up automatically") || strings.Contains(string(m), "openviking-auto-recall") ||
					strings.Contains(string(m), "memory_recall_auto") {
					recalls += message.Tokens(m)
				}
			}
			if recalls > max(budget/10, 500) {
				t.Errorf("recalls take %d tokens", recalls)
			}
		})
	}
}

var starvedTopics = []string{"lawn mowers", "kettles", "train tickets", "garden hoses", "wool socks", "paper maps", "street lamps", "rye bread",
	"old radios", "chess clubs", "snow tyres", "canal boats"}
