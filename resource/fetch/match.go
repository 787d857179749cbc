package fetch

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/skald-engine/skald"
)

func matches(globs []string, p string) bool {
	for _, g := range globs {
		if ok, _ := doublestar.Match(g, p); ok {
			return true
		}
		if ok, _ := doublestar.Match(g, path.Base(p)); ok && !strings.Contains(g, "/") {
			return true
		}
	}
	return false
}

// Globs splits a comma-separated list and checks each. KindInvalid names the field.
func Globs(field, list string) ([]string, error) {
	globs := Names(list)
	for _, g := range globs {
		if !doublestar.ValidatePattern(g) {
			return nil, skald.Invalid("fetch.globs", field, "%q is not a pattern", g)
		}
	}
	return globs, nil
}

// Names splits a comma-separated list.
func Names(list string) (names []string) {
	for _, n := range strings.Split(list, ",") {
		if n = strings.Trim(strings.TrimSpace(n), "/"); n != "" {
			names = append(names, n)
		}
	}
	return names
}
