package main

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/test/gateway"
)

type skaldSession = skald.SessionInfo

// hostVersion reads the version out of the installed OpenClaw.
func hostVersion() (string, error) {
	_, openclaw, err := gateway.Locate()
	if err != nil {
		return "", err
	}
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(openclaw), "package.json"))
	if err != nil {
		return "", err
	}
	var p struct {
		Version string `json:"version"`
	}
	return p.Version, json.Unmarshal(raw, &p)
}
