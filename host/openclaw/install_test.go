package openclaw

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
)

// fakeHost is a state folder with a configuration, and a program that notes its calls and accepts every configuration unless told
// otherwise.
type fakeHost struct {
	*Installer
	dir string
}

func newHost(t testing.TB, config string) fakeHost {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the fake host is a shell script")
	}
	dir := t.TempDir()
	h := fakeHost{dir: dir}
	h.write(t, "openclaw", "#!/bin/sh\necho \"$*\" >>'"+dir+"/calls'\n[ ! -e '"+dir+"/refuse' ] || { echo 'Invalid config' >&2; exit 1; }\n")
	if err := os.Chmod(h.path("openclaw"), 0o755); err != nil {
		t.Fatal(err)
	}
	h.write(t, "skald", "")
	h.plugin(t, "dist/skald", "skald", "skald-openclaw")
	h.plugin(t, "dist/openviking", "openviking", "skald-openclaw-openviking")
	h.write(t, "state/openclaw.json", config)
	h.Installer = &Installer{
		Options: Options{
			Location: Location{State: h.path("state"), Config: h.path("state/openclaw.json")},
			Program:  &Program{Path: h.path("openclaw"), Version: "2026.9.6", run: []string{h.path("openclaw")}},
			ID:       "skald", Mode: Both, Binary: h.path("skald"), Plugin: h.path("dist/skald"),
		},
		Backups: h.path("data/openclaw-backup"),
	}
	return h
}

func (h fakeHost) path(name string) string { return filepath.Join(h.dir, filepath.FromSlash(name)) }

