package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
)

// Children lists what stands in a folder, in order of URI. A file has none. KindNotFound when there is no such node.
func (v View) Children(uri skald.URI) ([]Node, error) {
	n, err := v.Stat(uri)
	if err != nil || !n.Dir {
		return nil, err
	}
	return v.children(n)
}

func (v View) children(n Node) ([]Node, error) {
	p, _ := v.Place(n.URI)
	if p.Above {
		return v.above(n.URI), nil
	}
	files, err := v.Tx.Files(skald.FileQuery{Scopes: []skald.Scope{p.Scope}, Under: n.URI, Direct: true})
	if err != nil {
		return nil, err
	}
	out := make([]Node, 0, len(files)+2)
	if n.Kind == Folder {
		out = append(out, texts(skald.File{Scope: n.Scope, URI: n.URI, Dir: true, Abstract: n.Abstract, Overview: n.Overview, Modified: n.Modified})...)
	}
	for _, f := range files {
		out = append(out, nodeOf(f))
	}
	for _, more := range []func(Place, skald.URI) ([]Node, error){v.memories, v.sessions} {
		list, err := more(p, n.URI)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return v.seen(sorted(out)), nil
}

// seen leaves out what an identity that acts on behalf of a peer may not see.
func (v View) seen(list []Node) []Node {
	return slices.DeleteFunc(list, func(n Node) bool { return !v.ID.Sees(n.URI) })
}

// sorted orders nodes and drops the second of a name: a stored folder stands before one that something in it implies.
func sorted(list []Node) []Node {
	slices.SortStableFunc(list, func(a, b Node) int { return cmp.Compare(a.URI, b.URI) })
	return slices.CompactFunc(list, func(a, b Node) bool { return a.URI == b.URI })
}

// above lists the next folders on the way to the scopes that the identity may read.
func (v View) above(uri skald.URI) []Node {
	var out []Node
	prefix := strings.TrimRight(string(uri), "/") + "/"
	if uri == skald.Root {
		prefix = string(skald.Root)
	}
	for _, s := range v.Policy.Readable(v.ID) {
		if rest, ok := strings.CutPrefix(string(s.RootURI()), prefix); ok {
			name, _, deeper := strings.Cut(rest, "/")
			n := space(skald.URI(prefix+name), skald.Scope{})
			if !deeper {
				n.Scope = s
			}
			out = append(out, n)
		}
	}
	return sorted(out)
}

// SkipDir tells Walk to leave out what lies below a folder.
var SkipDir = skald.E("view", skald.KindInternal, "skip this folder")

// Walk calls fn for everything below a folder, a folder before what is in it, down to depth levels. It ends at fn's first error, which it
// returns; SkipDir of a folder leaves that out.
func (v View) Walk(uri skald.URI, depth int, fn func(Node) error) error {
	n, err := v.Stat(uri)
	if err != nil || !n.Dir {
		return err
	}
	return v.walk(n, 1, depth, fn)
}

func (v View) walk(n Node, level, depth int, fn func(Node) error) error {
	list, err := v.children(n)
	if err != nil {
		return err
	}
	for _, c := range list {
		c.Depth = level
		switch err := fn(c); {
		case err == error(SkipDir):
			continue
		case err != nil:
			return err
		}
		if c.Dir && level < depth {
			if err := v.walk(c, level+1, depth, fn); err != nil {
				return err
			}
		}
	}
	return nil
}
