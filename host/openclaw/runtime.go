package openclaw

import (
	"fmt"
	"slices"
	"strings"
)

// Runtime is what the engine does under one of OpenClaw's agent runtimes (docs/runtimes.md has what was run and what was read).
type Runtime struct {
	ID         string `json:"id"` // as in agentRuntime.id
	Name       string `json:"name"`
	Capture    bool   `json:"capture"`    // turns are handed over
	Assembly   bool   `json:"assembly"`   // the model is shown Skald's context
	Compaction bool   `json:"compaction"` // Skald's, rather than the runtime's own
	Note       string `json:"note,omitempty"`
}

const embedded = "openclaw"

var runtimes = []Runtime{
	{ID: embedded, Name: "embedded runner", Capture: true, Assembly: true, Compaction: true},
	{ID: "codex", Name: "Codex harness", Capture: true, Assembly: true,
		Note: "Codex keeps its own thread and compacts it itself; Skald's context is added to it"},
	{ID: "acp", Name: "ACP agent", Note: "the agent keeps its own session: OpenClaw calls no context engine"},
}

// RuntimeOf is what is known of a runtime by its id; any other name is a CLI backend's.
func RuntimeOf(id string) Runtime {
	id = strings.ToLower(strings.TrimSpace(id))
	if id == "" || id == "auto" || id == "default" {
		id = embedded
	}
	if i := slices.IndexFunc(runtimes, func(r Runtime) bool { return r.ID == id }); i >= 0 {
		return runtimes[i]
	}
	return Runtime{ID: id, Name: "CLI backend " + id, Capture: true,
		Note: "the program keeps its own context: turns are stored and can be searched, but it is not shown Skald's context"}
}

// Summary is a line for doctor and status.
func (r Runtime) Summary() string {
	state := func(on bool) string {
		if on {
			return "on"
		}
		return "off"
	}
	line := fmt.Sprintf("%s: capture %s, assembly %s, compaction %s", r.Name, state(r.Capture), state(r.Assembly), state(r.Compaction))
	if r.Note != "" {
		line += " (" + r.Note + ")"
	}
	return line
}

// RuntimesIn lists the runtimes that a host configuration names, the embedded runner first: it serves every model that names none. raw
// is the whole configuration, decoded.
func RuntimesIn(raw map[string]any) []Runtime {
	ids := map[string]bool{}
	namedRuntimes(raw, ids)
	list := []Runtime{RuntimeOf(embedded)}
	for id := range ids {
		if r := RuntimeOf(id); r.ID != embedded {
			list = append(list, r)
		}
	}
	slices.SortFunc(list[1:], func(a, b Runtime) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// namedRuntimes collects every agentRuntime.id: the host reads them at providers, models and agents.
func namedRuntimes(v any, ids map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			namedRuntimes(item, ids)
		}
	case map[string]any:
		if r, ok := v["agentRuntime"].(map[string]any); ok {
			if id, ok := r["id"].(string); ok {
				ids[strings.ToLower(strings.TrimSpace(id))] = true
			}
		}
		for _, item := range v {
			namedRuntimes(item, ids)
		}
	}
}
