package skill

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/tree"
)

// Limits of a skill's files.
const (
	MaxFiles = 2000     // files beside SKILL.md
	MaxBytes = 64 << 20 // all of them, unpacked
	MaxPath  = 512      // bytes of a path
)

// Bundle is a skill with the files beside its SKILL.md, in order of their paths.
type Bundle struct {
	Skill
	Files []File
	Dir   string // its folder in the archive, "" the archive itself
}

// File is a file beside a SKILL.md.
type File struct {
	Path string // below the skill's folder, with slashes
	Data []byte
}

// add puts a file in, under its checked path. What is derived (a folder's abstract and overview) or left by an operating system is left out.
func (b *Bundle) add(raw string, data []byte) error {
	p, err := cleanPath(raw)
	if err != nil {
		return err
	}
	switch base := path.Base(p); {
	case base == tree.AbstractName, base == tree.OverviewName, base == ".DS_Store", strings.HasPrefix(p, "__MACOSX/"):
		return nil
	}
	b.Files = append(b.Files, File{Path: p, Data: data})
	return nil
}

// check looks at all files together: their number and size, and that no path stands there twice or goes through a file.
func (b *Bundle) check() error {
	slices.SortFunc(b.Files, func(x, y File) int { return strings.Compare(x.Path, y.Path) })
	if len(b.Files) > MaxFiles {
		return skald.Invalid("skill", "files", "a skill has at most %d files, %q has %d", MaxFiles, b.Name, len(b.Files))
	}
	size, seen := 0, map[string]bool{Main: true}
	for _, f := range b.Files {
		if seen[f.Path] {
			return skald.Invalid("skill", "files", "%q stands there twice", f.Path)
		}
		seen[f.Path] = true
		size += len(f.Data)
	}
	for _, f := range b.Files {
		for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
			if seen[dir] {
				return skald.Invalid("skill", "files", "%q is a file and a folder", dir)
			}
		}
	}
	if size > MaxBytes {
		return skald.Invalid("skill", "files", "the files of %q are larger than %d bytes together", b.Name, MaxBytes)
	}
	return nil
}

// cleanPath makes a path of an archive or an object one that can stand in a URI, or says why it cannot: no way out of the skill's folder, no
// drive, no control characters. White space around a name goes, since a URI has none there.
func cleanPath(raw string) (string, error) {
	wrong := func(why string) (string, error) {
		return "", skald.Invalid("skill", "files", "the path %q %s", clip(raw), why)
	}
	switch {
	case !utf8.ValidString(raw):
		return wrong("is not UTF-8")
	case len(raw) > MaxPath:
		return wrong(fmt.Sprintf("is longer than %d bytes", MaxPath))
	case strings.HasPrefix(raw, "/") || strings.Contains(raw, `\`) || len(raw) > 1 && raw[1] == ':':
		return wrong("is not relative to the skill's folder, with slashes")
	case strings.ContainsFunc(raw, unicode.IsControl):
		return wrong("holds control characters")
	}
	parts := strings.Split(raw, "/")
	for i, p := range parts {
		p = strings.TrimSpace(p)
		if p == "" || p == "." || p == ".." {
			return wrong("leads out of the skill's folder, or has an empty part")
		}
		if decoded, err := url.PathUnescape(p); err == nil && decoded != p {
			return wrong("looks like a percent-encoded one: rename the file")
		}
		parts[i] = p
	}
	return strings.Join(parts, "/"), nil
}

func clip(s string) string {
	if len(s) > 120 {
		s = s[:120] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// Unpack reads what was uploaded: a zip archive with one or more skills, or the text of one SKILL.md. Every folder that holds a SKILL.md is a
// skill; what lies outside of these folders is left out.
func Unpack(data []byte) ([]Bundle, error) {
	if !bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		s, err := Parse(string(data))
		return []Bundle{{Skill: s}}, err
	}
	files, err := unzip(data)
	if err != nil {
		return nil, err
	}
	return bundles(files, "archive")
}

// bundles are the skills among files; where names what they lie in.
func bundles(files []File, where string) ([]Bundle, error) {
	roots := rootsOf(files)
	if len(roots) == 0 {
		return nil, skald.Invalid("skill", "data", "there is no %s in the %s", Main, where)
	}
	var out []Bundle
	for _, root := range roots {
		b, err := bundleAt(files, root)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(o Bundle) bool { return o.Name == b.Name }) {
			return nil, skald.Invalid("skill", "name", "two skills of the %s have the name %q", where, b.Name)
		}
		out = append(out, b)
	}
	return out, nil
}

// unzip reads an archive within the limits, whatever its headers promise. Links are refused: what they lead to is not in the archive.
func unzip(data []byte) ([]File, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, skald.Invalid("skill", "data", "the archive cannot be read: %w", err)
	}
	var files []File
	left := int64(MaxBytes + MaxMain)
	for _, f := range r.File {
		p, err := cleanPath(strings.TrimSuffix(f.Name, "/"))
		switch {
		case err != nil:
			return nil, err
		case f.FileInfo().IsDir():
			continue
		case !f.Mode().IsRegular():
			return nil, skald.Invalid("skill", "files", "%q is a link or a device: archives of skills hold files and folders only", p)
		case len(files) == 2*MaxFiles:
			return nil, skald.Invalid("skill", "files", "the archive has more than %d files", 2*MaxFiles)
		}
		body, err := unpackOne(f, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(body))
		files = append(files, File{Path: p, Data: body})
	}
	return files, nil
}

func unpackOne(f *zip.File, left int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, skald.Invalid("skill", "files", "%q cannot be unpacked: %w", clip(f.Name), err)
	}
	defer r.Close()
	body, err := io.ReadAll(io.LimitReader(r, left+1))
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, skald.Invalid("skill", "files", "%q cannot be unpacked: %w", clip(f.Name), err)
	case int64(len(body)) > left:
		return nil, skald.Invalid("skill", "files", "the archive is larger than %d bytes when it is unpacked", MaxBytes)
	}
	return body, nil
}

// rootsOf lists the folders that hold a SKILL.md, "" for the archive itself; a skill does not lie within another one.
func rootsOf(files []File) (roots []string) {
	for _, f := range files {
		if isMain(f.Path) {
			roots = append(roots, strings.TrimPrefix(path.Dir(f.Path)+"/", "./"))
		}
	}
	slices.Sort(roots)
	return slices.DeleteFunc(slices.Compact(roots), func(r string) bool {
		return slices.ContainsFunc(roots, func(outer string) bool { return outer != r && strings.HasPrefix(r, outer) })
	})
}

func isMain(p string) bool {
	return strings.EqualFold(path.Base(p), Main) && !strings.HasPrefix(p, "__MACOSX/")
}

// bundleAt is the skill in a folder of the archive; root ends with a slash, or is "".
func bundleAt(files []File, root string) (b Bundle, err error) {
	b.Dir = strings.TrimSuffix(root, "/")
	for _, f := range files {
		rest, inside := strings.CutPrefix(f.Path, root)
		switch {
		case !inside:
		case strings.EqualFold(rest, Main):
			if b.Skill, err = Parse(string(f.Data)); err != nil {
				return b, fmt.Errorf("%s: %w", f.Path, err)
			}
		default:
			if err := b.add(rest, f.Data); err != nil {
				return b, err
			}
		}
	}
	return b, b.check()
}
