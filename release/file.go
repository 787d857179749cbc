package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// file is one entry of a package: a path with forward slashes, relative to the package's root.
type file struct {
	name string
	mode fs.FileMode // 0o644 or 0o755
	data []byte
}

func text(name string, data []byte) file    { return file{name, 0o644, data} }
func program(name string, data []byte) file { return file{name, 0o755, data} }

// below puts files into a folder.
func below(folder string, files []file) []file {
	moved := slices.Clone(files)
	for i := range moved {
		moved[i].name = path.Join(folder, moved[i].name)
	}
	return moved
}

func sorted(files []file) []file {
	return slices.SortedFunc(slices.Values(files), func(a, b file) int { return strings.Compare(a.name, b.name) })
}

// writeTarGz writes what depends on the files and the date alone: sorted, owned by root, no names of this machine.
func writeTarGz(path string, date time.Time, files []file) error {
	return create(path, func(w io.Writer) error {
		z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		t := tar.NewWriter(z)
		for _, f := range sorted(files) {
			head := &tar.Header{
				Name: f.name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: date,
				Typeflag: tar.TypeReg, Format: tar.FormatUSTAR,
			}
			if err := t.WriteHeader(head); err != nil {
				return err
			}
			if _, err := t.Write(f.data); err != nil {
				return err
			}
		}
		return errors.Join(t.Close(), z.Close())
	})
}

// writeZip does the same as a zip file.
func writeZip(path string, date time.Time, files []file) error {
	return create(path, func(w io.Writer) error {
		z := zip.NewWriter(w)
		for _, f := range sorted(files) {
			head := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: date}
			head.SetMode(f.mode)
			entry, err := z.CreateHeader(head)
			if err != nil {
				return err
			}
			if _, err := entry.Write(f.data); err != nil {
				return err
			}
		}
		return z.Close()
	})
}

// writeTree lays the files out in a folder.
func writeTree(root string, date time.Time, files []file) error {
	for _, f := range files {
		path := filepath.Join(root, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.data, f.mode); err != nil {
			return err
		}
		if err := errors.Join(os.Chmod(path, f.mode), os.Chtimes(path, date, date)); err != nil {
			return err
		}
	}
	return nil
}

func create(path string, fill func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(fill(f), f.Close())
}

// load reads files of the repository, by their paths.
func load(names ...string) ([]file, error) {
	var files []file
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, text(filepath.Base(name), data))
	}
	return files, nil
}
