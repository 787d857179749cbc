package claude

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skald-engine/skald"
)

var day = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// home is a person's folder with Claude Code's files, and Skald's data folder.
type home struct {
	t     *testing.T
	l     Location
	store string
	c     Command
}

func newHome(t *testing.T, settings, state string) home {
	t.Helper()
	dir := t.TempDir()
	h := home{t: t, store: filepath.Join(dir, "skald"), l: Location{Settings: filepath.Join(dir, ".claude", "settings.json"), Servers: filepath.Join(dir, ".claude.json")},
		c: Command{Binary: "/opt/it's here/skald", Events: []string{"UserPromptSubmit", "Stop"}}}
	h.put(h.l.Settings, settings)
	h.put(h.l.Servers, state)
	return h
}

func (h home) put(path, text string) {
	h.t.Helper()
	if text == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		h.t.Fatal(err)
	}
}

func (h home) read(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(b)
}

func (h home) must(p Plan, err error) Plan {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := p.Apply(day); err != nil {
		h.t.Fatal(err)
	}
	return p
}

func (h home) install() Plan   { h.t.Helper(); return h.must(Install(h.l, h.c, h.store)) }
func (h home) uninstall() Plan { h.t.Helper(); return h.must(Uninstall(h.l, h.store)) }

// foreign are settings as another program and a person left them, in a layout of their own.
const foreign = "{\n\t\"model\": \"opus\",\n\t\"hooks\": { \"Stop\": [ {\"hooks\":[{\"type\":\"command\",\"command\":\"say done\"}]} ],\n\t\"PreToolUse\": [] },\n\t\"n\": 1.50\n}"

const state = `{"numStartups":3,"mcpServers":{"files":{"command":"npx","args":["files"]}},"projects":{"/home/kim/x":{"allowedTools":[]}}}` + "\n"

// What was there comes back byte for byte, whether there were files, none, or empty ones.
func TestUninstallRestoresTheBytes(t *testing.T) {
	t.Parallel()
	for name, files := range map[string][2]string{
		"others": {foreign, state}, "none": {"", ""}, "empty": {"{}", "{}\n"}, "blank": {"\n", " "}, "only state": {"", state},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, files[0], files[1])
			h.install()
			if s := h.read(h.l.Settings); strings.Count(s, "claude hook") != 2 || !json.Valid([]byte(s)) {
				t.Fatalf("settings after the installation: %s", s)
			}
			h.uninstall()
			if got := [2]string{h.read(h.l.Settings), h.read(h.l.Servers)}; got != files {
				t.Errorf("%s", cmp.Diff(files, got))
			}
			if _, err := os.Stat(filepath.Join(h.store, "claude")); err == nil {
				t.Error("the record stayed")
			}
		})
	}
}

func TestInstallKeepsOthers(t *testing.T) {
	t.Parallel()
	h := newHome(t, foreign, state)
	p := h.install()
	if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "1 hook of others") {
		t.Errorf("notes %q", p.Notes)
	}
	settings := h.read(h.l.Settings)
	for _, want := range []string{"say done", `"n": 1.50`, `'/opt/it'\\''s here/skald' claude hook Stop || exit 0`, `"model": "opus"`} {
		if !strings.Contains(settings, want) {
			t.Errorf("%s is missing in %s", want, settings)
		}
	}
	servers := h.read(h.l.Servers)
	for _, want := range []string{`"files"`, `"numStartups": 3`, `"skald"`, `"/opt/it's here/skald"`} {
		if !strings.Contains(servers, want) {
			t.Errorf("%s is missing in %s", want, servers)
		}
	}
}

// A second installation changes nothing; one of another version replaces ours, and the first bytes still come back.
func TestInstallAgain(t *testing.T) {
	t.Parallel()
	h := newHome(t, foreign, state)
	h.install()
	if p, err := Install(h.l, h.c, h.store); err != nil || !p.Nothing() {
		t.Errorf("a second installation would change %+v, %v", p.Changes, err)
	}
	h.c.Binary, h.c.Events = "/elsewhere/skald", []string{"Stop"}
	h.install()
	if s := h.read(h.l.Settings); strings.Count(s, "claude hook") != 1 || strings.Contains(s, "/opt/") {
		t.Errorf("%s", s)
	}
	h.uninstall()
	if h.read(h.l.Settings) != foreign || h.read(h.l.Servers) != state {
		t.Error("the first bytes did not come back")
	}
}

