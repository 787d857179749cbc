package claude

import (
	"os"
	"slices"
	"time"

	"github.com/skald-engine/skald"
)

// Status is what is installed at a location.
type Status struct {
	Location  Location  `json:"location"`
	Installed bool      `json:"installed"` // every hook and the server
	Since     time.Time `json:"since,omitzero"`
	Binary    string    `json:"binary,omitempty"`
	Hooks     []string  `json:"hooks"`
	Missing   []string  `json:"missing"` // hooks that an installation would add
	Server    bool      `json:"mcp_server"`
	Problems  []string  `json:"problems"`
}

// Look reads what is installed. It fails with KindInvalid when a file is not what Claude Code would read.
func Look(l Location, want []string, store string) (Status, error) {
	s := Status{Location: l, Hooks: []string{}, Missing: []string{}, Problems: []string{}}
	r := readRecord(recordFolder(store, l))
	s.Since, s.Binary = r.Installed, r.Command.Binary
	settings, err := load(l.Settings)
	if err != nil {
		return s, err
	}
	state, err := load(l.Servers)
	if err != nil {
		return s, err
	}
	found, err := events(settings)
	if err != nil {
		return s, &skald.Error{Op: "claude", URI: l.Settings, Kind: skald.KindInvalid, Err: err}
	}
	s.Hooks = append(s.Hooks, found...)
	for _, event := range want {
		if !slices.Contains(found, event) {
			s.Missing = append(s.Missing, event)
		}
	}
	if s.Server, err = hasServer(state, l); err != nil {
		return s, &skald.Error{Op: "claude", URI: l.Servers, Kind: skald.KindInvalid, Err: err}
	}
	s.Installed = s.Server && len(s.Missing) == 0
	s.judge(settings)
	return s, nil
}

func (s *Status) judge(settings object) {
	if !s.Server && len(s.Hooks) == 0 {
		return
	}
	if !s.Installed {
		s.Problems = append(s.Problems, "only a part is installed: `skald claude install` completes it")
	}
	if string(settings.get("disableAllHooks")) == "true" {
		s.Problems = append(s.Problems, "disableAllHooks is set: no hook runs")
	}
	if _, err := os.Stat(s.Binary); s.Binary != "" && err != nil {
		s.Problems = append(s.Problems, "the program "+s.Binary+" is gone: `skald claude install` puts the present one in")
	}
}

func load(path string) (object, error) {
	b, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	var o object
	if err == nil {
		o, err = parseObject(b)
	}
	if err != nil {
		return nil, &skald.Error{Op: "claude", URI: path, Kind: skald.KindInvalid, Err: err}
	}
	return o, nil
}
