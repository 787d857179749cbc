package openclaw

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skald-engine/skald"
	plugin "github.com/skald-engine/skald/openclaw"
)

// carried is the plugin that the binary carries, as it will lie in the folder for unpacked plugins.
func carried(id, unpack string) (Plugin, error) {
	files, err := plugin.Files(id)
	if err != nil {
		return Plugin{}, err
	}
	var p struct {
		Version string `json:"version"`
	}
	text, err := fs.ReadFile(files, "package.json")
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return Plugin{}, skald.E("", skald.KindInternal, "the plugin in this program: %w", err)
	}
	return Plugin{ID: id, Dir: filepath.Join(unpack, id), Version: p.Version, Embedded: true}, nil
}

// stale reports that the files of an embedded plugin are missing, or another version's.
func (p Plugin) stale() bool {
	if !p.Embedded {
		return false
	}
	files, err := plugin.Files(p.ID)
	if err != nil {
		return false
	}
	same := true
	err = fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		want, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		have, err := os.ReadFile(filepath.Join(p.Dir, filepath.FromSlash(path)))
		if err != nil || !bytes.Equal(have, want) {
			same = false
		}
		return nil
	})
	return err != nil || !same
}

// unpack writes an embedded plugin's files where the host will load them.
func (p Plugin) unpack() error {
	if !p.stale() {
		return nil
	}
	return plugin.Unpack(p.ID, p.Dir)
}

// remove takes the files of an embedded plugin away again.
func (p Plugin) remove() error {
	if !p.Embedded || manifestOf(p.Dir) != p.ID || !isOurs(p.Dir) {
		return nil
	}
	return os.RemoveAll(p.Dir)
}
