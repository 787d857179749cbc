package files

import (
	"context"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/tree/view"
)

// Glob implements api.Files: * and ? stay within a name, ** crosses folders, {a,b} is either. Hidden names are left out. The
// part of the pattern before its first wildcard is gone to directly.
func (f *Files) Glob(
	ctx context.Context, id skald.Identity, raw, pattern string, limit int, keep func(view.Node) bool,
) (found []view.Node, cut bool, err error) {
	pattern = strings.Trim(pattern, "/")
	if !doublestar.ValidatePattern(pattern) {
		return nil, false, skald.Invalid("files.glob", "pattern", "%q is not a valid pattern", pattern)
	}
	if n := alternatives(pattern); n > maxAlternatives {
		return nil, false, skald.Invalid("files.glob", "pattern", "its braces stand for more than %d patterns", maxAlternatives)
	}
	err = f.look(ctx, id, raw, func(v view.View, root skald.URI) error {
		found, cut = nil, false
		n, err := v.Stat(root)
		switch {
		case err != nil:
			return err
		case !n.Dir:
			return invalid(root, "is a file, not a folder")
		}
		base, rest := doublestar.SplitPattern(pattern)
		start := root
		if base != "." {
			start = join(root, base)
			if n, err := v.Stat(start); err != nil || !n.Dir {
				return nothing(err)
			}
		}
		return walk(v, start, maxDepth, func(n view.Node) error {
			if strings.HasPrefix(n.Name, ".") {
				return view.SkipDir
			}
			rel := strings.TrimPrefix(strings.TrimPrefix(string(n.URI), string(start)), "/")
			if ok, err := doublestar.Match(rest, rel); err != nil || !ok || !keep(n) {
				return ctx.Err()
			}
			if limit > 0 && len(found) >= limit {
				cut = true
				return errEnough
			}
			found = append(found, n)
			return nil
		})
	})
	return found, cut, err
}

// maxAlternatives is how many patterns the braces of one may stand for: the time of a match grows with them.
const maxAlternatives = 1000

// alternatives counts the patterns that the braces of one stand for, up to just over maxAlternatives.
func alternatives(pattern string) int {
	type group struct{ done, open int } // of the alternatives before the last comma, and of the one after it
	stack := []group{{0, 1}}
	for i := 0; i < len(pattern); i++ {
		last := &stack[len(stack)-1]
		switch pattern[i] {
		case '\\':
			i++
		case '[': // a class: what stands in it stands for itself
			for i++; i < len(pattern) && pattern[i] != ']'; i++ {
				if pattern[i] == '\\' {
					i++
				}
			}
		case '{':
			stack = append(stack, group{0, 1})
		case ',':
			if len(stack) > 1 {
				*last = group{last.done + last.open, 1}
			}
		case '}':
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
				outer := &stack[len(stack)-1]
				outer.open = min(outer.open*(last.done+last.open), maxAlternatives+1)
			}
		}
	}
	return stack[0].open
}

// join adds a path to a URI, which may be the root.
func join(uri skald.URI, path string) skald.URI {
	if uri == skald.Root {
		return skald.Root + skald.URI(path)
	}
	return uri.Join(path)
}

// nothing is no error where the folder that a pattern begins with is missing: nothing matches.
func nothing(err error) error {
	switch skald.KindOf(err) {
	case skald.KindNotFound, skald.KindPermission:
		return nil
	}
	return err
}
