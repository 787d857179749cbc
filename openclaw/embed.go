// Package openclaw carries the built OpenClaw plugin inside the skald binary, so that `skald openclaw install` needs nothing but the
// binary: no npm, no network, and a plugin that fits its daemon. The plugin is TypeScript beside this file; `make plugin` builds dist,
// which is committed, for `go install` runs no npm.
package openclaw

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/skald-engine/skald"
)

//go:embed dist/skald dist/openviking
var dist embed.FS

// Builds are the ids of the plugin's builds. Each takes the host's slot under its id; `openviking` takes over an OpenViking plugin's
// configuration as it is.
var Builds = []string{"skald", "openviking"}

// Files is the folder that the host loads for a build: index.js, openclaw.plugin.json, package.json. An unknown id is Invalid.
func Files(id string) (fs.FS, error) {
	if !slices.Contains(Builds, id) {
		return nil, skald.Invalid("openclaw", "build", "%q is none of %v", id, Builds)
	}
	return fs.Sub(dist, "dist/"+id)
}

// Unpack writes a build into a folder, which is made when it is missing. Each file is replaced at once, so that a host which loads
// the folder meanwhile reads whole files. Other files in it stay.
func Unpack(id, dir string) error {
	files, err := Files(id)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("plugin folder: %w", err)
	}
	return fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		return replace(filepath.Join(dir, filepath.FromSlash(path)), data)
	})
}

func replace(path string, data []byte) error {
	temporary := path + ".new"
	if err := os.WriteFile(temporary, data, 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
