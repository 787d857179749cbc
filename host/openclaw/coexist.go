package openclaw

import (
	"slices"
	"strings"

	"github.com/skald-engine/skald"
)

// Mode says how Skald and the host's own memory live together.
type Mode string

// The modes.
const (
	// Replace: Skald takes over; the host's memory plugin, active memory, dreaming and memory flush are off.
	Replace Mode = "replace"
	// ContextOnly: Skald keeps and assembles the conversation; recall and memory tools are the host's.
	ContextOnly Mode = "context"
	// Both is the default: nothing that a person is used to goes away (files, tools, notes), and only one of the two puts memories in
	// front of the model unasked, so that no fact is there twice.
	Both Mode = "both"
)

// ParseMode checks a mode; "" is Both.
func ParseMode(text string) (Mode, error) {
	switch m := Mode(text); m {
	case "":
		return Both, nil
	case Replace, ContextOnly, Both:
		return m, nil
	}
	return "", skald.Invalid("", "mode", "%q: replace, context or both", text)
}

// Peer is something in the host that remembers, too.
type Peer struct {
	Name   string `json:"name"`
	Active bool   `json:"active"`
	What   string `json:"what"`             // what it does, in a line
	Effect string `json:"effect,omitempty"` // what the chosen mode makes of it
}

// feature is a part of the host's own memory: where it is switched, and in which modes it goes off.
type feature struct {
	name, what string
	path       []string
	off        any
	standard   any    // the value when nothing is set
	in         []Mode // modes that switch it off
	left       string // what it means that it stays on
}

const memoryCore = "memory-core"

// features are OpenClaw's own (2026.9.6; its docs: concepts/memory, active-memory, dreaming, reference/memory-config).
var features = []feature{
	{
		name: "memory plugin", path: []string{"plugins", "slots", "memory"}, off: "none", standard: memoryCore, in: []Mode{Replace},
		what: "indexes MEMORY.md and notes, offers memory_search and memory_get when the model asks",
		left: "stays: it answers only when the model asks for it",
	},
	{
		name: "active memory", path: entry("active-memory", "enabled"), off: false, standard: true, in: []Mode{Replace, Both},
		what: "puts matching memories before the reply unasked, at times by a model call that the reply waits for",
		left: "stays the one that recalls unasked",
	},
	{
		name: "dreaming", path: entry(memoryCore, "config", "dreaming", "enabled"), off: false, standard: true, in: []Mode{Replace},
		what: "consolidates notes into MEMORY.md at night, with model calls",
		left: "stays: it writes files and recalls nothing",
	},
	{
		name: "memory flush", path: []string{"agents", "defaults", "compaction", "memoryFlush", "enabled"},
		off: false, standard: true, in: []Mode{Replace},
		what: "a silent turn before a compaction that writes notes into files",
		left: "stays: it writes files; Skald keeps these turns as housekeeping and recalls nothing from them",
	},
}

// other is a memory or context plugin of somebody else.
type other struct {
	id, what string
	recall   []string // the configuration key of its automatic recall, where it is known from the plugin's own documentation
	tools    []string // its tools that bear names of ours
}

var others = []other{
	{id: "memory-lancedb", what: "a memory plugin with vector recall", recall: []string{"config", "autoRecall"},
		tools: []string{"memory_recall", "memory_store", "memory_forget"}},
	{id: "memory-wiki", what: "keeps a wiki beside the memory; it recalls nothing unasked"},
	{id: "lossless-claw", what: "a context engine; it rests while Skald fills the slot, its database stays"},
	{id: "openviking", what: "a context engine; it rests while Skald fills the slot, its server and data stay"},
	{id: "openclaw-mem0", what: "a memory plugin with recall of its own"},
	{id: "memos-cloud-openclaw-plugin", what: "a memory plugin with recall of its own"},
	{id: "memos-local-openclaw-plugin", what: "a memory plugin with recall of its own"},
	{id: "openclaw-honcho", what: "a memory plugin with recall of its own"},
	{id: "openclaw-supermemory", what: "a memory plugin with recall of its own"},
}

