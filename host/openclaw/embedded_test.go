package openclaw

import (
	"os"
	"strings"
	"testing"
)

// A binary without any folder beside it installs the plugin that it carries, brings it up to date when it is run again, and takes it away.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	h := newHost(t, `{"plugins": {}}`)
	h.Plugin, h.Binary, h.Unpack = "", h.path("bin/skald"), h.path("data/openclaw-plugin")
	before := h.config(t)
	if in := h.install(t); !in.Plan.Plugin.Embedded || in.Plan.Plugin.Version == "" {
		t.Fatalf("%+v", in.Plan.Plugin)
	}
	const entry = "data/openclaw-plugin/skald/index.js"
	whole := h.read(t, entry)
	if got := h.at(t, "plugins", "load", "paths"); !strings.Contains(got, "openclaw-plugin") {
		t.Errorf("load paths: %s", got)
	}
	if in := h.install(t); in.Changed {
		t.Error("a second install changed something")
	}
	h.write(t, entry, "the file of an older version")
	if in := h.install(t); !in.Changed || h.read(t, entry) != whole {
		t.Error("an older plugin was not replaced")
	}
	h.uninstall(t)
	if h.config(t) != before {
		t.Errorf("the configuration is now %s", h.config(t))
	}
	if _, err := os.Stat(h.path("data/openclaw-plugin/skald")); !os.IsNotExist(err) {
		t.Errorf("the plugin's files are still there: %v", err)
	}
}
