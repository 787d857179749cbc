package release

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/skald-engine/skald/test/world"
)

// The whole of what the npm packages hold. The host copies a plugin's folder at every load: it stays small.
var (
	pluginHolds   = []string{"LICENSE", "README.md", "bin/skald.mjs", "index.js", "openclaw.plugin.json", "package.json"}
	platformHolds = []string{"LICENSE", "README.md", "THIRD_PARTY_LICENSES.txt", "node_modules/.skald/skald", "package.json"}
	pluginMost    = 150_000    // bytes unpacked
	platformMost  = 50_000_000 // bytes unpacked; 12 MB of them are the table of word meanings
)

// TestNPMPackages: what is in them, what is not, and how large they are.
func TestNPMPackages(t *testing.T) {
	t.Parallel()
	dir := artefacts(t)
	for _, name := range names(t, dir, "*.tgz") {
		want, most := platformHolds, platformMost
		switch {
		case name == "skald-openclaw-"+version+".tgz":
			want, most = pluginHolds, pluginMost
		case strings.HasPrefix(name, "skald-openclaw-openviking-"):
			want, most = slices.DeleteFunc(slices.Clone(pluginHolds), func(f string) bool { return strings.HasPrefix(f, "bin/") }), pluginMost
		case strings.Contains(name, "-win32-"):
			want = slices.Clone(want)
			want[slices.Index(want, "node_modules/.skald/skald")] = "node_modules/.skald/skald.exe"
		}
		files := open(t, filepath.Join(dir, name))
		var got []string
		size := 0
		for _, file := range slices.Sorted(maps.Keys(files)) {
			got = append(got, strings.TrimPrefix(file, "package/"))
			size += len(files[file].Data)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s holds %v, not %v", name, got, want)
		}
		if size > most {
			t.Errorf("%s has %d bytes, more than %d", name, size, most)
		}
		manifest, err := manifestOf(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if manifest["scripts"] != nil || manifest["dependencies"] != nil || manifest["devDependencies"] != nil {
			t.Errorf("%s has scripts or dependencies: %v", name, manifest)
		}
	}
}

// TestPlatformPackages: every binary's package is an optional dependency of each plugin, at this very version, for its system alone.
func TestPlatformPackages(t *testing.T) {
	t.Parallel()
	dir := artefacts(t)
	for _, plugin := range []string{"skald-openclaw", "skald-openclaw-openviking"} {
		manifest, err := manifestOf(filepath.Join(dir, plugin+"-"+version+".tgz"))
		if err != nil {
			t.Fatal(err)
		}
		optional := manifest["optionalDependencies"].(map[string]any)
		if want := map[bool]int{false: 1, true: 6}[long()]; len(optional) != want {
			t.Errorf("%s: %v", plugin, optional)
		}
		for name, at := range optional {
			platform, err := manifestOf(filepath.Join(dir, name+"-"+version+".tgz"))
			if err != nil {
				t.Fatal(err)
			}
			system := strings.Split(strings.TrimPrefix(name, "skald-openclaw-"), "-")
			if at != version || only(platform["os"]) != system[0] || only(platform["cpu"]) != system[1] {
				t.Errorf("%s at %v: os %v, cpu %v", name, at, platform["os"], platform["cpu"])
			}
		}
	}
}

func only(v any) any {
	if list, ok := v.([]any); ok && len(list) == 1 {
		return list[0]
	}
	return v
}

// TestNPMGlobal: `npm install -g skald-openclaw` gives the command line.
func TestNPMGlobal(t *testing.T) {
	t.Parallel()
	dir := artefacts(t)
	registry, err := NewRegistry(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer registry.Close()
	prefix := t.TempDir()
	npm := exec.Command("npm", "install", "-g", "--prefix", prefix, "--ignore-scripts", "--no-audit", "--no-fund", "skald-openclaw")
	npm.Env = append(os.Environ(), "npm_config_registry="+registry.URL+"/", "npm_config_cache="+t.TempDir(), "HOME="+t.TempDir())
	output(t, npm)
	binary := filepath.Join(prefix, "bin", "skald")
	if runtime.GOOS == "windows" {
		binary = filepath.Join(prefix, "skald.cmd")
	}
	if got := output(t, exec.Command(binary, "version")); !strings.Contains(got, version) {
		t.Errorf("version: %s", got)
	}
	wrong := exec.Command(binary, "no-such-command")
	if err := wrong.Run(); wrong.ProcessState.ExitCode() != 2 {
		t.Errorf("the exit code is lost: %v", err)
	}
}

// TestGoInstall: `go install …@version` refuses a module that replaces or excludes others, and takes what git holds.
func TestGoInstall(t *testing.T) {
	t.Parallel()
	data := string(read(t, world.Root(), "go.mod"))
	for _, word := range []string{"replace", "exclude"} {
		for line := range strings.Lines(data) {
			if strings.HasPrefix(strings.TrimSpace(line), word) {
				t.Errorf("go.mod: %s", line)
			}
		}
	}
	git := exec.Command("git", "check-ignore", "openclaw/dist/skald/index.js")
	git.Dir = world.Root()
	if out, err := git.CombinedOutput(); err == nil {
		t.Errorf("the embedded plugin is ignored by git: %s", out)
	}
}
