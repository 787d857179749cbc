package openclaw

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/skald-engine/skald"
)

// Manifest describes one installation: what was there, and what was changed. It is written before anything is.
type Manifest struct {
	Time     time.Time  `json:"time"`
	State    step       `json:"state"`
	Location Location   `json:"location"`
	Plugin   Plugin     `json:"plugin"`
	Mode     Mode       `json:"mode"`
	Binary   string     `json:"binary"`
	Program  Program    `json:"openclaw"`
	Changes  []Change   `json:"changes"`
	File     BackupFile `json:"file"`

	dir string
}

// BackupFile is a copy of a file of the host, byte for byte.
type BackupFile struct {
	Path   string      `json:"path"`
	Backup string      `json:"backup"` // name of the copy beside the manifest
	Mode   fs.FileMode `json:"mode"`
	Before string      `json:"sha256_before"`
	After  string      `json:"sha256_after"`
}

// step is how far an installation came.
type step string

const (
	prepared  step = "prepared" // the backup is written; the configuration may be changed, or not yet
	installed step = "installed"
	undone    step = "undone"
	replaced  step = "replaced" // by a later installation, which goes back to the same original
)

// Dir is the folder of the backup.
func (m *Manifest) Dir() string { return m.dir }

// original is the configuration as it was before.
func (m *Manifest) original() ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(m.dir, m.File.Backup))
	if err == nil && hash(text) != m.File.Before {
		err = fmt.Errorf("%s is damaged: it does not have the hash of its manifest", filepath.Join(m.dir, m.File.Backup))
	}
	return text, err
}

func (m *Manifest) save() error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return replace(filepath.Join(m.dir, "manifest.json"), append(text, '\n'), 0o600)
}

// mark notes how far the installation came.
func (m *Manifest) mark(s step) error {
	m.State = s
	return m.save()
}

// newBackup copies the original and writes the manifest.
func newBackup(root string, m *Manifest, original, after []byte) error {
	m.dir = filepath.Join(root, m.Time.UTC().Format("20060102T150405.000000000Z"))
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return err
	}
	m.State = prepared
	m.File.Backup, m.File.Before, m.File.After = "openclaw.json", hash(original), hash(after)
	if err := replace(filepath.Join(m.dir, m.File.Backup), original, 0o600); err != nil {
		return err
	}
	return m.save()
}

// active is the installation that an uninstall would take back, nil without one.
func active(root, config string) (*Manifest, error) {
	paths, err := filepath.Glob(filepath.Join(root, "*", "manifest.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	for _, path := range slices.Backward(paths) {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		m := &Manifest{dir: filepath.Dir(path)}
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber() // numbers keep their digits, and compare with those of the configuration
		if err := dec.Decode(m); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if m.File.Path == config && (m.State == installed || m.State == prepared) {
			return m, nil
		}
	}
	return nil, nil
}

// Remembered is the host's program of the last installation, for Locate: found again when it is not on the PATH. "" when there is none.
func Remembered(backups string, l Location) (program, node string) {
	path, _, _, err := readConfig(l)
	if err != nil {
		return "", ""
	}
	m, err := active(backups, path)
	if err != nil || m == nil {
		return "", ""
	}
	return m.Program.Path, m.Program.Node
}

// restore works out the configuration without the installation: the original's very bytes when nobody changed anything but layout and
// the host's own stamp since; else what is there now, less the changes of the installation. kept are changes that somebody changed again.
func (m *Manifest) restore(now []byte) (text []byte, exact bool, kept []Change, err error) {
	original, err := m.original()
	if err != nil {
		return nil, false, nil, err
	}
	switch hash(now) {
	case m.File.Before, m.File.After:
		return original, true, nil, nil
	}
	after, err := applyAll(original, m.Changes)
	if err != nil {
		return nil, false, nil, err
	}
	if equal, err := sameButStamp(now, after); err != nil || equal {
		return original, true, nil, err
	}
	text, kept, err = undoAll(now, original, m.Changes)
	return text, false, kept, err
}

// sameButStamp compares two configurations; `meta` is where the host notes its own version and migrations.
func sameButStamp(a, b []byte) (bool, error) {
	x, errX := parse(a)
	y, errY := parse(b)
	if err := errors.Join(errX, errY); err != nil {
		return false, err
	}
	for _, n := range []*node{x, y} {
		if object, ok := n.value.(map[string]any); ok {
			delete(object, "meta")
		}
	}
	return same(x.value, y.value), nil
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// replace writes a file as a whole: whoever watches it never sees half of it.
func replace(path string, text []byte, mode fs.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".skald-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode), keepOwner(f, path), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// readConfig reads the host's configuration behind a link, if it is one.
func readConfig(l Location) (path string, text []byte, mode fs.FileMode, err error) {
	path, err = filepath.EvalSymlinks(l.Config)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, 0, skald.E("", skald.KindNotFound, "OpenClaw has no configuration at %s: set it up first (`openclaw onboard`), or "+
			"name the file with --openclaw-config", l.Config)
	}
	if err != nil {
		return "", nil, 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", nil, 0, err
	}
	text, err = os.ReadFile(path)
	return path, text, info.Mode().Perm(), err
}

// writable refuses where a deployment keeps the configuration to itself.
func writable() error {
	if os.Getenv("OPENCLAW_CONFIG_READONLY") != "1" && os.Getenv("OPENCLAW_NIX_MODE") != "1" {
		return nil
	}
	return skald.E("", skald.KindPermission, "OpenClaw's configuration is managed from elsewhere (OPENCLAW_CONFIG_READONLY): make the changes "+
		"there; --dry-run lists them")
}
