package openclaw

import (
	"context"
	"slices"
)

// Status is what can be said of Skald in this OpenClaw without a turn.
type Status struct {
	Program  Program  `json:"openclaw"`
	Location Location `json:"location"`
	Gateway  Gateway  `json:"gateway"`
	Slot     string   `json:"slot"` // who fills the context engine slot; "legacy": the host's own
	State    State    `json:"state"`
	Reason   string   `json:"reason,omitempty"` // why it is not active
	Fix      string   `json:"fix,omitempty"`
	Plugin   Plugin   `json:"plugin"`
	Enabled  bool     `json:"enabled"`
	Binary   string   `json:"binary,omitempty"`
	Mode     Mode     `json:"mode"`             // how Skald and the host's memory live together, as installed
	Backup   string   `json:"backup,omitempty"` // what `uninstall` goes back to; "": not installed by `skald openclaw install`
	Peers    []Peer   `json:"coexistence"`

	Daemon DaemonPlace `json:"-"` // the daemon that the plugin uses
}

// State says whether Skald is the host's context engine.
type State string

// The states. Active means that nothing speaks against it; whether turns arrive is what the daemon knows.
const (
	Active      State = "active"
	NotActive   State = "selected but not active"
	NotSelected State = "not selected"
)

// Look reads the host's side. It changes nothing and starts nothing.
func (i *Installer) Look(ctx context.Context) (s Status, err error) {
	path, text, _, err := readConfig(i.Location)
	if err != nil {
		return s, err
	}
	root, err := parse(text)
	if err != nil {
		return s, err
	}
	var c Config
	if err := Unmarshal(text, &c); err != nil {
		return s, err
	}
	s = Status{Location: i.Location, Gateway: gatewayOf(ctx, text), Slot: or(c.Plugins.Slots.ContextEngine, "legacy"), Mode: Both}
	if i.Program != nil {
		s.Program = *i.Program
	} else {
		s.Program.Version = c.Meta.LastTouchedVersion
	}
	s.Plugin.ID = i.ID
	if slices.Contains(IDs, s.Slot) {
		s.Plugin.ID = s.Slot
	}
	id := s.Plugin.ID
	if dir := installedPlugin(id, root, i.Location); dir != "" {
		s.Plugin = Plugin{ID: id, Dir: dir, Version: packageVersion(dir), There: true}
	}
	e := c.Plugins.Entries[id]
	s.Enabled = e.Enabled == nil || *e.Enabled
	s.Binary, _ = e.Config["binary"].(string)
	if m, err := active(i.Backups, path); err != nil {
		return s, err
	} else if m != nil {
		s.Mode, s.Backup = m.Mode, m.dir
	}
	if s.Daemon, err = daemonOf(text, id); err != nil {
		return s, err
	}
	if s.Peers, _, err = Coexist(text, s.Mode, id); err != nil {
		return s, err
	}
	s.State, s.Reason, s.Fix = s.judge(c, e)
	return s, nil
}

// judge finds the first thing that keeps Skald from being the engine (PLG-06).
func (s Status) judge(c Config, e Entry) (State, string, string) {
	id, p := s.Plugin.ID, c.Plugins
	remote := e.Config["baseUrl"] != nil || e.Config["mode"] == "remote"
	no := func(reason, fix string) (State, string, string) { return NotActive, reason, fix }
	switch {
	case s.Slot != id:
		return NotSelected, "the context engine slot is filled by " + s.Slot, "`skald openclaw install`"
	case s.Program.Version != "" && Older(s.Program.Version, MinVersion):
		return no("OpenClaw "+s.Program.Version+" is too old: it does not call commitTurn", "update OpenClaw to "+MinVersion+" or later")
	case p.Enabled != nil && !*p.Enabled:
		return no("plugins are switched off in OpenClaw", "set plugins.enabled to true")
	case !s.Enabled:
		return no("the plugin is switched off", "set plugins.entries."+id+".enabled to true")
	case slices.Contains(p.Deny, id):
		return no("plugins.deny lists it", "take "+id+" out of plugins.deny")
	case len(p.Allow) > 0 && !slices.Contains(p.Allow, id):
		return no("plugins.allow does not list it", "add "+id+" to plugins.allow")
	case s.Plugin.Dir == "":
		return no("the plugin's files are not where OpenClaw looks for them", "`skald openclaw install`, or `openclaw plugins list`")
	case !isOurs(s.Plugin.Dir):
		return no("the plugin "+id+" in "+s.Plugin.Dir+" is not Skald's", "`skald openclaw install --take-slot`")
	case !remote && s.Binary != "" && !runs(s.Binary):
		return no("the skald binary "+s.Binary+" is not there", "set plugins.entries."+id+".config.binary, or `skald openclaw install`")
	}
	return Active, "", ""
}
