package e2e

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald/test/world"
)

// resourceTools are the tools for resources and skills, beside the memory tools.
var resourceTools = append([]string{"ov_import", "ov_search", "ov_read", "add_skill"}, memoryTools...)

// write makes files below a new folder of the world.
func write(t *testing.T, w *world.World, name string, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(w.Dir, name)
	for path, text := range files {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func harbour(t *testing.T, w *world.World) string {
	return write(t, w, "harbour", map[string]string{
		"README.md":      "# Harbour handbook\n\nWhat the pilots of Brakelund need to know.\n",
		"tides/north.md": "# Northern basin\n\nThe spring tide at Brakelund rises to 7.3 metres.\n",
	})
}

func mooring(t *testing.T, w *world.World) string {
	return write(t, w, "mooring", map[string]string{
		"SKILL.md": "---\nname: mooring\ndescription: Moors a barge at the quay of Ostervik\n---\n\n# Mooring\n\nThrow the bow line over bollard 19 first.\n",
		"knots.md": "The swallow hitch holds in a swell.\n",
	})
}

// TestResources: a folder that the agent imports through its tool, and a skill that the owner imports by command, are found in a later
// session without being asked for, and can be searched and opened (001-070 to 001-074).
func TestResources(t *testing.T) {
	ctx := deadline(t, 90*time.Second)
	w := own(t, world.Options{AlsoAllow: resourceTools, PluginConfig: map[string]any{"tools": "all"}})
	s := newTalk(t, ctx, w, "import")
	holds(t, "ov_import", s.toolResult("ov_import", map[string]any{"source": harbour(t, w), "to": "viking://resources/harbour", "wait": true}), "to viking://resources/harbour")
	holds(t, "/ov-import", s.typed("/ov-import "+mooring(t, w)+" --kind skill"), "Stored the skill mooring as viking://user/default/skills/mooring", "1 more file")
	holds(t, "/ov-search", s.typed(`/ov-search "moor a barge at Ostervik"`), "viking://user/default/skills/mooring")

	later := newTalk(t, ctx, w, "import-later")
	if r := later.first("How high does the spring tide at Brakelund rise?"); !r.Contains("7.3 metres") {
		t.Errorf("the resource is not recalled:\n%s", r.Raw)
	}
	if r := later.first("How do I moor a barge at the quay of Ostervik?"); !r.Contains("viking://~/skills/mooring") {
		t.Errorf("the skill is not recalled:\n%s", r.Raw)
	}
	holds(t, "memory_expand", later.toolResult("memory_expand", map[string]any{"uri": "viking://user/default/skills/mooring"}), "bollard 19", "mooring/knots.md")
	holds(t, "ov_search", later.toolResult("ov_search", map[string]any{"query": "swallow hitch"}), "mooring/knots.md")
	holds(t, "/ov-recall-trace", later.typed("/ov-recall-trace"), "shown", "viking://")
	for _, turn := range s.turns() {
		if strings.Contains(string(turn.Raw), "/ov-import ") || strings.Contains(string(turn.Raw), "Stored the skill") {
			t.Errorf("a command is stored: %s", turn.Raw)
		}
	}
}

// TestResourcesOpenVikingBuild: the same with the other build and the names that OpenViking's plugin has today.
func TestResourcesOpenVikingBuild(t *testing.T) {
	ctx := deadline(t, 90*time.Second)
	w := own(t, world.Options{Plugin: "openviking", AlsoAllow: resourceTools, Configure: func(url, key string) map[string]any {
		config := maps.Clone(oldConfig(url, key))
		delete(config, "enableAddResourceTool")
		return config
	}})
	s := newTalk(t, ctx, w, "import")
	holds(t, "/add-resource", s.typed("/add-resource "+harbour(t, w)+" --to viking://resources/harbour --wait"), "to viking://resources/harbour.")
	holds(t, "add_skill", s.toolResult("add_skill", map[string]any{"source": mooring(t, w)}), "Stored the skill mooring")
	later := newTalk(t, ctx, w, "import-later")
	if r := later.first("How high does the spring tide at Brakelund rise?"); !r.Contains("7.3 metres") {
		t.Errorf("the resource is not recalled:\n%s", r.Raw)
	}
	holds(t, "ov_read", later.toolResult("ov_read", map[string]any{"uri": "viking://~/skills/mooring/SKILL.md"}), "bollard 19")
}