// What was changed after the installation stays; only ours goes.
func TestUninstallAfterChanges(t *testing.T) {
	t.Parallel()
	h := newHome(t, foreign, state)
	h.install()
	h.put(h.l.Settings, strings.Replace(h.read(h.l.Settings), `"opus"`, `"haiku"`, 1))
	h.put(h.l.Servers, strings.Replace(h.read(h.l.Servers), `"numStartups": 3`, `"numStartups": 4`, 1))
	h.uninstall()
	settings, servers := h.read(h.l.Settings), h.read(h.l.Servers)
	if strings.Contains(settings, "skald") || !strings.Contains(settings, "haiku") || !strings.Contains(settings, "say done") {
		t.Errorf("settings: %s", settings)
	}
	if strings.Contains(servers, "skald") || !strings.Contains(servers, `"numStartups": 4`) || !strings.Contains(servers, "files") {
		t.Errorf("state: %s", servers)
	}
	h.install() // and again, with another state to go back to
	h.uninstall()
	if h.read(h.l.Settings) != settings || h.read(h.l.Servers) != servers {
		t.Error("the changed bytes did not come back")
	}
}

// Without a record, ours are recognised.
func TestUninstallWithoutRecord(t *testing.T) {
	t.Parallel()
	h := newHome(t, foreign, state)
	h.install()
	if err := os.RemoveAll(h.store); err != nil {
		t.Fatal(err)
	}
	h.uninstall()
	if s := h.read(h.l.Settings) + h.read(h.l.Servers); strings.Contains(s, "skald") || !strings.Contains(s, "say done") {
		t.Error(s)
	}
	if p, err := Uninstall(h.l, h.store); err != nil || !p.Nothing() {
		t.Errorf("a second time: %+v %v", p, err)
	}
}

// A damaged backup is not written back: ours are taken out of what is there.
func TestDamagedBackup(t *testing.T) {
	t.Parallel()
	h := newHome(t, foreign, state)
	p := h.install()
	backups, err := filepath.Glob(filepath.Join(p.folder, "settings.json.*"))
	if err != nil || len(backups) != 1 {
		t.Fatal(backups, err)
	}
	h.put(backups[0], "{}")
	h.uninstall()
	if s := h.read(h.l.Settings); strings.Contains(s, "skald") || !strings.Contains(s, "say done") {
		t.Error(s)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		settings, state string
		kind            skald.Kind
		says            string
	}{
		"broken":       {`{"hooks":`, "", skald.KindInvalid, "not valid JSON"},
		"a list":       {`[]`, "", skald.KindInvalid, "not a JSON object"},
		"odd hooks":    {`{"hooks":{"Stop":{}}}`, "", skald.KindInvalid, "hooks.Stop is not a list"},
		"taken":        {"", `{"mcpServers":{"skald":{"command":"poetry","args":["run"]}}}`, skald.KindInvalid, "not Skald's"},
		"broken state": {"", `{"a":1,}`, skald.KindInvalid, ".claude.json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, x.settings, x.state)
			_, err := Install(h.l, h.c, h.store)
			if skald.KindOf(err) != x.kind || !strings.Contains(err.Error(), x.says) {
				t.Errorf("%v", err)
			}
			if h.read(h.l.Settings) != x.settings || h.read(h.l.Servers) != x.state {
				t.Error("a file was changed")
			}
		})
	}
}

// A file that changes between plan and apply is left alone.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	h := newHome(t, foreign, state)
	p, err := Install(h.l, h.c, h.store)
	if err != nil {
		t.Fatal(err)
	}
	h.put(h.l.Servers, "{}")
	if err := p.Apply(day); skald.KindOf(err) != skald.KindConflict {
		t.Error(err)
	}
	if h.read(h.l.Settings) != foreign || h.read(h.l.Servers) != "{}" {
		t.Error("a file was changed")
	}
}

