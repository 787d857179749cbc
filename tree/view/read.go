package view

import (
	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/memory"
	"github.com/skald-engine/skald/tree"
)

// Read returns the bytes of a node: a file's content, a memory with its front matter, a session's messages one a line. A session or
// archive named as a whole reads as its messages or its overview; any other folder is KindInvalid.
func (v View) Read(uri skald.URI) ([]byte, error) { return v.read(uri, true) }

// Body is Read, of a memory without its front matter.
func (v View) Body(uri skald.URI) ([]byte, error) { return v.read(uri, false) }

func (v View) read(uri skald.URI, whole bool) ([]byte, error) {
	p, ok := v.Place(uri)
	if !ok {
		return nil, skald.NotFound("read", string(uri))
	}
	f, err := v.Tx.File(p.Scope, uri)
	switch {
	case err == nil && !f.Dir:
		return f.Body, nil
	case err == nil:
		return nil, isFolder(uri)
	case skald.KindOf(err) != skald.KindNotFound:
		return nil, err
	}
	n, err := v.Stat(uri)
	switch {
	case skald.KindOf(err) == skald.KindNotFound && p.InSessions() && len(p.Path) > 1: // a short id, which no folder lists
		text, err := v.readSession(uri)
		return []byte(text), err
	case err != nil:
		return nil, err
	case n.Kind == Session && len(p.Path) > 1:
		text, err := v.readSession(uri)
		return []byte(text), err
	case n.Dir:
		return nil, isFolder(uri)
	case n.Kind == Text:
		return v.text(n)
	}
	m, err := v.Tx.Memory(p.Scope, uri)
	if whole {
		return []byte(memory.Document(m)), err
	}
	return []byte(m.Text), err
}

func (v View) text(n Node) ([]byte, error) {
	f, err := v.Tx.File(n.Scope, n.URI.Parent())
	if n.Name == tree.AbstractName {
		return []byte(f.Abstract), err
	}
	return []byte(f.Overview), err
}

func isFolder(uri skald.URI) error {
	return &skald.Error{Op: "read", URI: string(uri), Field: "uri", Kind: skald.KindInvalid, Err: errFolder}
}

var errFolder = skald.E("", skald.KindInvalid, "is a folder, not a file")
