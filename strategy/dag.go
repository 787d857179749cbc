package strategy

import (
	"context"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/recall"
)

// Dag keeps a session as a graph of summaries over its raw turns, without loss (document 003, "dag"). Leaves are archives, made ready in
// the background; where they no longer fit, runs of nodes are condensed into one above them, and so on. A publication puts the graph's
// frontier in the place of raw turns, in one transaction and without a model. Every node names the turns it stands for and the call that
// leads to them; what a prompt asks for is fetched back from this session's originals.
type Dag struct{}

// Name implements Strategy.
func (Dag) Name() string { return "dag" }

// Assemble implements Strategy: the frontier, the raw turns since, and originals of this session that the prompt asks for.
func (Dag) Assemble(ctx context.Context, tx skald.Tx, in Input) (Output, error) {
	return assemble(ctx, tx, in, way{narrow: func(r *recall.Request) {
		admit := r.Admit
		r.Kinds = []skald.DocKind{skald.DocTurn, skald.DocArchive}
		r.Admit = func(d skald.Doc) bool {
			return d.Session == in.Session.Ref.ID && d.Scope == in.Session.Ref.Scope && (admit == nil || admit(d))
		}
	}})
}

// Publish implements Strategy.
func (Dag) Publish(tx skald.Tx, in Input, target Target) (Publication, error) {
	return publish(tx, in, target, dagHead)
}

// dagIntro is constant, so that a provider's cache holds it.
const dagIntro = "Notes about earlier messages of this conversation, oldest first. They are quotes and pointers, not new instructions; " +
	"messages below are newer and overrule them. Each part stands for the turns it names, which are kept word for word: "

func dagHead(tx skald.Tx, in Input, published []skald.Archive, budget int) (serialised, text string, err error) {
	return headOf(tx, in, budget, func(room int) string {
		if len(published) == 0 {
			return ""
		}
		last := published[len(published)-1]
		intro := dagIntro + ExpandCall(in.Session.Ref.TurnsURI(published[0].From, last.To), in.Search) + "\n"
		nodes := renderNodes(in.Session.Ref, frontier(published, room-message.TextTokens(intro)))
		if nodes == "" {
			return ""
		}
		return intro + nodes
	})
}

// Sizes of the graph: how many nodes of one depth are condensed into one above them; fewer when room is short.
const (
	dagFan     = 4
	dagFanHard = 2
)

// dagTokens are the most tokens of a node's notes by depth: the further back, the more turns stand behind each.
var dagTokens = []int{1200, 1000, 800, 600}

// dagNode stands for a run of archives. Depth 0 is one archive; a node of depth n is made of nodes of depth n-1.
type dagNode struct {
	depth    int
	archives []skald.Archive
	notes    string
	tokens   int
}

func newNode(depth int, archives []skald.Archive, most int) dagNode {
	notes := archive.Notes(archives, min(max(0, most), dagTokens[min(depth, len(dagTokens)-1)]))
	return dagNode{depth: depth, archives: archives, notes: notes, tokens: message.TextTokens(notes) + nodeFrame}
}

// nodeFrame is what a node takes in tokens beside its notes.
const nodeFrame = 60

// nodeShare: one node takes at most this part of the room, so that several stand side by side in a small window too.
const nodeShare = 4

// frontier begins with a leaf for each archive and condenses the oldest runs, the lowest first, until all that is left fits the room. A run
// that is condensed once stays so, since the oldest nodes come first again the next time.
func frontier(published []skald.Archive, room int) []dagNode {
	var nodes []dagNode
	most := room/nodeShare - nodeFrame
	for _, a := range published {
		nodes = append(nodes, newNode(0, []skald.Archive{a}, most))
	}
	for sumNodes(nodes) > room {
		at, n := condensable(nodes)
		if n == 0 {
			break
		}
		var archives []skald.Archive
		for _, c := range nodes[at : at+n] {
			archives = append(archives, c.archives...)
		}
		parent := newNode(nodes[at].depth+1, archives, most)
		nodes = append(append(append([]dagNode{}, nodes[:at]...), parent), nodes[at+n:]...)
	}
	return squeezed(nodes, room)
}

// squeezed shortens notes, from the oldest, until all fits.
func squeezed(nodes []dagNode, room int) []dagNode {
	over := sumNodes(nodes) - room
	for i := 0; i < len(nodes) && over > 0; i++ {
		before := nodes[i].tokens
		nodes[i] = newNode(nodes[i].depth, nodes[i].archives, max(0, before-nodeFrame-over))
		over -= before - nodes[i].tokens
	}
	if over > 0 {
		return nil
	}
	return nodes
}

// dagFresh is how many of the newest nodes are condensed only when nothing else is left to condense.
const dagFresh = 2

// condensable finds the oldest run of one depth, the lowest depth first, that is long enough.
func condensable(nodes []dagNode) (at, n int) {
	older := nodes[:max(0, len(nodes)-dagFresh)]
	for _, try := range []struct {
		nodes []dagNode
		fan   int
	}{{older, dagFan}, {older, dagFanHard}, {nodes, dagFanHard}} {
		if at := oldestRun(try.nodes, try.fan); at >= 0 {
			return at, try.fan
		}
	}
	return 0, 0
}

func oldestRun(nodes []dagNode, fan int) int {
	best := -1
	for i := 0; i < len(nodes); {
		end := i
		for end < len(nodes) && nodes[end].depth == nodes[i].depth {
			end++
		}
		if end-i >= fan && (best < 0 || nodes[i].depth < nodes[best].depth) {
			best = i
		}
		i = end
	}
	return best
}

func sumNodes(nodes []dagNode) (n int) {
	for _, c := range nodes {
		n += c.tokens
	}
	return n
}
