package claude

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// Command is how hooks and MCP server call Skald.
type Command struct {
	Binary string   `json:"binary"`           // absolute path of the program
	Data   string   `json:"data,omitempty"`   // the daemon's data folder; "" is the default
	Server string   `json:"server,omitempty"` // the daemon's URL; "" is the default
	Events []string `json:"events"`           // the hooks, by the host's names
}

// seconds that the host gives a hook. Skald's own limit is shorter, so that it is never the host that has to end one.
const seconds = 5

// Hook is the shell command of one event. Exit code 2 would block the agent, and a program that is gone or too old would exit with some
// code of its own: whatever happens, the command exits with 0.
func (c Command) Hook(event string) string {
	words := []string{quote(c.Binary), "claude", "hook", event}
	if c.Data != "" {
		words = append(words, "--data", quote(c.Data))
	}
	if c.Server != "" {
		words = append(words, "--server", quote(c.Server))
	}
	return strings.Join(words, " ") + " || exit 0"
}

// quote makes one word of the shell, which on Windows is Git Bash.
func quote(s string) string {
	s = filepath.ToSlash(s)
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// ours recognises a hook command of Skald's, of whatever version and place.
var ours = regexp.MustCompile(`skald(\.exe)?'? claude hook [A-Za-z]+`)

// handler is one hook as the settings file has it.
type handler struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

// addHooks adds ours behind what is there; ours of an earlier installation go first.
func addHooks(settings object, c Command) (object, error) {
	settings, _, err := stripHooks(settings)
	if err != nil {
		return nil, err
	}
	hooks, err := settings.child("hooks")
	if err != nil {
		return nil, err
	}
	for _, event := range c.Events {
		groups, err := list(hooks.get(event))
		if err != nil {
			return nil, fmt.Errorf("hooks.%s %w", event, err)
		}
		group := encode(map[string]any{"hooks": []handler{{Type: "command", Command: c.Hook(event), Timeout: seconds}}})
		hooks = hooks.set(event, encode(append(groups, group)))
	}
	return settings.setChild("hooks", hooks), nil
}

// stripHooks takes ours out, and what they leave empty. It counts what stays of others.
func stripHooks(settings object) (object, int, error) {
	hooks, err := settings.child("hooks")
	if err != nil {
		return nil, 0, err
	}
	others, changed := 0, false
	for _, event := range hooks {
		groups, err := list(event.value)
		if err != nil {
			return nil, 0, fmt.Errorf("hooks.%s %w", event.name, err)
		}
		kept, n, err := stripGroups(groups)
		if err != nil {
			return nil, 0, fmt.Errorf("hooks.%s %w", event.name, err)
		}
		others += n
		if kept == nil {
			continue
		}
		changed = true
		if len(kept) == 0 {
			hooks = hooks.set(event.name, nil)
		} else {
			hooks = hooks.set(event.name, encode(kept))
		}
	}
	if !changed {
		return settings, others, nil
	}
	return settings.setChild("hooks", hooks), others, nil
}

// stripGroups returns the groups without ours, nil when none was, and how many hooks of others there are.
func stripGroups(groups []json.RawMessage) (kept []json.RawMessage, others int, err error) {
	found := false
	rest := []json.RawMessage{}
	for _, raw := range groups {
		group, err := parseObject(raw)
		if err != nil {
			return nil, 0, err
		}
		handlers, err := list(group.get("hooks"))
		if err != nil {
			return nil, 0, err
		}
		var foreign []json.RawMessage
		for _, h := range handlers {
			if !isOurs(h) {
				foreign = append(foreign, h)
			}
		}
		others += len(foreign)
		switch {
		case len(foreign) == len(handlers):
			rest = append(rest, raw)
		case len(foreign) > 0:
			found, rest = true, append(rest, group.set("hooks", encode(foreign)).raw())
		default:
			found = true
		}
	}
	if !found {
		return nil, others, nil
	}
	return rest, others, nil
}

func isOurs(raw json.RawMessage) bool {
	var h handler
	return json.Unmarshal(raw, &h) == nil && ours.MatchString(h.Command)
}

func list(raw json.RawMessage) (l []json.RawMessage, err error) {
	if len(raw) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(raw, &l); err != nil {
		return nil, fmt.Errorf("is not a list")
	}
	return l, nil
}

// events lists those events for which a hook of ours is there, in the file's order.
func events(settings object) ([]string, error) {
	hooks, err := settings.child("hooks")
	if err != nil {
		return nil, err
	}
	var found []string
	for _, event := range hooks {
		groups, err := list(event.value)
		if err != nil {
			return nil, err
		}
		if kept, _, err := stripGroups(groups); err != nil {
			return nil, err
		} else if kept != nil {
			found = append(found, event.name)
		}
	}
	return found, nil
}
