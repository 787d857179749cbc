package fetch

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/skald-engine/skald"
)

// Source is what was fetched. Close removes what it keeps on disk.
type Source struct {
	Name     string // what to call the resource; without extension when it is one file
	Origin   string // where it comes from, without credentials
	Single   bool   // one file, rather than a folder of files
	Files    []File // by path
	Warnings []string
	Revision string // the commit of a repository

	dir   string
	close []io.Closer
}

// File is one file of a source. Its content is read on demand.
type File struct {
	Path  string // slashes; every segment is a safe name
	Size  int64  // bytes, as declared
	Media string // as the server said; "" unknown
	URL   string // where a page came from, for its links; "" otherwise
	open  func() (io.ReadCloser, error)
}

// Read returns the content. KindInvalid when it is longer than most bytes, or longer than declared.
func (f File) Read(most int64) ([]byte, error) {
	if f.Size > most {
		return nil, skald.Invalid("fetch.read", "", "%s has %d bytes; the most is %d", f.Path, f.Size, most)
	}
	r, err := f.open()
	if err != nil {
		return nil, unreadable(f.Path, err)
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, f.Size+1))
	switch {
	case err != nil:
		return nil, unreadable(f.Path, err)
	case int64(len(b)) > f.Size:
		return nil, skald.Invalid("fetch.read", "", "%s is longer than it was declared to be", f.Path)
	}
	return b, nil
}

func unreadable(path string, err error) error {
	return skald.Invalid("fetch.read", "", "%s cannot be read: %w", path, err)
}

// Close removes temporary files.
func (s *Source) Close() error {
	for _, c := range s.close {
		_ = c.Close() // read only: nothing can be lost
	}
	if s.dir == "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}

func (s *Source) warn(format string, args ...any) {
	s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...))
}

// Limits bound what one source may be.
type Limits struct {
	Download int64 // bytes over the network, or of an upload
	Total    int64 // bytes of all files, unpacked
	Files    int
	Depth    int   // path segments
	Ratio    int64 // unpacked to packed bytes, where more than 32 MB come out
}

// DefaultLimits are those of a daemon.
var DefaultLimits = Limits{Download: 512 << 20, Total: 1 << 30, Files: 20_000, Depth: 32, Ratio: 100}

const freeRatio = 32 << 20 // unpacked bytes below which the ratio does not matter: short texts compress well

// stem is a file's name without its last extension.
func stem(name string) string {
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		return name[:i]
	}
	return name
}
