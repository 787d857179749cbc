package resource

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/resource/fetch"
	"github.com/skald-engine/skald/resource/parse"
)

// mark is what an import writes on each of its nodes (File.Extra), to find again what it wrote.
type mark struct {
	Root skald.URI `json:"import"`          // of the import
	From string    `json:"from,omitempty"`  // path of the file in the source
	At   skald.URI `json:"at,omitempty"`    // where the file stands; its other nodes lie below
	Hash string    `json:"hash,omitempty"`  // of that file; only on its first node, which is written last
	Way  string    `json:"way,omitempty"`   // how it was read
	Kind string    `json:"parse,omitempty"` // the parser's name
	// Of the root:
	Source      string `json:"source,omitempty"`
	Reason      string `json:"reason,omitempty"`
	Instruction string `json:"instruction,omitempty"`
	Revision    string `json:"revision,omitempty"`
}

func markOf(f skald.File) (m mark) {
	_ = json.Unmarshal(f.Extra, &m) // not ours: an empty one
	return m
}

// before is what the imports of a root have written so far.
type before struct {
	nodes map[string][]skald.File // by path of the source file, in order of URI
	taken map[skald.URI]bool      // all that stands below the root
}

func look(tx skald.Tx, scope skald.Scope, root skald.URI) (before, error) {
	b := before{nodes: map[string][]skald.File{}, taken: map[skald.URI]bool{}}
	list, err := tx.Files(skald.FileQuery{Scopes: []skald.Scope{scope}, Under: root})
	if err != nil {
		return b, err
	}
	top, err := tx.File(scope, root)
	if err == nil {
		list = append(list, top)
	} else if skald.KindOf(err) != skald.KindNotFound {
		return b, err
	}
	for _, f := range list {
		b.taken[f.URI] = true
		if m := markOf(f); m.Root == root && m.From != "" {
			b.nodes[m.From] = append(b.nodes[m.From], f)
		}
	}
	return b, nil
}

// first is the node that stands for a source file: the one with the hash, or nil.
func (b before) first(from string) *skald.File {
	for i, f := range b.nodes[from] {
		if markOf(f).Hash != "" {
			return &b.nodes[from][i]
		}
	}
	return nil
}

// at is where an earlier import put a file, also one that was interrupted in the middle of it.
func (b before) at(from string) (skald.URI, bool) {
	for _, f := range b.nodes[from] {
		if m := markOf(f); m.At != "" {
			return m.At, true
		}
	}
	return "", false
}

// place says where each file of a source goes. What an earlier import placed stays where it is; nothing that somebody else put there is
// overwritten.
func place(b before, root skald.URI, s *fetch.Source, flat bool) map[string]skald.URI {
	places := map[string]skald.URI{}
	if s.Single {
		f := s.Files[0].Path
		places[f] = root
		if at, ok := b.at(f); ok {
			places[f] = at
		} else if !folderOf(f) {
			places[f] = root.Join(f)
		}
		return places
	}
	folders := map[skald.URI]bool{root: true}
	for _, f := range s.Files {
		if at, ok := b.at(f.Path); ok {
			places[f.Path] = at
		}
		for d := path.Dir(f.Path); d != "." && !flat; d = path.Dir(d) {
			folders[root.Join(d)] = true
		}
	}
	for _, f := range s.Files {
		if _, ok := places[f.Path]; ok {
			continue
		}
		dir := root
		if d := path.Dir(f.Path); d != "." && !flat {
			dir = root.Join(d)
		}
		name := path.Base(f.Path)
		choices := []string{name, fetch.Marked(name, f.Path)}
		if folderOf(name) {
			stem := strings.TrimSuffix(name, path.Ext(name))
			choices = []string{stem, strings.ReplaceAll(name, ".", "_"), stem + "_" + fetch.Mark(f.Path)}
		}
		for i, c := range choices {
			uri := dir.Join(fetch.CleanName(c))
			if i == len(choices)-1 || !b.taken[uri] && !folders[uri] {
				places[f.Path] = uri
				b.taken[uri] = true
				break
			}
		}
	}
	return places
}

// folderOf reports whether a file of that name becomes a folder of its own.
func folderOf(name string) bool {
	_, media := parse.Media(name)
	return media || parse.Converted(name)
}
