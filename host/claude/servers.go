package claude

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// ServerName is the MCP server's name: the model sees its tools as mcp__skald__memory_recall and so on.
const ServerName = "skald"

// entry is a stdio server as Claude Code's state file has it.
type entry struct {
	Type    string            `json:"type"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitempty"`
}

func (c Command) server() entry {
	e := entry{Type: "stdio", Command: c.Binary, Args: []string{"mcp"}}
	if c.Server != "" {
		e.Args = append(e.Args, "--server", c.Server)
	}
	if c.Data != "" {
		e.Env = map[string]string{"SKALD_DATA": c.Data}
	}
	return e
}

// isOurs recognises a server entry of Skald's, of whatever version and place.
func (e entry) isOurs() bool {
	name := strings.TrimSuffix(filepath.Base(filepath.ToSlash(e.Command)), ".exe")
	return name == "skald" && len(e.Args) > 0 && e.Args[0] == "mcp"
}

// inServers changes the list of servers of a location within the state file, and leaves no empty objects behind that it made.
func inServers(state object, l Location, change func(object) (object, error)) (object, error) {
	if l.Project == "" {
		servers, err := state.child("mcpServers")
		if err != nil {
			return nil, err
		}
		servers, err = change(servers)
		return state.setChild("mcpServers", servers), err
	}
	projects, err := state.child("projects")
	if err != nil {
		return nil, err
	}
	project, err := projects.child(l.Project)
	if err != nil {
		return nil, err
	}
	servers, err := project.child("mcpServers")
	if err != nil {
		return nil, err
	}
	if servers, err = change(servers); err != nil {
		return nil, err
	}
	return state.setChild("projects", projects.setChild(l.Project, project.setChild("mcpServers", servers))), nil
}

func addServer(state object, l Location, c Command) (object, error) {
	return inServers(state, l, func(servers object) (object, error) {
		if raw := servers.get(ServerName); raw != nil && !oursIn(servers) {
			return nil, fmt.Errorf("has an MCP server %q that is not Skald's: rename or remove it (`claude mcp remove %s`)", ServerName, ServerName)
		}
		return servers.set(ServerName, encode(c.server())), nil
	})
}

func stripServer(state object, l Location) (object, error) {
	changed := false
	after, err := inServers(state, l, func(servers object) (object, error) {
		if changed = oursIn(servers); changed {
			return servers.set(ServerName, nil), nil
		}
		return servers, nil
	})
	if err != nil || !changed {
		return state, err
	}
	return after, nil
}

func hasServer(state object, l Location) (found bool, err error) {
	_, err = inServers(state, l, func(servers object) (object, error) {
		found = oursIn(servers)
		return servers, nil
	})
	return found, err
}

func oursIn(servers object) bool {
	var e entry
	raw := servers.get(ServerName)
	return raw != nil && json.Unmarshal(raw, &e) == nil && e.isOurs()
}
