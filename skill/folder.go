package skill

import (
	"archive/zip"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skald-engine/skald"
)

// Load reads skills of this machine: a SKILL.md, a zip archive, or a folder. Links in a folder are left out, and so is .git.
func Load(path string) ([]Bundle, error) {
	about, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, skald.NotFound("skill.load", path)
	}
	if err != nil {
		return nil, skald.Invalid("skill.load", "SOURCE", "%w", err)
	}
	if about.IsDir() {
		files, err := filesIn(path)
		if err != nil {
			return nil, err
		}
		return bundles(files, "folder")
	}
	if about.Size() > MaxBytes {
		return nil, skald.Invalid("skill.load", "SOURCE", "%s has %d bytes, and a skill has at most %d", path, about.Size(), MaxBytes)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, skald.Invalid("skill.load", "SOURCE", "%w", err)
	}
	return Unpack(data)
}

func filesIn(dir string) (files []File, err error) {
	left := int64(MaxBytes + MaxMain)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if left -= int64(len(data)); left < 0 || len(files) == 2*MaxFiles {
			return skald.Invalid("skill.load", "SOURCE", "%s is too large: at most %d files and %d bytes", dir, MaxFiles, MaxBytes)
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		clean, err := cleanPath(filepath.ToSlash(rel))
		files = append(files, File{Path: clean, Data: data})
		return err
	})
	var known *skald.Error
	if err != nil && !errors.As(err, &known) {
		err = skald.Invalid("skill.load", "SOURCE", "%w", err)
	}
	return files, err
}

// Pack is the inverse of Unpack: an archive with a folder for each skill.
func Pack(list []Bundle) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, s := range list {
		for _, f := range append([]File{{Path: Main, Data: []byte(s.Text)}}, s.Files...) {
			out, err := w.Create(s.Name + "/" + f.Path)
			if err == nil {
				_, err = out.Write(f.Data)
			}
			if err != nil {
				return nil, skald.E("skill.pack", skald.KindInternal, "%w", err)
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, skald.E("skill.pack", skald.KindInternal, "%w", err)
	}
	return b.Bytes(), nil
}
