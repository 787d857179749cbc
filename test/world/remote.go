package world

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/skald-engine/skald/bench/openviking"
)

// Remote is the real OpenViking server that holds the daemon's sessions, with SKALD_E2E_STORE=openviking.
type Remote struct {
	*openviking.Server
	Key    string // of its user
	config string // the daemon's configuration file
}

const remoteUser = "me"

// remoteStore reports whether the worlds of this run have an OpenViking server behind the daemon.
func remoteStore() bool { return os.Getenv("SKALD_E2E_STORE") == "openviking" }

// startRemote starts the server, and writes the configuration of a daemon that keeps its sessions there.
func startRemote(ctx context.Context, dir string) (*Remote, error) {
	venv, err := venv(ctx)
	if err != nil {
		return nil, err
	}
	home := filepath.Join(dir, "openviking")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "openviking.log"))
	if err != nil {
		return nil, err
	}
	s, err := openviking.Start(ctx, openviking.Options{Venv: venv, Dir: home, RootKey: "root-key-of-the-world", Log: log})
	if err != nil {
		return nil, err
	}
	r := &Remote{Server: s, config: filepath.Join(dir, "remote.json")}
	if r.Key, err = s.CreateAccount(ctx, "world", remoteUser); err != nil {
		return r, err
	}
	b, err := json.Marshal(map[string]string{"store": "openviking", "store_url": s.URL, "store_key": r.Key})
	if err != nil {
		return r, err
	}
	return r, os.WriteFile(r.config, b, 0o600)
}

// venv is the virtual environment with OpenViking.
func venv(ctx context.Context) (string, error) {
	if dir := os.Getenv("SKALD_OPENVIKING"); dir != "" {
		return dir, nil
	}
	cmd := exec.CommandContext(ctx, filepath.Join(Root(), "scripts", "setup-openviking.sh"))
	out, err := cmd.Output()
	if err != nil {
		return "", err
	}
	dir := strings.TrimPrefix(strings.TrimSpace(string(out)), "SKALD_OPENVIKING=")
	if dir == "" {
		return "", errors.New("SKALD_E2E_STORE=openviking needs OpenViking, which cannot be installed here: scripts/setup-openviking.sh says why")
	}
	return dir, nil
}
