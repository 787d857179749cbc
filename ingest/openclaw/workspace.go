package openclaw

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skald-engine/skald"
	host "github.com/skald-engine/skald/host/openclaw"
)

// agentsConfig is what an import reads of openclaw.json: where the agents' workspaces are. Nothing else of it is looked at.
type agentsConfig struct {
	Agents struct {
		Defaults agentConfig            `json:"defaults"`
		List     []agentConfig          `json:"list"`
		Entries  map[string]agentConfig `json:"entries"`
	} `json:"agents"`
}

type agentConfig struct {
	ID        string `json:"id"`
	Workspace string `json:"workspace"`
}

// read reads the configuration; a host without one uses the usual places.
func (c *agentsConfig) read(at host.Location) error {
	text, err := os.ReadFile(at.Config)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = host.Unmarshal(text, c)
	}
	if err != nil {
		return &skald.Error{Op: op, URI: at.Config, Field: "openclaw-config", Kind: skald.KindInvalid, Err: err}
	}
	return nil
}

// workspace is the folder of an agent's notes: the configured one, else the first of the host's usual ones that exists; "" when none does.
func (s *source) workspace(agent string) string {
	for _, dir := range s.workspaces(agent) {
		if info, err := os.Stat(dir); dir != "" && err == nil && info.IsDir() {
			return dir
		}
	}
	return ""
}

func (s *source) workspaces(agent string) []string {
	own := s.config.Agents.Entries[agent].Workspace
	for _, a := range s.config.Agents.List {
		if strings.EqualFold(a.ID, agent) {
			own = a.Workspace
		}
	}
	if own != "" {
		return []string{expand(own)}
	}
	var list []string
	shared := expand(s.config.Agents.Defaults.Workspace)
	if shared != "" {
		list = append(list, filepath.Join(shared, agent))
	}
	list = append(list, filepath.Join(s.at.State, "workspace-"+agent))
	if agent == skald.DefaultIdentity.Agent || len(s.agents) == 1 { // these belong to one agent alone
		list = append(list, shared, filepath.Join(s.at.State, "workspace"))
	}
	return list
}

// expand puts the home folder in the place of "~".
func expand(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if home, err := os.UserHomeDir(); ok && err == nil {
		return filepath.Join(home, rest)
	}
	return path
}
