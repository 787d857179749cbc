package claude

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/skald-engine/skald"
)

// Apply carries a plan out. A file that somebody changed since the plan was made is left alone, and nothing is done at all: KindConflict.
func (p Plan) Apply(now time.Time) error {
	for _, c := range p.Changes {
		if err := c.unchanged(); err != nil {
			return err
		}
	}
	if !p.undo && len(p.Changes) > 0 {
		r := readRecord(p.folder)
		r.Installed, r.Location, r.Command = now.UTC(), p.Location, p.Command
		if err := r.write(p.folder, p.Changes); err != nil {
			return fault(p.folder, err)
		}
	}
	for _, c := range p.Changes {
		if err := c.apply(); err != nil {
			return fault(c.Path, err)
		}
	}
	if p.undo {
		return p.forget()
	}
	return nil
}

func (c Change) unchanged() error {
	b, err := os.ReadFile(c.Path)
	if errors.Is(err, fs.ErrNotExist) {
		b, err = nil, nil
	}
	if err == nil && !bytes.Equal(b, c.Before) {
		err = errors.New("was changed by another program a moment ago: try again")
	}
	if err != nil {
		return &skald.Error{Op: "claude", URI: c.Path, Kind: skald.KindConflict, Err: err}
	}
	return nil
}

func (c Change) apply() error {
	if c.After == nil {
		return remove(c.Path)
	}
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(c.Path); err == nil {
		mode = info.Mode().Perm()
	}
	return replace(c.Path, c.After, mode)
}

// remove takes a file away, and the .claude folder of a project when that is empty then.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if dir := filepath.Dir(path); filepath.Base(dir) == ".claude" {
		_ = os.Remove(dir) // fails when something else is in it
	}
	return nil
}

// replace writes a file as a whole, in place of the one that a link leads to.
func replace(path string, content []byte, mode fs.FileMode) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".skald-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// forget takes the record away with its backups. Nothing else is in its folder.
func (p Plan) forget() error {
	if err := os.RemoveAll(p.folder); err != nil {
		return fault(p.folder, err)
	}
	_ = os.Remove(filepath.Dir(p.folder)) // of the last location
	return nil
}

func fault(path string, err error) error {
	return &skald.Error{Op: "claude", URI: path, Kind: skald.KindUnavailable, Err: err}
}
