package strategy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/message"
)

// manyArchives have 40 turns and ten decisions each.
func manyArchives(n int) (list []skald.Archive) {
	for i := range n {
		a := skald.Archive{Index: i + 1, Epoch: 1, From: int64(40*i + 1), To: int64(40*i + 40), State: skald.ArchiveDone}
		section := skald.Section{Title: archive.SectionDecisions}
		for j := range 10 {
			section.Lines = append(section.Lines, skald.Line{Text: fmt.Sprintf("Decision %d.%d: the gate of house number %d is painted in tone %d", i, j, 31*i+j, j),
				Time: time.Date(2026, 3, 2, 9, i%60, j, 0, time.UTC), Speaker: "user", From: a.From + int64(j), To: a.From + int64(j)})
		}
		a.Overview = []skald.Section{section}
		list = append(list, a)
	}
	return list
}

// TestDagFrontier: whatever the number of archives, the frontier fits, stands for all of them without gap or overlap, is condensed more the
// further back, and keeps the newest as leaves.
func TestDagFrontier(t *testing.T) {
	t.Parallel()
	ref := skald.SessionRef{ID: "s1"}
	for _, n := range []int{1, 3, 4, 5, 17, 64, 400} {
		for _, room := range []int{300, 1500, 4000, 20_000} {
			nodes := frontier(manyArchives(n), room)
			if got := message.TextTokens(renderNodes(ref, nodes)); got > room {
				t.Fatalf("%d archives take %d of %d tokens", n, got, room)
			}
			next, depth := 1, nodes[0].depth
			for _, c := range nodes {
				if c.archives[0].Index != next || c.depth > depth {
					t.Fatalf("%d archives in %d tokens: a node of depth %d begins at %d, want %d", n, room, c.depth, c.archives[0].Index, next)
				}
				next, depth = next+len(c.archives), c.depth
			}
			if next != n+1 {
				t.Fatalf("%d archives in %d tokens: the frontier ends at %d", n, room, next-1)
			}
		}
	}
	nodes := frontier(manyArchives(64), 4000)
	if last := nodes[len(nodes)-1]; last.depth != 0 || !strings.Contains(last.notes, "Decision 63.9") || nodes[0].depth < 2 {
		t.Errorf("depth %d first, %d last: %s", nodes[0].depth, last.depth, last.notes)
	}
}
