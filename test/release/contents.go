package release

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
)

// Entry is a file of an archive.
type Entry struct {
	Mode fs.FileMode
	Data []byte
}

// contents reads a .tar.gz, .tgz or .zip file.
func contents(path string) (map[string]Entry, error) {
	if strings.HasSuffix(path, ".zip") {
		return zipped(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	found := map[string]Entry{}
	for t := tar.NewReader(z); ; {
		head, err := t.Next()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(t)
		if err != nil {
			return nil, err
		}
		found[head.Name] = Entry{fs.FileMode(head.Mode), data}
	}
}

func zipped(path string) (map[string]Entry, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	found := map[string]Entry{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
		found[f.Name] = Entry{f.Mode().Perm(), data}
	}
	return found, nil
}
