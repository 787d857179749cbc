package setup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skald-engine/skald"
)

// CheckFolder says why a folder is no place for the data: it cannot be written, or it is on a network mount, where locks and syncs do
// not keep what they promise. The folder need not be there yet.
func CheckFolder(path string) error {
	if !filepath.IsAbs(path) {
		return skald.Invalid("", "data", "%q: give a whole path, like /home/you/.skald or ~/.skald", path)
	}
	at, err := existing(path)
	if err != nil {
		return err
	}
	probe, err := os.CreateTemp(at, ".skald-*")
	if err != nil {
		return skald.Invalid("", "data", "%s cannot be written: %w", path, err)
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return skald.Invalid("", "data", "%s cannot be written: %w", path, err)
	}
	if kind := networkMount(at); kind != "" {
		return skald.Invalid("", "data", "%s is on a network mount (%s), where a database is not safe: choose a folder on a disk of this machine",
			path, kind)
	}
	return nil
}

// existing is the folder itself, or the nearest above it that is there.
func existing(path string) (string, error) {
	for at := path; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case err == nil && info.IsDir():
			return at, nil
		case err == nil:
			return "", skald.Invalid("", "data", "%s is a file, not a folder", at)
		case !errors.Is(err, fs.ErrNotExist), at == filepath.Dir(at):
			return "", skald.Invalid("", "data", "%s cannot be used: %w", path, err)
		}
	}
}
