package claude

import (
	"os"
	"path/filepath"

	"github.com/skald-engine/skald"
)

// Location is a place where Claude Code reads settings.
type Location struct {
	Settings string `json:"settings"` // the settings file with the hooks
	Servers  string `json:"servers"`  // the state file with the MCP servers
	Project  string `json:"project"`  // the folder that the servers are for; "" is every project
}

// User is where settings for all of a person's projects stand: ~/.claude/settings.json and ~/.claude.json. CLAUDE_CONFIG_DIR moves both.
func User(getenv func(string) string) (Location, error) {
	if dir := getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return Location{Settings: filepath.Join(dir, "settings.json"), Servers: filepath.Join(dir, ".claude.json")}, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return Location{}, skald.Invalid("claude", "user", "there is no home folder: %w", err)
	}
	return Location{Settings: filepath.Join(home, ".claude", "settings.json"), Servers: filepath.Join(home, ".claude.json")}, nil
}

// Project is where one person's settings for one project stand. They are not shared with others who work on it, since they name a
// program of this machine: the hooks go to .claude/settings.local.json, the server to the project's entry in the person's state file.
func Project(dir string, getenv func(string) string) (Location, error) {
	l, err := User(getenv)
	if err != nil {
		return l, err
	}
	dir, err = filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if info, statErr := os.Stat(dir); err != nil || statErr != nil || !info.IsDir() {
		return l, skald.Invalid("claude", "project", "%q is not a folder", dir)
	}
	l.Settings, l.Project = filepath.Join(dir, ".claude", "settings.local.json"), dir
	return l, nil
}

// Found reports whether Claude Code has been used by this person: its folder or its state file is there.
func Found(getenv func(string) string) bool {
	l, err := User(getenv)
	if err != nil {
		return false
	}
	for _, path := range []string{filepath.Dir(l.Settings), l.Servers} {
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	return false
}
