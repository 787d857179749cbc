package record

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skald-engine/skald"
)

// maxRatio is the most that a member of a zip file may grow when it is unpacked. Text packs about 1 : 10; what was made to fill a disk 1 : 1000.
const maxRatio = 200

// File is one file of an Archive.
type File struct {
	Name string // its path within, with slashes; never leads out
	Size int64  // bytes, unpacked
	Open func() (io.ReadCloser, error)
}

// Archive lists the files of a zip file, of the folder that it was unpacked to, or a file alone. Nothing is unpacked to the disk; members of a
// zip file with a name that leads out of it (absolute, "..", backslashes) are left out.
func Archive(ctx context.Context, op, path string) ([]File, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, Absent(op, []string{path}, true)
	case info.IsDir():
		return folder(ctx, op, path)
	case !isZip(path) && !zipName(path):
		return []File{onDisk(path, filepath.Base(path), info.Size())}, nil
	}
	return members(op, path)
}

// zipName tells a file that should be a zip file, so that a broken one is reported as that.
func zipName(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".zip" || ext == ".ovpack"
}

// isZip tells a zip file by its first bytes.
func isZip(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var b [2]byte
	_, err = io.ReadFull(f, b[:])
	return err == nil && string(b[:]) == "PK"
}

func folder(ctx context.Context, op, dir string) ([]File, error) {
	paths, err := Find(ctx, op, []string{dir}, func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	var files []File
	for _, p := range paths {
		rel, err := filepath.Rel(dir, p)
		info, statErr := os.Stat(p)
		if err != nil || statErr != nil {
			continue // gone meanwhile
		}
		files = append(files, onDisk(p, filepath.ToSlash(rel), info.Size()))
	}
	return files, nil
}

func onDisk(path, name string, size int64) File {
	return File{Name: name, Size: size, Open: func() (io.ReadCloser, error) { return os.Open(path) }}
}

func members(op, path string) ([]File, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, skald.E(op, skald.KindInvalid, "%s: %v: give the zip file as it was made", path, err)
	}
	defer z.Close()
	var files []File
	for i, f := range z.File {
		name := f.Name
		if f.Mode().IsRegular() && fs.ValidPath(name) && filepath.IsLocal(name) && !strings.Contains(name, `\`) {
			files = append(files, File{Name: name, Size: int64(f.UncompressedSize64), Open: func() (io.ReadCloser, error) { return member(path, i) }})
		}
	}
	return files, nil
}

// member opens one member of a zip file; the zip file is open no longer than that.
func member(path string, i int) (io.ReadCloser, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	if i >= len(z.File) {
		return nil, errors.Join(errors.New("the file has changed"), z.Close())
	}
	in, err := z.File[i].Open()
	if err != nil {
		return nil, errors.Join(err, z.Close())
	}
	meter := &Meter{In: in, Most: int64(z.File[i].CompressedSize64)*maxRatio + 1<<20}
	return &inZip{Reader: meter, in: in, z: z}, nil
}

type inZip struct {
	io.Reader
	in, z io.Closer
}

// Close closes the member and its file.
func (m *inZip) Close() error { return errors.Join(m.in.Close(), m.z.Close()) }

// Meter reads In, but no more than Most bytes until Count is set back.
type Meter struct {
	In          io.Reader
	Count, Most int64
}

// Read fails beyond the limit.
func (m *Meter) Read(p []byte) (int, error) {
	if m.Count > m.Most {
		return 0, fmt.Errorf("more than %d bytes, which is too much to be real", m.Most)
	}
	n, err := m.In.Read(p)
	m.Count += int64(n)
	return n, err
}
