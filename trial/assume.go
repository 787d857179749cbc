package trial

import (
	"fmt"

	"github.com/skald-engine/skald/strategy"
)

// assumptions says what the comparison rests on, for the report; docs/trial.md gives the reasons.
func assumptions(o Options, notes int) []string {
	return append([]string{
		fmt.Sprintf("The model's window is taken to be %d tokens, and %d of them are left for messages (--window, --budget). Tokens are the host's own "+
			"estimate.", o.Window, o.Budget),
		fmt.Sprintf("legacy is OpenClaw without an engine: the whole history until it no longer fits, then one rolling summary and the newest %d "+
			"tokens (half of the budget in a small window). Pruning of tool results is off.", strategy.LegacyKeep),
		fmt.Sprintf("OpenClaw lets a model write that summary, and summarises its last summary again. Here Skald's extractive summariser works from the "+
			"turns themselves each time, up to %d tokens: this favours legacy.", strategy.LegacySummary),
		"What legacy no longer shows, OpenClaw's sessions_search and memory_search may still find, if the agent thinks of it. The trial counts what " +
			"the model is shown.",
		"Both ways are played with the answers that were really given; with another context the model might have answered otherwise.",
		"Skald begins with an empty store and learns from the sessions in the order of time. No model and no embeddings are used.",
		"Cacheable is the longest common beginning with an earlier request of the session. That caches expire is not taken into account.",
		"A fact is said again when a sentence of the user adds nothing to an earlier one: the same values, most of the same words; no question, order, " +
			"plan or change, and no other value in between.",
		"It counts when legacy's request no longer held all of its values, and one piece of Skald's request did: before the prompt, or in the recall " +
			"for the rest of the prompt, without the repeated sentence.",
		"A file or command is read again when tool, arguments and result are the same, the call only looks, no call in between may have changed the " +
			"file, and the user did not ask to look again.",
		"It counts when even the beginning of the earlier result was gone from legacy's request, and all of it stood in Skald's.",
		"Both leave out much that a person would count. Each one is quoted here, so that you can judge it.",
	}, ofNotes(notes))
}

func ofNotes(n int) string {
	if n == 0 {
		return "OpenClaw's memory files (MEMORY.md, USER.md) were not among what was read, and are not taken into account."
	}
	return fmt.Sprintf("%d sections of OpenClaw's memory files count as known to legacy at any time, as they are today: this favours legacy.", n)
}
