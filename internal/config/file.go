package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Path is the configuration file of a run that names none: SKALD_CONFIG, else ~/.skald/config.json, wherever the data lies. `skald init`
// writes it.
func Path(env func(string) (string, bool)) string {
	if path, ok := env("SKALD_CONFIG"); ok && path != "" {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".skald", "config.json")
}

// read returns the bytes of the named file, or of the default one; nil when there is no default file.
func read(path string, env func(string) (string, bool)) (string, []byte, error) {
	named := path != ""
	if !named {
		given, _ := env("SKALD_CONFIG")
		path, named = Path(env), given != ""
	}
	if path == "" {
		return "", nil, nil
	}
	b, err := os.ReadFile(path)
	if !named && errors.Is(err, fs.ErrNotExist) {
		return "", nil, nil
	}
	return path, b, err
}