// A dotfile manager's link stays a link, and the mode stays.
func TestLinkAndMode(t *testing.T) {
	t.Parallel()
	h := newHome(t, "", state)
	target := filepath.Join(t.TempDir(), "dotfiles.json")
	h.put(target, foreign)
	if err := os.MkdirAll(filepath.Dir(h.l.Settings), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, h.l.Settings); err != nil {
		t.Fatal(err)
	}
	h.install()
	info, err := os.Lstat(h.l.Settings)
	if err != nil || info.Mode()&os.ModeSymlink == 0 || !strings.Contains(h.read(target), "claude hook") {
		t.Errorf("%v %v", info, err)
	}
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	h.uninstall()
	if h.read(target) != foreign {
		t.Error(h.read(target))
	}
}

func TestProject(t *testing.T) {
	t.Parallel()
	dir, conf := t.TempDir(), t.TempDir()
	getenv := func(name string) string {
		if name == "CLAUDE_CONFIG_DIR" {
			return conf
		}
		return ""
	}
	l, err := Project(dir, getenv)
	if err != nil {
		t.Fatal(err)
	}
	h := newHome(t, "", "")
	h.l = l
	h.put(l.Servers, state)
	h.install()
	var got struct {
		Projects map[string]struct {
			Servers map[string]entry `json:"mcpServers"`
		} `json:"projects"`
	}
	if err := json.Unmarshal([]byte(h.read(l.Servers)), &got); err != nil || !got.Projects[l.Project].Servers["skald"].isOurs() {
		t.Errorf("%v %+v", err, got)
	}
	if filepath.Base(l.Settings) != "settings.local.json" || !strings.HasPrefix(l.Settings, l.Project) {
		t.Error(l.Settings)
	}
	h.uninstall()
	if _, err := os.Stat(filepath.Join(dir, ".claude")); err == nil || h.read(l.Servers) != state {
		t.Errorf("left behind: %s", h.read(l.Servers))
	}
	if _, err := Project(filepath.Join(dir, "nowhere"), getenv); skald.KindOf(err) != skald.KindInvalid {
		t.Error(err)
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	h := newHome(t, `{"disableAllHooks":true}`, state)
	look := func() Status {
		s, err := Look(h.l, h.c.Events, h.store)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := look(); s.Installed || len(s.Problems) > 0 || len(s.Missing) != 2 {
		t.Errorf("before: %+v", s)
	}
	h.install()
	if s := look(); !s.Installed || !s.Since.Equal(day) || len(s.Problems) != 2 { // switched off, and no such program
		t.Errorf("after: %+v", s)
	}
	h.put(h.l.Servers, state)
	if s := look(); s.Installed || s.Server || !strings.Contains(strings.Join(s.Problems, " "), "only a part") {
		t.Errorf("without the server: %+v", s)
	}
}

// FuzzStrip: whatever the settings hold, taking ours out of what an installation made leaves the same settings.
func FuzzStrip(f *testing.F) {
	for _, s := range []string{"{}", foreign, `{"hooks":{}}`, `{"hooks":{"Stop":[{"matcher":"x","hooks":[]}]},"a":"<>&\u2028"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before, err := parseObject(raw)
		if err != nil {
			return
		}
		plain, _, err := stripHooks(before)
		if err != nil {
			return
		}
		after, err := addHooks(before, Command{Binary: "/b/skald", Events: []string{"Stop", "SessionEnd"}})
		if err != nil {
			return
		}
		if !json.Valid(after.file(raw)) {
			t.Fatalf("%s became no JSON", raw)
		}
		back, _, err := stripHooks(after)
		if err != nil {
			t.Fatal(err)
		}
		if same := bytes.Equal(normal(back), normal(plain)); !same {
			t.Fatalf("%s became %s", plain.raw(), back.raw())
		}
	})
}

// normal leaves empty lists and objects under hooks out: an uninstallation may take them with it.
func normal(o object) []byte {
	hooks, err := o.child("hooks")
	if err != nil {
		return o.raw()
	}
	for _, event := range hooks {
		if l, err := list(event.value); err == nil && len(l) == 0 {
			hooks = hooks.set(event.name, nil)
		}
	}
	return o.setChild("hooks", hooks).raw()
}
