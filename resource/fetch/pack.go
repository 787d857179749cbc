package fetch

import (
	"archive/zip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Pack writes a folder of this machine as a zip archive, to be uploaded. What every import leaves out, and everything that is no regular file,
// is not packed.
func Pack(w io.Writer, dir string) error {
	root, err := os.OpenRoot(dir) // links cannot lead out of it
	if err != nil {
		return err
	}
	defer root.Close()
	z := zip.NewWriter(w)
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !(Filter{}).Wants(filepath.ToSlash(p)) {
			if err == nil && d.IsDir() && p != "." && !(Filter{}).Wants(filepath.ToSlash(p)+"/x") {
				return fs.SkipDir
			}
			return err
		}
		return packFile(z, root, p)
	})
	if err != nil {
		return err
	}
	return z.Close()
}

func packFile(z *zip.Writer, root *os.Root, p string) error {
	f, err := root.Open(p)
	if err != nil {
		return err
	}
	defer f.Close()
	out, err := z.Create(filepath.ToSlash(p))
	if err != nil {
		return err
	}
	_, err = io.Copy(out, f)
	return err
}
