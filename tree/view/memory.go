package view

import (
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/memory"
	"github.com/skald-engine/skald/tree"
)

func memoryNode(m skald.Memory) Node {
	n := file(Memory, m.Scope, m.URI, len(memory.Document(m)), m.Updated)
	n.Abstract, n.Created, n.Tags = tree.Line(m.Text), m.Created, m.Tags
	n.Memory = &m
	return n
}

func (v View) statMemory(p Place, uri skald.URI) (Node, error) {
	m, err := v.Tx.Memory(p.Scope, uri)
	if err == nil {
		return memoryNode(m), nil
	}
	if skald.KindOf(err) != skald.KindNotFound {
		return Node{}, err
	}
	within, listErr := v.Tx.Memories(skald.MemoryQuery{Scopes: []skald.Scope{p.Scope}, Prefix: uri, Limit: 1})
	if listErr != nil {
		return Node{}, listErr
	}
	if len(within) == 0 {
		return Node{}, err
	}
	return folder(Memory, p.Scope, uri, within[0].Updated), nil
}

// memoryPage is how many memories are asked for at once.
const memoryPage = 500

// memories lists the memories and folders of memories right below a folder. What lies in a folder below is stepped over, not read.
func (v View) memories(p Place, uri skald.URI) ([]Node, error) {
	if !p.aboveMemories() {
		return nil, nil
	}
	var out []Node
	q := skald.MemoryQuery{Scopes: []skald.Scope{p.Scope}, Prefix: uri, Limit: 1}
	if p.InMemories() && len(p.Path) > p.memoryDepth() { // a type's folder: mostly memories, few folders
		q.Limit = memoryPage
	}
	for {
		list, err := v.Tx.Memories(q)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			if m.URI <= q.After {
				continue // stepped over
			}
			name, _, deeper := strings.Cut(strings.TrimPrefix(string(m.URI), string(uri)+"/"), "/")
			if !deeper {
				out, q.After = append(out, memoryNode(m)), m.URI
				continue
			}
			child := uri.Join(name)
			out = append(out, folder(Memory, p.Scope, child, m.Updated))
			q.After = child + "0" // the byte after the slash: beyond all that lies below the folder
		}
		if len(list) < q.Limit {
			return out, nil
		}
	}
}
