package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
)

// Children lists what stands in a folder, in order of URI. A file has none. KindNotFound when there is no such node.
func (v View) Children(uri skald.URI) (out []Node, err error) {
	n, err := v.Stat(uri)
	if err != nil || !n.Dir {
		return nil, err
	}
	err = v.each(n, func(c Node) error {
		out = append(out, c)
		return nil
	})
	return out, err
}

// filePage is how many files are read at once.
const filePage = 1000

// each calls fn for what stands in a folder, in order of URI. Of a large folder it reads no more pages than fn wants.
func (v View) each(n Node, fn func(Node) error) error {
	p, _ := v.Place(n.URI)
	if p.Above {
		return each(v.seen(v.above(n.URI)), fn)
	}
	rest, err := v.beside(p, n)
	if err != nil {
		return err
	}
	for q := (skald.FileQuery{Scopes: []skald.Scope{p.Scope}, Under: n.URI, Direct: true, Limit: filePage}); ; {
		files, err := v.Tx.Files(q)
		if err != nil {
			return err
		}
		page := make([]Node, len(files), len(files)+len(rest))
		for i, f := range files {
			page[i] = nodeOf(f)
		}
		last := len(files) < filePage
		if !last {
			q.After = files[len(files)-1].URI
		}
		for len(rest) > 0 && (last || rest[0].URI <= q.After) {
			page, rest = append(page, rest[0]), rest[1:]
		}
		if err := each(v.seen(sorted(page)), fn); err != nil || last {
			return err
		}
	}
}

func each(list []Node, fn func(Node) error) error {
	for _, n := range list {
		if err := fn(n); err != nil {
			return err
		}
	}
	return nil
}

// beside lists, in order, what stands in a folder and is no file: its texts, memories, sessions.
func (v View) beside(p Place, n Node) ([]Node, error) {
	var out []Node
	if n.Kind == Folder {
		out = texts(skald.File{Scope: n.Scope, URI: n.URI, Dir: true, Abstract: n.Abstract, Overview: n.Overview, Modified: n.Modified})
	}
	for _, more := range []func(Place, skald.URI) ([]Node, error){v.memories, v.sessions} {
		list, err := more(p, n.URI)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return sorted(out), nil
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
	return v.each(n, func(c Node) error {
		c.Depth = level
		err := fn(c)
		if err == error(SkipDir) {
			return nil
		}
		if err != nil || !c.Dir || level == depth {
			return err
		}
		return v.walk(c, level+1, depth, fn)
	})
}
