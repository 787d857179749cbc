package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/host/openclaw"
)

// OpenClaw is where the host keeps its things. Only openclaw.json and the agents' databases are read, both without writing.
type OpenClaw openclaw.Location

// hostConfig is what doctor reads of openclaw.json. Everything else, keys included, is not looked at.
type hostConfig struct{ openclaw.Config }

// Check looks at the host's side: plugin, slot, hooks, transcript semantics, deliveries, sessions behind. i is nil when no engine can be
// asked.
func (o OpenClaw) Check(ctx context.Context, i skald.Inspector, id skald.Identity) []Finding {
	c, err := o.read()
	if err != nil {
		return []Finding{fail("openclaw", "name the right file with --openclaw-config", "%s: %v", o.Config, err)}
	}
	plugin, list := c.slot()
	list = append(list, c.plugin(plugin)...)
	if plugin != "" {
		list = append(list, c.hooks(plugin), c.captures(plugin), c.semantics(o))
	}
	list = append(list, o.runtimes(plugin)...)
	return append(list, o.Deliveries(ctx, i, id)...)
}

func (o OpenClaw) read() (hostConfig, error) {
	c, err := openclaw.Location(o).Read()
	return hostConfig{c}, err
}

// runtimes says, for each agent runtime that the configuration names, what of Skald is active in it (docs/runtimes.md).
func (o OpenClaw) runtimes(plugin string) (list []Finding) {
	const check = "runtime"
	text, err := os.ReadFile(o.Config)
	var raw map[string]any
	if err == nil {
		err = openclaw.Unmarshal(text, &raw)
	}
	if err != nil || plugin == "" {
		return nil // said already
	}
	for _, r := range openclaw.RuntimesIn(raw) {
		if r.Capture && r.Assembly {
			list = append(list, good(check, "%s", r.Summary()))
			continue
		}
		list = append(list, warn(check, "docs/runtimes.md tells what Skald does under each runtime", "%s", r.Summary()))
	}
	return list
}

// slot names the plugin that fills the slot, "" when it is not ours.
func (c hostConfig) slot() (string, []Finding) {
	in := c.Plugins.Slots.ContextEngine
	switch {
	case slices.Contains(openclaw.IDs, in):
		return in, []Finding{good("slot", "contextEngine is %q", in)}
	case in == "" || in == "legacy":
		return "", []Finding{fail("slot", "`skald openclaw install` fills it", "the context engine slot is not filled: the host uses its own engine")}
	}
	return "", []Finding{fail("slot", "`skald openclaw install --take-slot`, if Skald shall take its place", "the context engine slot is filled by %q", in)}
}

func (c hostConfig) plugin(id string) []Finding {
	if id == "" {
		return nil
	}
	e := c.Plugins.Entries[id]
	switch {
	case c.Plugins.Enabled != nil && !*c.Plugins.Enabled:
		return []Finding{fail("plugin", "set plugins.enabled to true", "plugins are switched off in the host")}
	case e.Enabled != nil && !*e.Enabled:
		return []Finding{fail("plugin", "set plugins.entries."+id+".enabled to true", "the plugin %q is switched off", id)}
	case slices.Contains(c.Plugins.Deny, id):
		return []Finding{fail("plugin", "take it out of plugins.deny", "the plugin %q is denied", id)}
	case len(c.Plugins.Allow) > 0 && !slices.Contains(c.Plugins.Allow, id):
		return []Finding{warn("plugin", "add it to plugins.allow", "plugins.allow does not list %q", id)}
	}
	return []Finding{good("plugin", "%q is enabled", id), c.loaded(id)}
}

// loaded looks whether the folders that the host loads plugins from exist.
func (c hostConfig) loaded(id string) Finding {
	for _, path := range c.Plugins.Load.Paths {
		text, err := os.ReadFile(filepath.Join(path, "openclaw.plugin.json"))
		var manifest struct {
			ID string `json:"id"`
		}
		if err == nil && json.Unmarshal(text, &manifest) == nil && manifest.ID == id {
			return good("plugin files", "%s", path)
		}
	}
	return warn("plugin files", "`openclaw plugins list` tells whether it was installed another way; else add its folder to plugins.load.paths",
		"no folder of plugins.load.paths holds the plugin %q", id)
}

// hooks: the engine itself needs no permission; the fallback for hosts without the slot does (spec/04, 2.4).
func (c hostConfig) hooks(id string) Finding {
	allowed := c.Plugins.Entries[id].Hooks.AllowConversationAccess
	if id != "" && allowed != nil && *allowed {
		return good("hook permission", "conversation hooks are allowed")
	}
	return good("hook permission", "conversation hooks are not allowed; the engine needs none of them, only the fallback for hosts without the slot does")
}

func (c hostConfig) captures(id string) Finding {
	if on, set := c.Plugins.Entries[id].Config["autoCapture"].(bool); set && !on {
		return warn("auto capture", "set plugins.entries."+id+".config.autoCapture to true", "autoCapture is false: nothing is stored")
	}
	return good("auto capture", "on")
}

// semantics tells from the host's version whether it accepts the engine's declarations.
func (c hostConfig) semantics(o OpenClaw) Finding {
	v := c.Meta.LastTouchedVersion
	switch {
	case v == "":
		return good("transcript semantics", "the configuration names no host version; %s and later deliver every turn", openclaw.MinVersion)
	case openclaw.Older(v, openclaw.MinVersion):
		return warn("transcript semantics", "update OpenClaw to "+openclaw.MinVersion+" or later",
			"host %s has no durable delivery: turns come through afterTurn and are not repeated after a fault", v)
	}
	return good("transcript semantics", "host %s delivers every turn until it is acknowledged", v)
}

// Deliveries looks into each agent's database.
func (o OpenClaw) Deliveries(ctx context.Context, i skald.Inspector, id skald.Identity) []Finding {
	paths, err := filepath.Glob(filepath.Join(o.State, "agents", "*", "agent", "openclaw-agent.sqlite"))
	if err != nil || len(paths) == 0 {
		return []Finding{good("deliveries", "the host has no agent database in %s yet", o.State)}
	}
	var list []Finding
	for _, path := range paths {
		agent := filepath.Base(filepath.Dir(filepath.Dir(path)))
		db, err := openAgent(path)
		if err != nil {
			list = append(list, warn("deliveries", "stop the gateway and try again", "%s: %v", path, err))
			continue
		}
		list = append(list, db.queued(ctx, agent), db.behind(ctx, agent, i, id))
		if err := db.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
			list = append(list, warn("deliveries", "", "%s: %v", path, err))
		}
	}
	return list
}
