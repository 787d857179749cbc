package fetch

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
)

// Filter says which files of a folder are wanted. Globs have the form of doublestar and match the whole path or its last segment.
type Filter struct {
	IgnoreDirs []string // names or paths of folders, beside the builtin ones
	Include    []string // when given, only these
	Exclude    []string
}

// builtin folders hold no content of a project's own.
var builtinIgnored = []string{
	".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".idea", ".vscode", ".tox", ".mypy_cache", ".pytest_cache",
	"__MACOSX",
}

var builtinFiles = []string{".DS_Store", "Thumbs.db", "desktop.ini"}

// Wants reports whether a file is to be imported.
func (f Filter) Wants(p string) bool {
	parts := strings.Split(p, "/")
	for i, dir := range parts[:len(parts)-1] {
		if slices.Contains(builtinIgnored, dir) || slices.Contains(f.IgnoreDirs, dir) ||
			slices.Contains(f.IgnoreDirs, strings.Join(parts[:i+1], "/")) {
			return false
		}
	}
	if slices.Contains(builtinFiles, parts[len(parts)-1]) {
		return false
	}
	return (len(f.Include) == 0 || matches(f.Include, p)) && !matches(f.Exclude, p)
}

// collector gathers the files of a folder under its limits, with unique names.
type collector struct {
	source *Source
	limits Limits
	taken  map[string]bool
	total  int64
}

func newCollector(s *Source, l Limits) *collector {
	return &collector{source: s, limits: l, taken: map[string]bool{}}
}

// add takes a file in. raw is its name in the archive or repository.
func (c *collector) add(raw string, size int64, open func() (io.ReadCloser, error)) error {
	const op = "fetch.collect"
	if len(c.source.Files) >= c.limits.Files {
		return skald.Invalid(op, "", "there are more than %d files", c.limits.Files)
	}
	if c.total += size; size < 0 || c.total > c.limits.Total {
		return skald.Invalid(op, "", "the files have more than %d bytes unpacked", c.limits.Total)
	}
	p := cleanPath(raw)
	if depth := strings.Count(p, "/") + 1; depth > c.limits.Depth {
		c.source.warn("%s: lies %d folders deep, the most is %d; left out", p, depth, c.limits.Depth)
		return nil
	}
	if c.taken[p] {
		p = Marked(p, raw)
	}
	if p != raw {
		c.source.warn("%q is called %q", raw, p)
	}
	c.taken[p] = true
	c.source.Files = append(c.source.Files, File{Path: p, Size: size, open: open})
	return nil
}

// sort puts the files in order.
func (c *collector) sort() {
	slices.SortFunc(c.source.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
}

// unwrap takes off a single folder around everything, and names the source after it.
func (c *collector) unwrap() {
	files := c.source.Files
	if len(files) == 0 {
		return
	}
	first, _, _ := strings.Cut(files[0].Path, "/")
	for _, f := range files {
		if !strings.HasPrefix(f.Path, first+"/") {
			return
		}
	}
	c.source.Name = first
	for i := range files {
		files[i].Path = strings.TrimPrefix(files[i].Path, first+"/")
	}
}
