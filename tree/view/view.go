// Package view is the viking:// tree as one identity sees it: files and folders, memories, sessions with their archives. It lists, describes
// and reads any node, and asks the store only for the folder that is asked for.
package view

import (
	"slices"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/tree"
)

// View looks at the tree within one transaction.
type View struct {
	Tx     skald.Tx
	Policy skald.Policy
	ID     skald.Identity
}

// Kind says what stands behind a node.
type Kind string

// The kinds of nodes.
const (
	Space   Kind = "space"   // a folder that no store knows: a scope's root, what lies above it, and the folders that always exist
	Folder  Kind = "folder"  // a stored folder
	File    Kind = "file"    // a stored file
	Text    Kind = "text"    // L0 or L1 of a stored folder, shown as a file
	Memory  Kind = "memory"  // a memory, or a folder of memories
	Session Kind = "session" // a session's folder, or something in it
)

// Node is a node of the tree.
type Node struct {
	skald.FileInfo
	Kind     Kind
	Scope    skald.Scope // zero above the scopes
	Created  time.Time
	Tags     []string
	Media    string
	Hash     string
	Overview string // L1, for stored folders
	Memory   *skald.Memory
}

// ContextType is OpenViking's type of a node: memory, resource or skill.
func (n Node) ContextType() string { return ContextType(n.URI) }

// ContextType is OpenViking's type of what a URI names: memory, resource or skill.
func ContextType(uri skald.URI) string {
	parts := strings.Split(strings.TrimPrefix(string(uri), string(skald.Root)), "/")
	if parts[0] == "agent" && len(parts) > 1 && parts[1] == "skills" {
		return "skill"
	}
	if parts[0] != "user" && parts[0] != "agent" || len(parts) < 3 {
		return "resource"
	}
	rest := parts[2:]
	if len(rest) > 2 && (rest[0] == "peers" || rest[0] == "agent" || rest[0] == "user") { // of a peer, or an isolated space
		rest = rest[2:]
	}
	switch rest[0] {
	case "memories":
		return "memory"
	case "skills":
		return "skill"
	}
	return "resource"
}

// Place is where a URI lies: a scope and the path in it, or above the scopes.
type Place struct {
	Scope skald.Scope
	Path  []string
	Above bool // a scope's root lies below
}

// Place says where a URI lies; false when the identity may read no such place.
func (v View) Place(uri skald.URI) (Place, bool) {
	scopes := v.Policy.Readable(v.ID)
	slices.SortStableFunc(scopes, func(a, b skald.Scope) int { return len(b.RootURI()) - len(a.RootURI()) }) // the innermost first
	for _, s := range scopes {
		root := s.RootURI()
		if uri == root {
			return Place{Scope: s}, true
		}
		if rest, ok := strings.CutPrefix(string(uri), string(root)+"/"); ok {
			return Place{Scope: s, Path: strings.Split(rest, "/")}, true
		}
	}
	for _, s := range scopes {
		if uri == skald.Root || strings.HasPrefix(string(s.RootURI()), string(uri)+"/") {
			return Place{Above: true}, true
		}
	}
	return Place{}, false
}

// InMemories reports a path below the memories of a scope, or of one of its peers.
func (p Place) InMemories() bool { return p.memoryDepth() > 0 }

// memoryDepth is how many segments lead to the folder "memories" that a path lies in; 0 when it lies in none.
func (p Place) memoryDepth() int {
	switch {
	case p.Scope.Kind != skald.ScopeUser && p.Scope.Kind != skald.ScopeAgent:
	case len(p.Path) >= 1 && p.Path[0] == "memories":
		return 1
	case len(p.Path) >= 3 && p.Path[0] == "peers" && p.Path[2] == "memories":
		return 3
	}
	return 0
}

// aboveMemories reports a folder that memories may lie below, or in.
func (p Place) aboveMemories() bool {
	if p.Scope.Kind != skald.ScopeUser && p.Scope.Kind != skald.ScopeAgent {
		return false
	}
	return len(p.Path) == 0 || p.Path[0] == "memories" || p.Path[0] == "peers"
}

