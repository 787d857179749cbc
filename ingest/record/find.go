package record

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skald-engine/skald"
)

// Find lists the regular files that keep accepts, in the order of their names: a path that is a file stands for itself, a folder for what
// is under it; links to folders are not followed. Paths that do not exist are an error of kind NotFound that names them all, unless one exists.
func Find(ctx context.Context, op string, paths []string, keep func(path string) bool) ([]string, error) {
	var found []string
	seen, missing := map[string]bool{}, 0
	for _, root := range paths {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				return err
			case d.IsDir() || seen[path] || (!keep(path) && path != root):
				return nil
			}
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				seen[path], found = true, append(found, path)
			}
			return nil
		})
		if errors.Is(err, fs.ErrNotExist) {
			missing++
			continue
		}
		if err != nil {
			return nil, skald.E(op, kindOf(err), "%v: give the path of a readable file or folder", err)
		}
	}
	if len(found) == 0 {
		return nil, Absent(op, paths, missing == len(paths))
	}
	return found, nil
}

// Size is the bytes of files on the disk; one that is gone counts nothing.
func Size(files []string) (n int64) {
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			n += info.Size()
		}
	}
	return n
}

// Absent is the error of kind NotFound for places where nothing is to import.
func Absent(op string, places []string, missing bool) error {
	what := "nothing to import in "
	if missing {
		what = "there is no "
	}
	return skald.E(op, skald.KindNotFound, "%s%s: give the path of what the program kept", what, strings.Join(places, " or "))
}

func kindOf(err error) skald.Kind {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return skald.KindPermission
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return skald.KindDeadline
	}
	return skald.KindInvalid
}

// Home is a path under the user's home folder, or the path alone where there is none.
func Home(elem ...string) string {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return filepath.Join(append([]string{home}, elem...)...)
}
