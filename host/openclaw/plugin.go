package openclaw

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
)

// Plugin is where the plugin's files come from.
type Plugin struct {
	ID   string `json:"id"`
	Dir  string `json:"dir,omitempty"`  // a folder that the host loads as it is
	Spec string `json:"spec,omitempty"` // or a package that the host copies: an archive, an npm name
	// Version is the one of the files, "" when only the host will know.
	Version string `json:"version,omitempty"`
	// There: the host has it already.
	There bool `json:"there"`
	// Embedded: the binary carries the files, and the installation unpacks them into Dir.
	Embedded bool `json:"embedded,omitempty"`
}

// manifestOf reads the id in a plugin's folder, "" when it is none.
func manifestOf(dir string) (id string) {
	var m struct {
		ID string `json:"id"`
	}
	text, err := os.ReadFile(filepath.Join(dir, "openclaw.plugin.json"))
	if err != nil || json.Unmarshal(text, &m) != nil {
		return ""
	}
	return m.ID
}

// isOurs tells Skald's builds from other plugins of the same id.
func isOurs(dir string) bool {
	var p struct {
		Name string `json:"name"`
	}
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	return err == nil && json.Unmarshal(text, &p) == nil && (p.Name == "skald" || strings.HasPrefix(p.Name, "skald-"))
}

// locatePlugin finds the files of the build with an id: what was given, what the host has, what lies beside the binary, what the binary
// carries.
func (o Options) locatePlugin(root *node) (Plugin, error) {
	id := o.ID
	if o.Plugin != "" {
		return givenPlugin(id, o.Plugin)
	}
	if dir := installedPlugin(id, root, o.Location); dir != "" && isOurs(dir) {
		return Plugin{ID: id, Dir: dir, Version: packageVersion(dir), There: true}, nil
	}
	for _, dir := range placesBeside(o.Binary, id) {
		if manifestOf(dir) == id {
			return Plugin{ID: id, Dir: dir, Version: packageVersion(dir)}, nil
		}
	}
	return carried(id, o.Unpack)
}

func givenPlugin(id, given string) (Plugin, error) {
	info, err := os.Stat(given)
	switch {
	case err != nil && strings.ContainsAny(given, `/\`) && !strings.HasPrefix(given, "@"):
		return Plugin{}, skald.Invalid("", "plugin", "%w", err)
	case err != nil || !info.IsDir(): // the name of a package, or an archive
		if err == nil {
			given, err = filepath.Abs(given)
		} else {
			err = nil
		}
		return Plugin{ID: id, Spec: given}, err
	}
	dir, err := filepath.Abs(given)
	if err != nil {
		return Plugin{}, err
	}
	if found := manifestOf(dir); found != id {
		return Plugin{}, skald.Invalid("", "plugin", "%s holds the plugin %q, not %q", dir, found, id)
	}
	return Plugin{ID: id, Dir: dir, Version: packageVersion(dir)}, nil
}

// placesBeside are the folders where a release puts the plugin, and a checkout has it.
func placesBeside(binary, id string) []string {
	if real, err := filepath.EvalSymlinks(binary); err == nil {
		binary = real
	}
	bin := filepath.Dir(binary)
	up := filepath.Dir(bin)
	return []string{
		filepath.Join(bin, "openclaw", id), filepath.Join(up, "openclaw", id), filepath.Join(up, "share", "skald", "openclaw", id),
		filepath.Join(up, "lib", "skald", "openclaw", id), filepath.Join(up, "openclaw", "dist", id),
	}
}

// installedPlugin is the folder that the host loads a plugin of this id from, "" without one: a load path, or a copy that it keeps.
func installedPlugin(id string, root *node, l Location) string {
	for _, dir := range append(loadPaths(root), copiesIn(l)...) {
		if manifestOf(dir) == id {
			return dir
		}
	}
	return ""
}

// copiesIn are the plugins that the host keeps copies of.
func copiesIn(l Location) (dirs []string) {
	for _, pattern := range []string{"extensions/*", "npm/node_modules/*", "npm/projects/*/node_modules/*"} {
		found, err := filepath.Glob(filepath.Join(l.State, pattern))
		if err == nil {
			dirs = append(dirs, found...)
		}
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return manifestOf(dir) == "" })
}

func loadPaths(root *node) (paths []string) {
	value, _ := root.at([]string{"plugins", "load", "paths"})
	list, _ := value.([]any)
	for _, v := range list {
		if path, ok := v.(string); ok {
			paths = append(paths, path)
		}
	}
	return paths
}
