package trial

import (
	"fmt"

	"github.com/skald-engine/skald/strategy"
)

// assumptions says what the comparison rests on, for the report. docs/trial.md gives the reasons.
func assumptions(o Options, notes int) []string {
	list := []string{
		fmt.Sprintf("The model's window is taken to be %d tokens; %d of them are left for messages (--window and --budget change that). Tokens are "+
			"the host's own estimate, not the provider's count.", o.Window, o.Budget),
		fmt.Sprintf("legacy stands for OpenClaw without an engine: the whole history until it no longer fits, then one rolling summary and the "+
			"newest %d tokens raw (half of the budget in a small window). Pruning of tool results is off, as by default.", strategy.LegacyKeep),
		fmt.Sprintf("OpenClaw lets a model write that summary, which cannot be done here. Skald's own extractive summary stands in, up to %d tokens, made "+
			"of the turns themselves each time. OpenClaw summarises its last summary again and loses a little each time: this favours legacy.",
			strategy.LegacySummary),
		"legacy compacts between exchanges only and keeps whole exchanges.",
		"What legacy no longer shows, OpenClaw's sessions_search and memory_search can still find if the agent thinks of it. The trial counts what the model is shown.",
		"Both ways are played with the answers that were really given. With another context the model might have answered otherwise.",
		"Skald begins with an empty store and learns from the sessions in their order, each exchange at its own time. No model and no embeddings are used.",
		"Cacheable is what a provider could read from its cache by the longest common beginning with any earlier request of the session; expiry is not taken into account.",
		"A fact counts as repeated when a sentence of the user adds nothing to an earlier one: same values, most of the same words, no question, order " +
			"or change, and no other value in between. It counts as avoided when none of its values was left in legacy's request as a whole and one piece of Skald's request held all of it: " +
			"in what stood there before the prompt, or in the recall for the rest of the prompt, without the repeated sentence.",
		"A call counts as read again when tool and arguments are equal, the result is the same, it only looks, nothing in between changed the file, and the user did not " +
			"ask to look again. It counts as avoided when the beginning of the earlier result was gone from legacy's request and all of it stood in Skald's.",
		"Both counts leave out much that a person would count. Each one is quoted below, so that you can judge it.",
	}
	if notes > 0 {
		list = append(list, fmt.Sprintf("%d notes of OpenClaw's own memory files count as known to legacy at any time, as they are today: this favours legacy.", notes))
	} else {
		list = append(list, "OpenClaw's own memory files (MEMORY.md, USER.md) were not among what was read: what stood in them at the time is not taken into account.")
	}
	return list
}
