// Package openclaw knows the agent host OpenClaw from outside: where it keeps its things, what its configuration says, how Skald is
// installed into it, proved and taken out again, and how Skald lives beside the host's own memory.
//
// Nothing here reads a key or a conversation. The configuration is read as a whole only where it is copied (backup) or changed.
package openclaw

import (
	"os"
	"path/filepath"
)

// Location says where the host keeps its things.
type Location struct {
	State  string `json:"state"`  // state folder
	Config string `json:"config"` // openclaw.json; "": in the state folder
}

// Find completes what was given with the host's usual places: OPENCLAW_STATE_DIR, OPENCLAW_CONFIG_PATH, OPENCLAW_HOME, ~/.openclaw.
// ok is false when nothing was given and no host is there.
func Find(given Location) (l Location, ok bool) {
	l = given
	if l.State == "" {
		l.State = os.Getenv("OPENCLAW_STATE_DIR")
	}
	if l.State == "" {
		if home, err := home(); err == nil {
			l.State = filepath.Join(home, ".openclaw")
		}
	}
	if l.Config == "" && given.State == "" {
		l.Config = os.Getenv("OPENCLAW_CONFIG_PATH")
	}
	if l.Config == "" && l.State == "" {
		return l, false // there is no home folder: openclaw.json in the current one is none of the host's
	}
	if l.Config == "" {
		l.Config = filepath.Join(l.State, "openclaw.json")
	}
	_, err := os.Stat(l.Config)
	return l, err == nil || given != Location{}
}

// home is the folder that holds .openclaw: the host lets OPENCLAW_HOME stand for the user's home.
func home() (string, error) {
	if dir := os.Getenv("OPENCLAW_HOME"); dir != "" {
		return dir, nil
	}
	return os.UserHomeDir()
}
