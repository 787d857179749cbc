package openclaw

import (
	"os"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
)

// Options say what to install, and how.
type Options struct {
	Location Location
	Program  *Program
	ID       string // skald (default) or openviking
	From     string // take over the configuration of the plugin with this id
	Mode     Mode
	Plugin   string // folder, archive or package name of the plugin; "": found
	Binary   string // the skald binary
	DataDir  string // Skald's data folder, for the plugin; "": the plugin's own default
	Port     int    // the daemon's port; 0: the plugin's own default
	Unpack   string // folder for the plugin that the binary carries
	TakeSlot bool   // take the slot, or the id, of another plugin
}

// Plan is what an installation will do.
type Plan struct {
	Program  Program  `json:"openclaw"`
	Location Location `json:"location"`
	Gateway  Gateway  `json:"gateway"`
	Plugin   Plugin   `json:"plugin"`
	Binary   string   `json:"binary"`
	Mode     Mode     `json:"mode"`
	Commands []string `json:"commands"` // of the host, run before its configuration is changed
	Changes  []Change `json:"changes"`
	Peers    []Peer   `json:"coexistence"`
	Notes    []string `json:"notes"`
}

// entry is the path of a key under plugins.entries.<id>.
func entry(id string, keys ...string) []string {
	return append([]string{"plugins", "entries", id}, keys...)
}

// plan works out what to change in a configuration.
func plan(o Options, text []byte) (Plan, error) {
	p := Plan{
		Location: o.Location, Mode: o.Mode, Binary: o.Binary,
		Commands: []string{}, Changes: []Change{}, Peers: []Peer{}, Notes: []string{},
	}
	if o.Program != nil {
		p.Program = *o.Program
	}
	root, err := parse(text)
	if err != nil {
		return p, skald.Invalid("", "openclaw-config", "%s: %w", o.Location.Config, err)
	}
	if p.Plugin, err = o.locatePlugin(root); err != nil {
		return p, err
	}
	if err := o.allowed(root, p.Plugin); err != nil {
		return p, err
	}
	if p.Plugin.Spec != "" {
		p.Commands = append(p.Commands, o.Program.Command(installArgs(p.Plugin)...))
	}
	if p.Program.Version != "" && Older(p.Program.Version, MinVersion) {
		p.Notes = append(p.Notes, "OpenClaw "+p.Program.Version+" is older than "+MinVersion+": turns come without durable delivery; "+
			"update the host")
	}
	changes, notes := o.steps(root, p.Plugin)
	base, err := applyAll(text, changes)
	if err != nil {
		return p, skald.Invalid("", "openclaw-config", "%s: %w: mend it there, then install again", o.Location.Config, err)
	}
	peers, more, err := Coexist(base, o.Mode, o.ID)
	p.Peers, p.Changes, p.Notes = peers, append(p.Changes, append(changes, more...)...), append(p.Notes, notes...)
	return p, err
}

func installArgs(p Plugin) []string {
	return []string{"plugins", "install", p.Spec, "--force", "--accept-capabilities"}
}

