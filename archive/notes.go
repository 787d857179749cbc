package archive

import (
	"strings"

	"github.com/skald-engine/skald"
)

// Notes renders the merged overview of archives without any way back to their turns: a summary as a host without archives would have it.
// When not all fits into maxTokens, lines are left out as Head leaves them out.
func Notes(published []skald.Archive, maxTokens int) string {
	return strings.TrimSpace(headNotes(Merge(published), maxTokens))
}