// InSessions reports a path in the sessions of a user.
func (p Place) InSessions() bool {
	return p.Scope.Kind == skald.ScopeUser && len(p.Path) > 0 && p.Path[0] == "sessions"
}

// always lists the folders of a scope that exist though nothing is in them.
func (p Place) always() bool {
	if len(p.Path) != 1 {
		return false
	}
	switch p.Scope.Kind {
	case skald.ScopeUser:
		return slices.Contains([]string{"memories", "sessions", "resources", "skills", "peers"}, p.Path[0])
	case skald.ScopeAgent:
		return slices.Contains([]string{"memories", "sessions"}, p.Path[0])
	}
	return false
}

// Stat describes a node. KindNotFound when there is none, KindPermission when the identity may not see where it would be.
func (v View) Stat(uri skald.URI) (Node, error) {
	p, ok := v.Place(uri)
	switch {
	case !ok:
		return Node{}, skald.NotFound("stat", string(uri))
	case p.Above, len(p.Path) == 0:
		return space(uri, p.Scope), nil
	}
	if n, err := v.statFile(p, uri); skald.KindOf(err) != skald.KindNotFound {
		return n, err
	}
	var n Node
	var err error
	switch {
	case p.InSessions():
		n, err = v.statSession(p, uri)
	case p.aboveMemories():
		n, err = v.statMemory(p, uri)
	default:
		err = skald.NotFound("stat", string(uri))
	}
	if skald.KindOf(err) == skald.KindNotFound && p.always() {
		return space(uri, p.Scope), nil
	}
	return n, err
}

func space(uri skald.URI, scope skald.Scope) Node { return folder(Space, scope, uri, time.Time{}) }

func folder(kind Kind, scope skald.Scope, uri skald.URI, modified time.Time) Node {
	return Node{Kind: kind, Scope: scope, FileInfo: skald.FileInfo{URI: uri, Name: uri.Name(), Dir: true, Modified: modified}}
}

func file(kind Kind, scope skald.Scope, uri skald.URI, size int, modified time.Time) Node {
	return Node{Kind: kind, Scope: scope, FileInfo: skald.FileInfo{URI: uri, Name: uri.Name(), Size: int64(size), Modified: modified}}
}

func nodeOf(f skald.File) Node {
	return Node{
		FileInfo: skald.FileInfo{URI: f.URI, Name: f.URI.Name(), Dir: f.Dir, Size: f.Size, Modified: f.Modified, Abstract: f.Abstract},
		Kind:     kindOf(f), Scope: f.Scope, Created: f.Created, Tags: f.Tags, Media: f.Media, Hash: f.Hash, Overview: f.Overview,
	}
}

func kindOf(f skald.File) Kind {
	if f.Dir {
		return Folder
	}
	return File
}

// statFile finds a stored file or folder, or the text of a folder.
func (v View) statFile(p Place, uri skald.URI) (Node, error) {
	f, err := v.Tx.File(p.Scope, uri)
	if err == nil {
		return nodeOf(f), nil
	}
	if skald.KindOf(err) != skald.KindNotFound || !IsText(uri) {
		return Node{}, err
	}
	f, parentErr := v.Tx.File(p.Scope, uri.Parent())
	if parentErr != nil {
		return Node{}, parentErr
	}
	for _, t := range texts(f) {
		if t.URI == uri {
			return t, nil
		}
	}
	return Node{}, err
}

// IsText reports the reserved name of a folder's L0 or L1.
func IsText(uri skald.URI) bool {
	return uri.Name() == tree.AbstractName || uri.Name() == tree.OverviewName
}

// texts lists the L0 and L1 of a stored folder as files.
func texts(f skald.File) []Node {
	var out []Node
	for _, t := range []struct{ name, text string }{{tree.AbstractName, f.Abstract}, {tree.OverviewName, f.Overview}} {
		if f.Dir && t.text != "" {
			out = append(out, file(Text, f.Scope, f.URI.Join(t.name), len(t.text), f.Modified))
		}
	}
	return out
}
