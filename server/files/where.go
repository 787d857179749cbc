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
		if len(name) > maxName || strings.TrimSpace(name) == "" || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return p, invalid(uri, "a name has 1 to %d bytes and no control characters", maxName)
		}
	}
	switch {
	case p.Scope.Kind == skald.ScopeUser && slices.Contains(managed, p.Path[0]):
		return p, invalid(uri, "user-scope writes go to memories/, resources/ or your own folders; %s/ has an interface of its own", p.Path[0])
	case p.Scope.Kind == skald.ScopeAgent && p.Path[0] != "memories":
		return p, invalid(uri, "agent-scope writes go to the shared viking://agent/skills, or to the agent's memories/")
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
	return invalid(uri, "creating a new file does not allow the extension %q: use one of %s, batch-write, or import it as a resource",
		ext, strings.Join(creatable, " "))
}
