package files

import (
	"path"
	"slices"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/tree/view"
)

// Bounds of what is stored.
const (
	MaxContent = 64 << 20 // bytes of one file
	maxDepth   = 64       // folders
	maxName    = 255      // bytes of a path's segment
)

// creatable are the extensions that a single write may make a file with, as in OpenViking.
var creatable = []string{".md", ".txt", ".json", ".yaml", ".yml", ".toml", ".py", ".js", ".ts"}

// managed are the folders of a user that have interfaces of their own.
var managed = []string{"skills", "peers", "privacy", "sessions"}

// writable says where a URI lies that is to be written. KindInvalid: nothing is written there by hand.
func writable(v view.View, uri skald.URI) (view.Place, error) {
	p, ok := v.Place(uri)
	switch {
	case !ok:
		return p, &skald.Error{Op: "files.write", URI: string(uri), Field: "uri", Kind: skald.KindPermission, Err: errOutside}
	case p.Above, len(p.Path) == 0:
		return p, invalid(uri, "is a namespace root: name something in it")
	case len(p.Path) > maxDepth:
		return p, invalid(uri, "is deeper than %d folders", maxDepth)
	}
	for _, name := range p.Path {
		if len(name) > maxName || strings.TrimSpace(name) == "" || strings.ContainsFunc(name,
			func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return p, invalid(uri, "has a name that is none: 1 to %d bytes, no control characters", maxName)
		}
	}
	switch {
	case p.Scope.Kind == skald.ScopeUser && slices.Contains(managed, p.Path[0]):
		return p, invalid(uri,
			"cannot be written by hand: %s/ has an interface of its own; write to memories/, resources/ or a folder of your own", p.Path[0])
	case p.Scope.Kind == skald.ScopeAgent && p.Path[0] != "memories":
		return p, invalid(uri, "cannot be written: of agents, only the shared viking://agent/skills and the agent's memories/ can")
	}
	return p, nil
}

var errOutside = skald.E("", skald.KindPermission, "write permission required")

// mayMake reports whether a single write may make a file of this name.
func mayMake(uri skald.URI) error {
	ext := path.Ext(uri.Name())
	if view.IsText(uri) || slices.Contains(creatable, strings.ToLower(ext)) {
		return nil
	}
	return invalid(uri,
		"is new, and %q is no extension that a new file may have here: use one of %s, batch-write, or import it as a resource",
		ext, strings.Join(creatable, " "))
}
