package release

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skald-engine/skald/openclaw"
	"github.com/skald-engine/skald/test/world"
)

// TestChecksums: every artefact stands in SHA256SUMS, with its sum.
func TestChecksums(t *testing.T) {
	t.Parallel()
	dir := artefacts(t)
	listed := map[string]bool{"SHA256SUMS": true}
	for line := range strings.Lines(string(read(t, dir, "SHA256SUMS"))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed[name] = true
		if got := sha256.Sum256(read(t, dir, name)); hex.EncodeToString(got[:]) != sum {
			t.Errorf("the sum of %s is wrong", name)
		}
	}
	for _, name := range names(t, dir, "*") {
		if !listed[name] {
			t.Errorf("%s has no checksum", name)
		}
	}
}

// TestReproducible: the same source gives the same bytes, whatever the folder.
func TestReproducible(t *testing.T) {
	t.Parallel()
	first := artefacts(t)
	second := filepath.Join(scratch, "elsewhere", "second")
	if err := makeRelease(second); err != nil {
		t.Fatal(err)
	}
	if a, b := names(t, first, "*"), names(t, second, "*"); !slices.Equal(a, b) {
		t.Fatalf("%v and %v", a, b)
	}
	for _, name := range names(t, first, "*") {
		if !bytes.Equal(read(t, first, name), read(t, second, name)) {
			t.Errorf("%s differs", name)
		}
	}
}

// TestArchives: each holds one static binary of its platform, documents, licences, man pages and completions.
func TestArchives(t *testing.T) {
	t.Parallel()
	dir := artefacts(t)
	archives := append(names(t, dir, "skald_*.tar.gz"), names(t, dir, "skald_*.zip")...)
	if want := map[bool]int{false: 1, true: 6}[long()]; len(archives) != want {
		t.Fatalf("%d archives: %v", len(archives), archives)
	}
	for _, name := range archives {
		root := strings.TrimSuffix(strings.TrimSuffix(name, ".tar.gz"), ".zip")
		files := open(t, filepath.Join(dir, name))
		for _, want := range []string{"README.md", "docs/getting-started.md", "CHANGELOG.md", "LICENSE", "THIRD_PARTY_LICENSES.txt", "man/skald.1", "man/skald-serve.1",
			"completions/skald.bash", "completions/_skald", "completions/skald.fish", "completions/skald.ps1"} {
			if len(files[root+"/"+want].Data) == 0 {
				t.Errorf("%s has no %s", name, want)
			}
		}
		parts := strings.Split(root, "_")
		binary := "skald"
		if parts[2] == "windows" {
			binary = "skald.exe"
		}
		entry := files[root+"/"+binary]
		if entry.Mode != 0o755 {
			t.Errorf("%s: %s has mode %o", name, binary, entry.Mode)
		}
		static(t, entry.Data, parts[2], parts[3])
	}
}

// static checks what the Go linker wrote about a binary.
func static(t *testing.T, binary []byte, os, arch string) {
	t.Helper()
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		t.Error(err)
		return
	}
	got := map[string]string{}
	for _, s := range info.Settings {
		got[s.Key] = s.Value
	}
	if got["GOOS"] != os || got["GOARCH"] != arch || got["CGO_ENABLED"] != "0" || got["-trimpath"] != "true" {
		t.Errorf("binary for %s/%s: %v", os, arch, got)
	}
}

// TestNoMachinePath: nothing that is published names a folder of the machine that built it, and nothing maps back to sources.
func TestNoMachinePath(t *testing.T) {
	t.Parallel()
	dir := artefacts(t)
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	var cache string
	if out, err := exec.Command("go", "env", "GOMODCACHE").Output(); err == nil {
		cache = strings.TrimSpace(string(out))
	}
	private := []string{world.Root() + "/", home + "/", cache, "sourceMappingURL", "/skald-release-"}
	check := func(where string, data []byte) {
		for _, path := range private {
			if bytes.Contains(data, []byte(path)) {
				t.Errorf("%s holds %q", where, path)
			}
		}
	}
	for _, name := range names(t, dir, "*") {
		check(name, read(t, dir, name))
		if strings.HasSuffix(name, "gz") || strings.HasSuffix(name, ".zip") {
			for entry, file := range open(t, filepath.Join(dir, name)) {
				check(name+": "+entry, file.Data)
			}
		}
	}
}

// TestBillOfMaterials: each names exactly the modules that its binary names.
func TestBillOfMaterials(t *testing.T) {
	t.Parallel()
	dir := artefacts(t)
	for _, name := range names(t, dir, "*.cdx.json") {
		var bom struct {
			BomFormat  string
			Components []struct{ Name string }
		}
		if err := json.Unmarshal(read(t, dir, name), &bom); err != nil || bom.BomFormat != "CycloneDX" {
			t.Errorf("%s: %v", name, err)
		}
		has := map[string]bool{}
		for _, c := range bom.Components {
			has[c.Name] = true
		}
		root := strings.TrimSuffix(name, ".cdx.json")
		for file, entry := range openAny(t, dir, root) {
			info, err := buildinfo.Read(bytes.NewReader(entry.Data))
			if err != nil {
				continue // not the binary
			}
			if len(has) != len(info.Deps)+1 { // and the standard library
				t.Errorf("%s names %d components, %s has %d modules", name, len(has), file, len(info.Deps))
			}
			for _, d := range info.Deps {
				if !has[d.Path] {
					t.Errorf("%s lacks %s", name, d.Path)
				}
			}
		}
	}
}

// TestPluginIsOne: the binary, the npm packages and the repository carry the same plugin.
func TestPluginIsOne(t *testing.T) {
	t.Parallel()
	dir := artefacts(t)
	for id, tarball := range map[string]string{"skald": "skald-openclaw-" + version, "openviking": "skald-openclaw-openviking-" + version} {
		files := open(t, filepath.Join(dir, tarball+".tgz"))
		folder, err := openclaw.Files(id)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"index.js", "openclaw.plugin.json"} {
			want, err := fs.ReadFile(folder, name)
			if err != nil || !bytes.Equal(files["package/"+name].Data, want) {
				t.Errorf("%s of %s differs from the embedded one (%v)", name, tarball, err)
			}
		}
	}
}

// TestPluginIsCurrent: the committed build of the plugin is what its source gives.
func TestPluginIsCurrent(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs the plugin's npm packages")
	}
	cmd := exec.Command("node", filepath.Join(world.Root(), "openclaw", "scripts", "build.mjs"), "--check")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if os.Getenv("CI") == "" {
		return // with changes under way it differs from the last commit
	}
	git := exec.Command("git", "status", "--porcelain", "--", "openclaw/dist")
	git.Dir = world.Root()
	if out, err := git.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("openclaw/dist is not committed as it is built: %s %v", out, err)
	}
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func names(t *testing.T, dir, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	for i := range paths {
		paths[i] = filepath.Base(paths[i])
	}
	return paths
}

func open(t *testing.T, path string) map[string]Entry {
	t.Helper()
	files, err := contents(path)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// openAny opens the archive of a platform, whatever its kind.
func openAny(t *testing.T, dir, root string) map[string]Entry {
	t.Helper()
	if found := names(t, dir, root+".zip"); len(found) > 0 {
		return open(t, filepath.Join(dir, found[0]))
	}
	return open(t, filepath.Join(dir, root+".tar.gz"))
}
