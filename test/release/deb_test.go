package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skald-engine/skald/openclaw"
)

// TestDeb: the package says what it is, unpacks to where Debian wants things, and the binary runs from there.
func TestDeb(t *testing.T) {
	t.Parallel()
	need(t, "dpkg-deb")
	dir := artefacts(t)
	deb := filepath.Join(dir, "skald_"+version+"_"+runtime.GOARCH+".deb")
	about := output(t, exec.Command("dpkg-deb", "-f", deb, "Package", "Version", "Architecture"))
	if want := "Package: skald\nVersion: " + version + "\nArchitecture: " + runtime.GOARCH + "\n"; about != want {
		t.Errorf("control: %s", about)
	}
	for line := range strings.Lines(output(t, exec.Command("dpkg-deb", "-c", deb))) {
		if !strings.Contains(line, " root/root ") {
			t.Errorf("not root's: %s", line)
		}
	}
	root := filepath.Join(t.TempDir(), "root")
	output(t, exec.Command("dpkg-deb", "-x", deb, root))
	for _, want := range []string{"usr/share/man/man1/skald.1.gz", "usr/share/bash-completion/completions/skald",
		"usr/share/zsh/vendor-completions/_skald",
		"usr/share/fish/vendor_completions.d/skald.fish", "usr/share/doc/skald/copyright", "usr/share/doc/skald/changelog.gz",
		"usr/lib/systemd/user/skald.service"} {
		if _, err := os.Stat(filepath.Join(root, want)); err != nil {
			t.Error(err)
		}
	}
	binary := filepath.Join(root, "usr", "bin", "skald")
	if got := output(t, exec.Command(binary, "version")); !strings.Contains(got, version) {
		t.Errorf("version: %s", got)
	}
	for _, id := range openclaw.Builds { // ../share from the binary: where `skald openclaw install` looks
		if _, err := os.Stat(filepath.Join(root, "usr", "share", "skald", "openclaw", id, "openclaw.plugin.json")); err != nil {
			t.Error(err)
		}
	}
}

// TestUnit: the service manager takes the unit, with the binary where the package was unpacked.
func TestUnit(t *testing.T) {
	t.Parallel()
	need(t, "dpkg-deb", "systemd-analyze")
	dir := artefacts(t)
	root := t.TempDir()
	output(t, exec.Command("dpkg-deb", "-x", filepath.Join(dir, "skald_"+version+"_"+runtime.GOARCH+".deb"), root))
	unit := string(read(t, root, "usr/lib/systemd/user/skald.service"))
	moved := filepath.Join(root, "skald.service")
	write(t, moved, strings.ReplaceAll(unit, "/usr/bin/", filepath.Join(root, "usr", "bin")+"/"))
	verify := exec.Command("systemd-analyze", "--user", "--man=no", "verify", moved)
	verify.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	if out := output(t, verify); out != "" {
		t.Errorf("systemd-analyze: %s", out)
	}
}

// need skips where a program is not there: the packages are for other systems.
func need(t *testing.T, programs ...string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("for Linux")
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skip("no ", p)
		}
	}
}

// output runs a program, which must end well.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return string(out)
}
