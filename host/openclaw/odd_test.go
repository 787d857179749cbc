package openclaw

import (
	"os"
	"strings"
	"testing"
)

// Configurations as people and editors leave them: Skald fills the slot, keeps the line ends, and gives the very bytes back.
func TestOddConfigurations(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"byte order mark":        "\xef\xbb\xbf{\"a\": 1}\n",
		"CRLF":                   "{\r\n  \"plugins\": {\r\n    \"allow\": [\r\n      \"x\"\r\n    ]\r\n  }\r\n}\r\n",
		"trailing commas":        "{ plugins: { allow: ['x',], }, }",
		"comment at the end":     "{\n \"plugins\": {\n  \"slots\": {\"memory\": \"m\"}, // x\n } // y\n}",
		"comments alone":         "{ // c\n plugins: { // d\n } /* e */ }\n",
		"key given twice":        `{"plugins":{"allow":["x"]},"plugins":{"slots":{"contextEngine":"legacy"}}}`,
		"tabs, no end of line":   "{\n\t\"plugins\": {\n\t\t\"slots\": {\"memory\": \"m\"} // x\n\t}\n}",
		"empty, with a comment":  "{\n // only\n}",
		"numbers that lose bits": `{"n": 12345678901234567890, "e": 1e400}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, text)
			h.install(t)
			now := h.config(t)
			if got := h.at(t, "plugins", "slots", "contextEngine"); got != `"skald"` {
				t.Errorf("the slot holds %s in\n%s", got, now)
			}
			if strings.Contains(text, "\r\n") && strings.Count(now, "\n") != strings.Count(now, "\r\n") {
				t.Errorf("mixed line ends: %q", now)
			}
			if h.uninstall(t); h.config(t) != text {
				t.Errorf("uninstall left %q, not %q", h.config(t), text)
			}
		})
	}
}

// A configuration that a manager of dotfiles linked stays a link: what it leads to is changed.
func TestLinkedConfiguration(t *testing.T) {
	t.Parallel()
	h := newHost(t, twoPlugins)
	file, link := h.path("dotfiles.json"), h.path("state/openclaw.json")
	if err := os.Rename(link, file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	check := func(when, want string, same bool) {
		t.Helper()
		info, err := os.Lstat(link)
		if err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s it is no link any more: %v", when, err)
		}
		if got := h.read(t, "dotfiles.json"); (got == want) != same {
			t.Errorf("%s the file holds %s", when, got)
		}
	}
	h.install(t)
	check("installed,", twoPlugins, false)
	h.uninstall(t)
	check("uninstalled,", twoPlugins, true)
}

// Root under sudo does not take the configuration from its user.
func TestOwnerStays(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can give a file to somebody else")
	}
	h := newHost(t, twoPlugins)
	if err := os.Chown(h.path("state/openclaw.json"), 65534, 65534); err != nil {
		t.Skip(err)
	}
	h.install(t)
	if uid, gid := ownerOf(t, h.path("state/openclaw.json")); uid != 65534 || gid != 65534 {
		t.Errorf("the file belongs to %d:%d", uid, gid)
	}
}

// No home folder: nothing in the current folder is taken for the host's.
func TestFindWithoutHome(t *testing.T) { // not parallel: environment and current folder
	for _, name := range []string{"HOME", "USERPROFILE", "OPENCLAW_HOME", "OPENCLAW_STATE_DIR", "OPENCLAW_CONFIG_PATH"} {
		t.Setenv(name, "")
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("openclaw.json", []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, ok := Find(Location{}); ok || l.State != "" || l.Config != "" {
		t.Errorf("found %+v", l)
	}
}
