package fetch

import (
	"archive/zip"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/skald-engine/skald"
)

// unzip lists the files of an archive into s. An archive that tries to leave its folder, holds links, or is out of proportion is refused
// as a whole, before anything of it is read (SEC-01).
func unzip(s *Source, path string, filter Filter, limits Limits) error {
	r, err := openZip(path)
	if err != nil {
		return err
	}
	s.close = append(s.close, r)
	if err := proportionate(r.File, path, limits); err != nil {
		return err
	}
	c := newCollector(s, limits)
	encrypted := 0
	for _, f := range r.File {
		name, err := memberName(f)
		switch {
		case err != nil:
			return err
		case strings.HasSuffix(name, "/"):
			continue
		case f.Flags&1 != 0:
			encrypted++
			continue
		case !filter.Wants(name):
			continue
		}
		if err := c.add(name, int64(f.UncompressedSize64), func() (io.ReadCloser, error) { return f.Open() }); err != nil {
			return err
		}
	}
	if encrypted > 0 {
		s.warn("%d encrypted members are left out", encrypted)
	}
	c.sort()
	c.unwrap()
	return nil
}

func openZip(path string) (*zip.ReadCloser, error) {
	r, err := zip.OpenReader(path)
	if errors.Is(err, zip.ErrInsecurePath) { // looked at one by one, below
		err = nil
	}
	var missing *fs.PathError
	switch {
	case errors.As(err, &missing):
		return nil, skald.E("fetch.zip", skald.KindInternal, "%w", err)
	case err != nil:
		return nil, skald.Invalid("fetch.zip", "", "not a valid zip archive: %w", err)
	}
	return r, nil
}

func proportionate(files []*zip.File, path string, limits Limits) error {
	const op = "fetch.zip"
	info, err := os.Stat(path)
	if err != nil {
		return skald.E(op, skald.KindInternal, "%w", err)
	}
	var total uint64
	for _, f := range files {
		if total += f.UncompressedSize64; f.UncompressedSize64 > uint64(limits.Total) || total > uint64(limits.Total) {
			return skald.Invalid(op, "", "the archive unpacks to more than %d bytes", limits.Total)
		}
	}
	switch {
	case len(files) > 2*limits.Files:
		return skald.Invalid(op, "", "the archive has %d members; the most is %d", len(files), 2*limits.Files)
	case total > freeRatio && int64(total) > limits.Ratio*info.Size():
		return skald.Invalid(op, "", "the archive unpacks to %d times its size; the most is %d", int64(total)/max(info.Size(), 1), limits.Ratio)
	}
	return nil
}

// memberName is a member's name with slashes. KindInvalid when it leads out of the archive's folder or is a link.
func memberName(f *zip.File) (string, error) {
	name := decodeName(f)
	slashed := strings.ReplaceAll(name, `\`, "/")
	bad := strings.HasPrefix(slashed, "/") || len(slashed) > 1 && slashed[1] == ':'
	for _, part := range strings.Split(slashed, "/") {
		bad = bad || part == ".."
	}
	switch {
	case bad:
		return "", skald.Invalid("fetch.zip", "", "the archive is refused: its member %q leads out of its folder", name)
	case f.Mode()&fs.ModeType != 0 && !f.Mode().IsDir():
		return "", skald.Invalid("fetch.zip", "", "the archive is refused: its member %q is a link or a device", name)
	}
	var parts []string // "./a//b" is "a/b"
	for _, part := range strings.Split(strings.TrimSuffix(slashed, "/"), "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	name = strings.Join(parts, "/")
	if name == "" || strings.HasSuffix(slashed, "/") {
		name += "/"
	}
	return name, nil
}

// decodeName reads names of archives that don't say their encoding: GB18030 where it fits, else the code page of the first PCs.
func decodeName(f *zip.File) string {
	if utf8.ValidString(f.Name) {
		return f.Name
	}
	if s, err := simplifiedchinese.GB18030.NewDecoder().String(f.Name); err == nil && !strings.ContainsRune(s, utf8.RuneError) {
		return s
	}
	s, err := charmap.CodePage437.NewDecoder().String(f.Name)
	if err != nil {
		return f.Name
	}
	return s
}
