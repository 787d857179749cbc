package strategy

import (
	"encoding/json"

	"github.com/skald-engine/skald/message"
)

// Window is the way without a store: the newest of a host's messages that fit the budget, in tokens, under a summary of older ones
// (plain text, or ""). Calls keep their results; the newest keep turns stay as long as they fit (I6). It always has an answer.
func Window(list []json.RawMessage, summary string, budget, keep int) (messages []json.RawMessage, tokens int) {
	var turns []shown
	for i, raw := range list {
		if t := made(raw); t.msg != nil && !t.msg.Excluded() {
			t.seq = int64(i + 1)
			turns = append(turns, t)
		}
	}
	head := ""
	if summary != "" {
		head = string(message.User(legacyIntro+summary, 1))
	}
	return render(fit(fitInput{head: headMessages(head), list: split(turns), budget: budget, keep: keep}), nil)
}