// allowed refuses what is somebody else's, or was decided by the person.
func (o Options) allowed(root *node, p Plugin) error {
	for _, path := range [][]string{{}, {"plugins"}, {"plugins", "entries"}, {"plugins", "slots"}, {"plugins", "load"}, entry(o.ID)} {
		if _, split := root.at(append(slices.Clone(path), "$include")); split {
			return skald.E("", skald.KindUnsupported, "%s of %s comes from another file ($include): add the changes there by hand; "+
				"`--dry-run` on a copy without $include lists them", or(name(path), "the configuration"), o.Location.Config)
		}
	}
	if on, _ := root.at([]string{"plugins", "enabled"}); on == false {
		return skald.E("", skald.KindConflict, "plugins are switched off in OpenClaw: set plugins.enabled to true first")
	}
	if denied, _ := root.at([]string{"plugins", "deny"}); contains(denied, o.ID) {
		return skald.E("", skald.KindConflict, "plugins.deny lists %q: take it out first", o.ID)
	}
	in, _ := root.at([]string{"plugins", "slots", "contextEngine"})
	if holder, _ := in.(string); holder != "" && holder != "legacy" && holder != o.ID && holder != o.From && !o.TakeSlot {
		return skald.E("", skald.KindConflict, "the context engine slot is filled by the plugin %q: --take-slot allows Skald to take its place "+
			"(`uninstall` gives it back)", holder)
	}
	if dir := installedPlugin(o.ID, root, o.Location); dir != "" && !isOurs(dir) && !o.TakeSlot {
		return skald.E("", skald.KindConflict, "the id %q belongs to another plugin in %s: --take-slot allows Skald to take its place "+
			"(`uninstall` gives it back)", o.ID, dir)
	}
	return nil
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// listed: an empty list allows all.
func listed(list any) bool {
	items, _ := list.([]any)
	return len(items) > 0
}

func contains(list any, item string) bool {
	items, _ := list.([]any)
	return slices.Contains(items, any(item))
}

// steps are the changes that install the plugin itself.
func (o Options) steps(root *node, p Plugin) (changes []Change, notes []string) {
	changes = o.lists(root, p)
	if o.From != "" && o.From != o.ID {
		changes, notes = o.takeOver(root, changes)
	}
	changes = put(root, changes, entry(o.ID, "enabled"), true, "switches the plugin on")
	changes = put(root, changes, entry(o.ID, "hooks", "allowConversationAccess"), true,
		"lets the plugin's hooks see the turn; the engine itself needs none")
	if now, _ := root.at(entry(o.ID, "config", "binary")); !runs(now) && p.Spec == "" {
		changes = put(root, changes, entry(o.ID, "config", "binary"), o.Binary, "the skald that the plugin starts")
	}
	if o.DataDir != "" {
		changes = put(root, changes, entry(o.ID, "config", "dataDir"), o.DataDir, "Skald's data folder")
	}
	if o.Port != 0 {
		changes = put(root, changes, entry(o.ID, "config", "port"), o.Port, "the daemon's port")
	}
	changes = put(root, changes, []string{"plugins", "slots", "contextEngine"}, o.ID, "fills the context engine slot")
	return changes, notes
}

// runs reports whether a configured binary is there.
func runs(path any) bool {
	text, _ := path.(string)
	info, err := os.Stat(text)
	return err == nil && !info.IsDir()
}

// lists are the changes of plugins.load.paths and plugins.allow: what is there stays (PLG-02).
func (o Options) lists(root *node, p Plugin) (changes []Change) {
	paths := []string{"plugins", "load", "paths"}
	_, had := root.at(paths)
	for _, dir := range loadPaths(root) {
		if dir != p.Dir && manifestOf(dir) == o.ID {
			changes = append(changes, Change{Path: paths, Do: Drop, Value: dir, Had: true, Why: "another copy of the plugin " + o.ID})
		}
	}
	if p.Dir != "" && !p.There && !slices.Contains(loadPaths(root), p.Dir) {
		changes = append(changes, Change{Path: paths, Do: Append, Value: p.Dir, Had: had, Why: "where the host loads the plugin from"})
	}
	allow := []string{"plugins", "allow"}
	if list, _ := root.at(allow); listed(list) && !contains(list, o.ID) {
		changes = append(changes, Change{Path: allow, Do: Append, Value: o.ID, Had: true, Why: "the list of allowed plugins"})
	}
	return changes
}

// connection are the keys of an OpenViking plugin that lead to its server: a skald daemon is another one.
var connection = []string{
	"mode", "baseUrl", "apiKey", "headers", "serverAuthMode", "configPath", "port", "localPort", "binary", "localBinaryPath",
	"dataDir", "localDataDir",
}

// takeOver copies another plugin's configuration and switches that plugin off.
func (o Options) takeOver(root *node, changes []Change) ([]Change, []string) {
	value, had := root.at(entry(o.From, "config"))
	config, _ := value.(map[string]any)
	var left []string
	for _, key := range sortedKeys(config) {
		if slices.Contains(connection, key) {
			left = append(left, key)
			continue
		}
		if _, there := root.at(entry(o.ID, "config", key)); !there {
			changes = put(root, changes, entry(o.ID, "config", key), config[key], "taken over from "+o.From)
		}
	}
	notes := []string{"the data of " + o.From + " stay where they are; `skald import openviking` brings them in"}
	if !had {
		notes = []string{"plugins.entries." + o.From + " has no configuration to take over"}
	}
	if len(left) > 0 {
		notes = append(notes, "not taken over, since they lead to the server of "+o.From+": "+strings.Join(left, ", "))
	}
	if on, there := root.at(entry(o.From, "enabled")); had || there && on != false {
		changes = put(root, changes, entry(o.From, "enabled"), false, "Skald takes its place")
	}
	return changes, notes
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
