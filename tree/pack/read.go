package pack

import (
	"archive/zip"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skald-engine/skald"
)

// Limits bound what a pack may hold.
type Limits struct {
	Files int   // nodes
	File  int64 // bytes of one, unpacked
	Total int64 // bytes of all, unpacked
}

// maxManifest is the most that a manifest may weigh, in bytes.
const maxManifest = 64 << 20

// Entry is a node of a pack that is read. Path is relative to the root.
type Entry struct {
	Path string
	Dir  bool
	Size int64
	hash string // "" not known
	file *zip.File
}

// Pack is a pack whose table of contents was checked. The content of a file is checked when it is read.
type Pack struct {
	Root    Root
	Entries []Entry // in order of path: a folder before what is in it
}

func broken(format string, args ...any) error {
	return skald.Invalid("pack.read", "pack", format, args...)
}

// Open reads the table of contents. KindInvalid: it is no pack, has a path that leads outside, is over the limits, or does not agree with
// its own manifest.
func Open(r io.ReaderAt, size int64, l Limits) (*Pack, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, broken("not a zip file: %w", err)
	}
	if len(z.File) > l.Files {
		return nil, broken("more than %d members", l.Files)
	}
	root, err := check(z.File, l)
	if err != nil {
		return nil, err
	}
	m, err := readManifest(z.File, root)
	if err != nil {
		return nil, err
	}
	p := &Pack{Root: m.Root}
	p.Root.Name = root
	for _, f := range z.File {
		if path := inner(f.Name, m.Version); path != "" {
			p.Entries = append(p.Entries, Entry{Path: path, Dir: f.FileInfo().IsDir(), Size: int64(f.UncompressedSize64), file: f})
		}
	}
	if err := p.agree(m); err != nil {
		return nil, err
	}
	slices.SortStableFunc(p.Entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return p, nil
}

// check looks at names and sizes, and returns the one root of all paths.
func check(files []*zip.File, l Limits) (root string, err error) {
	var total, packed uint64
	seen := map[string]bool{}
	for _, f := range files {
		if err := name(f.Name); err != nil {
			return "", err
		}
		first, _, _ := strings.Cut(f.Name, "/")
		if root == "" {
			root = first
		}
		switch plain := strings.TrimSuffix(f.Name, "/"); {
		case first != root:
			return "", broken("it has more than one root: %q and %q", root, first)
		case seen[plain]:
			return "", broken("%q stands in it twice", f.Name)
		case !f.FileInfo().IsDir() && !f.Mode().IsRegular():
			return "", broken("%q is neither a file nor a folder", f.Name)
		case f.UncompressedSize64 > uint64(l.File) && !strings.Contains(f.Name, "/_ovpack/"):
			return "", broken("%q is larger than %d MB", f.Name, l.File>>20)
		default:
			seen[plain] = true
		}
		total, packed = total+f.UncompressedSize64, packed+f.CompressedSize64
	}
	switch {
	case total > uint64(l.Total):
		return "", broken("it is larger than %d MB unpacked", l.Total>>20)
	case total > 64<<20 && total/max(packed, 1) > 500:
		return "", broken("it unpacks to more than 500 times its size")
	}
	return root, nil
}

// name refuses paths that lead outside, or that no tree has.
func name(n string) error {
	if !utf8.ValidString(n) || strings.HasPrefix(n, "/") || strings.ContainsAny(n, "\\\x00") {
		return broken("the path %q is not allowed", n)
	}
	for _, part := range strings.Split(strings.TrimSuffix(n, "/"), "/") {
		if part == "" || part == "." || part == ".." || len(part) > 255 || len(part) == 2 && part[1] == ':' {
			return broken("the path %q is not allowed", n)
		}
	}
	return nil
}

// inner is a member's path without the pack's own frame; "" for what belongs to the frame. Packs before version 3 had the files right
// under the root, and wrote "_._" for a leading dot.
func inner(member string, version int) string {
	_, path, _ := strings.Cut(strings.TrimSuffix(member, "/"), "/")
	if path == "_ovpack" || strings.HasPrefix(path, "_ovpack/") {
		return ""
	}
	if version >= 3 {
		rest, ok := strings.CutPrefix(path, "files/")
		if !ok {
			return ""
		}
		return rest
	}
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if rest, ok := strings.CutPrefix(p, "_._"); ok {
			parts[i] = "." + rest
		}
	}
	return strings.Join(parts, "/")
}

func readManifest(files []*zip.File, root string) (m manifest, err error) {
	i := slices.IndexFunc(files, func(f *zip.File) bool { return f.Name == root+"/_ovpack/manifest.json" })
	if i < 0 {
		return m, broken("it has no _ovpack/manifest.json: this is no pack")
	}
	b, err := unzip(files[i], maxManifest)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, broken("its manifest is not readable: %w", err)
	}
	switch {
	case m.Kind != "" && m.Kind != kind:
		return m, broken("it is a %q, not a pack of OpenViking", m.Kind)
	case m.Version < 1 || m.Version > version:
		return m, broken("format version %d is not known: this Skald reads 1 to %d", m.Version, version)
	}
	return m, nil
}

// agree compares the table of contents with the manifest. Early versions have no list.
func (p *Pack) agree(m manifest) error {
	if m.Version < 3 {
		return nil
	}
	if got, err := contentHash(m.Entries); err != nil || m.Content != "" && got != m.Content {
		return broken("its list of files does not have the hash that the manifest says")
	}
	listed := map[string]entry{}
	for _, e := range m.Entries {
		listed[strings.TrimSuffix(e.Path, "/")] = e
	}
	for i, e := range p.Entries {
		want, ok := listed[e.Path]
		switch {
		case e.Dir:
		case !ok:
			return broken("%q is not in its manifest", e.Path)
		case want.Size != e.Size:
			return broken("%q has %d bytes, not the %d of the manifest", e.Path, e.Size, want.Size)
		default:
			p.Entries[i].hash = want.Hash
		}
		delete(listed, e.Path)
	}
	for path, e := range listed {
		if e.Kind == "file" {
			return broken("%q of its manifest is missing", path)
		}
	}
	return nil
}

// Read unpacks a file. KindInvalid when it is not what the manifest says.
func (e Entry) Read() ([]byte, error) {
	b, err := unzip(e.file, e.Size)
	if err == nil && e.hash != "" && hash(b) != e.hash {
		err = broken("%q does not have the hash of the manifest", e.Path)
	}
	return b, err
}

// unzip reads a member, at most most bytes of it.
func unzip(f *zip.File, most int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, broken("%q cannot be unpacked: %w", f.Name, err)
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	switch {
	case err != nil:
		return nil, broken("%q cannot be unpacked: %w", f.Name, err)
	case int64(len(b)) > most:
		return nil, broken("%q is larger than it says", f.Name)
	}
	return b, nil
}