// Coexist looks at what else remembers, for the plugin with this id, and says what a mode changes about it.
func Coexist(text []byte, mode Mode, id string) (peers []Peer, changes []Change, err error) {
	root, err := parse(text)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range features {
		p, c := f.look(root, mode)
		peers = append(peers, p)
		changes = append(changes, c...)
	}
	var clash []string
	for _, o := range others {
		if o.id == id || !o.present(root) {
			continue
		}
		p, c, names := o.look(root, mode)
		peers = append(peers, p)
		changes = append(changes, c...)
		clash = append(clash, names...)
	}
	return peers, append(changes, ours(root, mode, id, clash)...), nil
}

func (f feature) look(root *node, mode Mode) (Peer, []Change) {
	now, had := root.at(f.path)
	if !had {
		now = f.standard
	}
	p := Peer{Name: f.name, Active: !same(now, f.off), What: f.what}
	if f.name == "memory plugin" && p.Active {
		p.Name, _ = now.(string)
	}
	p.Active = p.Active && f.allowed(root)
	switch off := slices.Contains(f.in, mode); {
	case !p.Active:
		p.Effect = "is off already"
		return p, nil
	case !off:
		p.Effect = f.left
		return p, nil
	}
	p.Effect = "is switched off"
	return p, put(root, nil, f.path, f.off, f.name+" is off in mode "+string(mode))
}

// allowed: a feature of a plugin that plugins.allow leaves out is off, and so is dreaming without its memory plugin.
func (f feature) allowed(root *node) bool {
	if f.path[0] != "plugins" || f.path[1] != "entries" {
		return true
	}
	if in, had := root.at([]string{"plugins", "slots", "memory"}); f.path[2] == memoryCore && had && in != memoryCore {
		return false
	}
	list, _ := root.at([]string{"plugins", "allow"})
	return f.path[2] == memoryCore || !listed(list) || contains(list, f.path[2])
}

func before(value any, had bool) any {
	if had {
		return value
	}
	return nil
}

// present: it has an entry that is not switched off, or fills a slot.
func (o other) present(root *node) bool {
	for _, slot := range []string{"memory", "contextEngine"} {
		if in, _ := root.at([]string{"plugins", "slots", slot}); in == o.id {
			return true
		}
	}
	enabled, _ := root.at(entry(o.id, "enabled"))
	_, known := root.at(entry(o.id))
	return known && enabled != false
}

func (o other) look(root *node, mode Mode) (Peer, []Change, []string) {
	p := Peer{Name: o.id, Active: true, What: o.what}
	path := entry(o.id, o.recall...)
	switch {
	case mode == ContextOnly:
		p.Effect = "stays as it is"
		return p, nil, o.tools
	case o.recall == nil && strings.Contains(o.what, "recall of its own"):
		p.Effect = "stays; when it recalls unasked, switch that off in its own settings, or choose mode context"
		return p, nil, o.tools
	case o.recall == nil:
		p.Effect = "stays as it is"
		return p, nil, o.tools
	}
	if now, _ := root.at(path); now != false {
		p.Effect = "its automatic recall is switched off, its tools stay"
		return p, put(root, nil, path, false, "one automatic recall is enough"), o.tools
	}
	p.Effect = "its automatic recall is off already"
	return p, nil, o.tools
}

// ours is what Skald's own configuration needs: no recall in mode context, and no tool under a name that another plugin uses.
func ours(root *node, mode Mode, id string, clash []string) (changes []Change) {
	path := func(key string) []string { return entry(id, "config", key) }
	if mode == ContextOnly {
		clash = []string{"memory_recall", "memory_recall_auto", "memory_store", "memory_forget"}
		changes = put(root, changes, path("autoRecall"), false, "in mode context the host's memory recalls")
	}
	if len(clash) == 0 || mode == Replace {
		return changes
	}
	now, _ := root.at(path("disabledTools"))
	list, _ := now.([]any)
	list = slices.Clone(list)
	for _, name := range clash {
		if !slices.Contains(list, any(name)) {
			list = append(list, name)
		}
	}
	return put(root, changes, path("disabledTools"), list, "the tools of these names are another's")
}

// put adds the change that makes a value stand at a path, when another one does.
func put(root *node, changes []Change, path []string, value any, why string) []Change {
	now, had := root.at(path)
	if had && same(now, value) {
		return changes
	}
	return append(changes, Change{Path: path, Do: Set, Value: value, Before: before(now, had), Had: had, Why: why})
}

// at is the value at a path.
func (n *node) at(path []string) (value any, ok bool) {
	for _, key := range path {
		if n = n.child(key); n == nil {
			return nil, false
		}
	}
	return n.value, true
}