func (h fakeHost) write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(h.path(name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (h fakeHost) plugin(t testing.TB, dir, id, pack string) {
	t.Helper()
	h.write(t, dir+"/openclaw.plugin.json", `{"id": "`+id+`"}`)
	h.write(t, dir+"/package.json", `{"name": "`+pack+`", "version": "1.2.3"}`)
}

func (h fakeHost) read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(h.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (h fakeHost) config(t testing.TB) string { t.Helper(); return h.read(t, "state/openclaw.json") }

func (h fakeHost) install(t testing.TB) *Installation {
	t.Helper()
	in, err := h.Prepare(t.Context())
	if err == nil {
		err = h.Install(t.Context(), in)
	}
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func (h fakeHost) uninstall(t testing.TB) *Removal {
	t.Helper()
	r, err := h.PrepareRemoval(t.Context(), false)
	if err == nil {
		err = h.Uninstall(t.Context(), r, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// at reads a value of the configuration as JSON.
func (h fakeHost) at(t testing.TB, path ...string) string {
	t.Helper()
	value, ok, err := get([]byte(h.config(t)), path...)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return "absent"
	}
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const twoPlugins = `// mine
{
  gateway: { port: 1 },
  plugins: {
    allow: ['p1', "p2"], // those two
    load: { paths: ["/one", "/two"] },
    slots: { memory: "memory-core", },
  },
}
`

// TestPLG02Lists: what stands in the lists stays, and uninstall gives the very bytes back.
func TestPLG02Lists(t *testing.T) {
	t.Parallel()
	h := newHost(t, twoPlugins)
	in := h.install(t)
	if !in.Changed || in.Backup == "" {
		t.Fatalf("%+v", in)
	}
	for path, want := range map[string]string{
		"plugins.allow":                          `["p1","p2","skald"]`,
		"plugins.load.paths":                     `["/one","/two",` + fmt.Sprintf("%q", h.path("dist/skald")) + `]`,
		"plugins.slots":                          `{"contextEngine":"skald","memory":"memory-core"}`,
		"plugins.entries.skald.enabled":          `true`,
		"plugins.entries.skald.config.binary":    fmt.Sprintf("%q", h.path("skald")),
		"plugins.entries.active-memory.enabled":  "absent", // plugins.allow leaves it out
		"plugins.entries.skald.hooks":            `{"allowConversationAccess":true}`,
		"plugins.entries.memory-core":            "absent",
		"agents.defaults.compaction.memoryFlush": "absent",
	} {
		if got := h.at(t, strings.Split(path, ".")...); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	if text := h.config(t); !strings.Contains(text, "// mine") || !strings.Contains(text, "// those two") {
		t.Errorf("comments are gone: %s", text)
	}
	calls := h.read(t, "calls")
	if again := h.install(t); again.Changed || h.read(t, "calls") != calls {
		t.Error("a second install changed something")
	}
	if r := h.uninstall(t); !r.Exact || h.config(t) != twoPlugins {
		t.Errorf("not as it was: %s", h.config(t))
	}
	if _, err := h.PrepareRemoval(t.Context(), false); skald.KindOf(err) != skald.KindNotFound {
		t.Errorf("a second uninstall: %v", err)
	}
}

// TestPLG03Ids: manifest, slot and entry bear one id.
func TestPLG03Ids(t *testing.T) {
	t.Parallel()
	for _, id := range IDs {
		h := newHost(t, "{}")
		h.ID, h.Plugin = id, h.path("dist/"+id)
		h.install(t)
		if h.at(t, "plugins", "slots", "contextEngine") != `"`+id+`"` || h.at(t, "plugins", "entries", id, "enabled") != "true" || manifestOf(h.Plugin) != id {
			t.Errorf("%s: %s", id, h.config(t))
		}
		if h.uninstall(t); h.config(t) != "{}" {
			t.Errorf("%s", h.config(t))
		}
	}
	h := newHost(t, "{}")
	h.Plugin = h.path("dist/openviking")
	if _, err := h.Prepare(t.Context()); skald.KindOf(err) != skald.KindInvalid {
		t.Errorf("files of another id: %v", err)
	}
}

// TestRefusals: nothing of somebody else is taken unasked, and nothing is written.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, config, says string }{
		{"slot", `{"plugins": {"slots": {"contextEngine": "lossless-claw"}}}`, `"lossless-claw": --take-slot`},
		{"id", `{"plugins": {"load": {"paths": ["DIR/theirs"]}}}`, `the id "skald" belongs to another plugin`},
		{"denied", `{"plugins": {"deny": ["skald"]}}`, "plugins.deny"},
		{"off", `{"plugins": {"enabled": false}}`, "plugins.enabled"},
		{"include", `{"plugins": {"$include": "plugins.json"}}`, "$include"},
		{"no JSON", `{`, "JSON5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, "")
			h.plugin(t, "theirs", "skald", "somebody-skald")
			config := strings.ReplaceAll(c.config, "DIR", h.dir)
			h.write(t, "state/openclaw.json", config)
			_, err := h.Prepare(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.says) && c.name != "no JSON" {
				t.Errorf("%v, want %s", err, c.says)
			}
			if h.config(t) != config {
				t.Error("the configuration was changed")
			}
			if _, err := os.Stat(h.Backups); err == nil {
				t.Error("a backup was made for nothing")
			}
		})
	}
}

// TestTakeSlot: asked for it, Skald takes slot and id, and gives both back.
func TestTakeSlot(t *testing.T) {
	t.Parallel()
	h := newHost(t, "")
	h.plugin(t, "theirs", "openviking", "ov")
	config := fmt.Sprintf(`{"plugins": {"slots": {"contextEngine": "lossless-claw"}, "load": {"paths": [%q]}, "entries": {"openviking": {"config": {"recallLimit": 7}}}}}`,
		h.path("theirs"))
	h.write(t, "state/openclaw.json", config)
	h.ID, h.Plugin, h.TakeSlot = "openviking", h.path("dist/openviking"), true
	h.install(t)
	if got := h.at(t, "plugins", "load", "paths"); got != fmt.Sprintf("[%q]", h.path("dist/openviking")) {
		t.Error(got)
	}
	if h.at(t, "plugins", "entries", "openviking", "config", "recallLimit") != "7" || h.at(t, "plugins", "slots", "contextEngine") != `"openviking"` {
		t.Error(h.config(t))
	}
	if h.uninstall(t); h.config(t) != config {
		t.Error(h.config(t))
	}
}

// TestFromOpenViking: the other plugin's configuration comes along, its server's address does not, and it is switched off.
func TestFromOpenViking(t *testing.T) {
	t.Parallel()
	config := `{plugins: {slots: {contextEngine: 'openviking'}, entries: {openviking: {enabled: true, config: {
	  recallScoreThreshold: 0.250, agent_prefix: "x", baseUrl: "http://ov:1933", apiKey: "secret"}}}}}`
	h := newHost(t, config)
	h.From = "openviking"
	in := h.install(t)
	if got := h.at(t, "plugins", "entries", "skald", "config"); got != fmt.Sprintf(`{"agent_prefix":"x","binary":%q,"recallScoreThreshold":0.250}`, h.path("skald")) {
		t.Error(got)
	}
	if h.at(t, "plugins", "entries", "openviking", "enabled") != "false" || !strings.Contains(strings.Join(in.Notes, " "), "apiKey, baseUrl") {
		t.Errorf("%s\n%v", h.config(t), in.Notes)
	}
	if h.uninstall(t); h.config(t) != config {
		t.Error(h.config(t))
	}
}

// TestModes: what each mode changes of the host's own memory, and that a change of mode starts from the original.
func TestModes(t *testing.T) {
	t.Parallel()
	const config = `{"plugins": {"entries": {"memory-lancedb": {"config": {"autoRecall": true}}}}}`
	h := newHost(t, config)
	state := func() string {
		return strings.Join([]string{
			h.at(t, "plugins", "slots", "memory"), h.at(t, "plugins", "entries", "active-memory", "enabled"),
			h.at(t, "plugins", "entries", "memory-core", "config", "dreaming", "enabled"),
			h.at(t, "agents", "defaults", "compaction", "memoryFlush", "enabled"),
			h.at(t, "plugins", "entries", "memory-lancedb", "config", "autoRecall"), h.at(t, "plugins", "entries", "skald", "config", "autoRecall"),
			h.at(t, "plugins", "entries", "skald", "config", "disabledTools"),
		}, " ")
	}
	for _, c := range []struct {
		mode Mode
		want string
	}{
		{Both, `absent false absent absent false absent ["memory_recall","memory_store","memory_forget"]`},
		{Replace, `"none" false false false false absent absent`},
		{ContextOnly, `absent absent absent absent true false ["memory_recall","memory_recall_auto","memory_store","memory_forget"]`},
	} {
		h.Mode = c.mode
		in := h.install(t)
		if got := state(); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.mode, got, c.want)
		}
		for _, p := range in.Peers {
			if p.What == "" || p.Effect == "" {
				t.Errorf("%s: not explained: %+v", c.mode, p)
			}
		}
	}
	if r := h.uninstall(t); !r.Exact || h.config(t) != config {
		t.Error(h.config(t))
	}
}

// TestInterrupted: an installation that ended anywhere can be taken back, or made again.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, written := range []bool{false, true} {
		h := newHost(t, twoPlugins)
		in, err := h.Prepare(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m := &Manifest{Time: time.Unix(1, 0), Location: h.Location, Plugin: in.Plan.Plugin, Changes: in.Changes, File: in.file}
		if err := newBackup(h.Backups, m, in.before, in.after); err != nil {
			t.Fatal(err)
		}
		if written {
			h.write(t, "state/openclaw.json", string(in.after))
		}
		if again := h.install(t); again.Changed == written {
			t.Errorf("written %v: a second install changed %v", written, again.Changed)
		}
		if r := h.uninstall(t); !r.Exact || h.config(t) != twoPlugins {
			t.Errorf("written %v: %s", written, h.config(t))
		}
	}
}

// TestRefusedByHost: what the host does not accept is never written where its gateway could see it.
func TestRefusedByHost(t *testing.T) {
	t.Parallel()
	h := newHost(t, twoPlugins)
	h.write(t, "refuse", "")
	in, err := h.Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = h.Install(t.Context(), in)
	if err == nil || !strings.Contains(err.Error(), "Invalid config") || !strings.Contains(err.Error(), "as it was before") || h.config(t) != twoPlugins {
		t.Errorf("%v\n%s", err, h.config(t))
	}
	if left, _ := filepath.Glob(h.path("state/.skald-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if _, err := h.PrepareRemoval(t.Context(), false); skald.KindOf(err) != skald.KindNotFound {
		t.Errorf("there is something to take back: %v", err)
	}
}

// TestManagedElsewhere: where a deployment keeps the configuration to itself, the plan is shown and nothing is written.
func TestManagedElsewhere(t *testing.T) { // not parallel: the switch is in the environment
	t.Setenv("OPENCLAW_CONFIG_READONLY", "1")
	h := newHost(t, twoPlugins)
	in, err := h.Prepare(t.Context())
	if err != nil || len(in.Changes) == 0 {
		t.Fatalf("%+v %v", in, err)
	}
	if err := h.Install(t.Context(), in); skald.KindOf(err) != skald.KindPermission || h.config(t) != twoPlugins {
		t.Errorf("%v", err)
	}
}

// TestPackage: the host copies the plugin itself, and removes its copy.
func TestPackage(t *testing.T) {
	t.Parallel()
	h := newHost(t, twoPlugins)
	h.write(t, "skald.tgz", "")
	h.Plugin = h.path("skald.tgz")
	h.install(t)
	h.uninstall(t)
	calls := h.read(t, "calls")
	for _, want := range []string{"plugins install " + h.path("skald.tgz") + " --force --accept-capabilities\n", "plugins uninstall skald --force --keep-files\n"} {
		if !strings.Contains(calls, want) {
			t.Errorf("%q is not among %s", want, calls)
		}
	}
	if h.config(t) != twoPlugins {
		t.Error(h.config(t))
	}
}

// TestKept: what somebody changed at our own places stays, and is named.
func TestKept(t *testing.T) {
	t.Parallel()
	h := newHost(t, twoPlugins)
	h.install(t)
	text, err := set([]byte(h.config(t)), []string{"plugins", "slots", "contextEngine"}, "lossless-claw")
	if err != nil {
		t.Fatal(err)
	}
	h.write(t, "state/openclaw.json", string(text))
	r := h.uninstall(t)
	if r.Exact || len(r.Kept) != 1 || !slices.Equal(r.Kept[0].Path, []string{"plugins", "slots", "contextEngine"}) {
		t.Errorf("%+v", r.Kept)
	}
	if h.at(t, "plugins", "slots") != `{"contextEngine":"lossless-claw","memory":"memory-core"}` || h.at(t, "plugins", "allow") != `["p1","p2"]` ||
		h.at(t, "plugins", "entries") != "absent" {
		t.Error(h.config(t))
	}
}

// TestPLG06Reasons: selected but not active, and why.
func TestPLG06Reasons(t *testing.T) {
	t.Parallel()
	h := newHost(t, "{}")
	h.install(t)
	good := h.config(t)
	look := func() Status {
		t.Helper()
		s, err := h.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := look(); s.State != Active || s.Backup == "" || s.Plugin.Version != "1.2.3" {
		t.Errorf("%+v", s)
	}
	for reason, change := range map[string]Change{
		"plugins are switched off": {Path: []string{"plugins", "enabled"}, Value: false},
		"the plugin is switched":   {Path: entry("skald", "enabled"), Value: false},
		"plugins.deny":             {Path: []string{"plugins", "deny"}, Value: []any{"skald"}},
		"plugins.allow":            {Path: []string{"plugins", "allow"}, Value: []any{"p1"}},
		"files are not where":      {Path: []string{"plugins", "load", "paths"}, Value: []any{"/nowhere"}},
		"binary /nowhere":          {Path: entry("skald", "config", "binary"), Value: "/nowhere"},
	} {
		text, err := set([]byte(good), change.Path, change.Value)
		if err != nil {
			t.Fatal(err)
		}
		h.write(t, "state/openclaw.json", string(text))
		if s := look(); s.State != NotActive || !strings.Contains(s.Reason, reason) || s.Fix == "" {
			t.Errorf("%s: %s %q", reason, s.State, s.Reason)
		}
	}
	h.write(t, "state/openclaw.json", good)
	h.Program.Version = "2026.7.3"
	if s := look(); s.State != NotActive || !strings.Contains(s.Reason, "too old") {
		t.Errorf("%+v", s)
	}
	h.write(t, "state/openclaw.json", `{}`)
	if s := look(); s.State != NotSelected || s.Slot != "legacy" {
		t.Errorf("%+v", s)
	}
}
