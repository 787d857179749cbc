package strategy

import (
	"fmt"
	"strings"

	"github.com/skald-engine/skald"
)

// renderNodes writes a frontier: a title for each node with its depth, what it is made of and the URI of its turns, then its notes.
func renderNodes(ref skald.SessionRef, nodes []dagNode) string {
	var b strings.Builder
	for _, n := range nodes {
		b.WriteString("\n# " + nodeTitle(ref, n) + "\n")
		if n.notes != "" {
			b.WriteString(n.notes + "\n")
		}
	}
	return strings.TrimPrefix(b.String(), "\n")
}

func nodeTitle(ref skald.SessionRef, n dagNode) string {
	first, last := n.archives[0], n.archives[len(n.archives)-1]
	turns := fmt.Sprintf("%d-%d", first.From, last.To)
	if n.depth == 0 {
		return fmt.Sprintf("%s (leaf, turns %s): %s", skald.ArchiveID(first.Index), turns, ref.ArchiveURI(first.Index))
	}
	return fmt.Sprintf("%s to %s (condensed, depth %d, turns %s): %s", skald.ArchiveID(first.Index), skald.ArchiveID(last.Index), n.depth, turns,
		ref.TurnsURI(first.From, last.To))
}
