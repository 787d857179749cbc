package release

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/skald-engine/skald/test/world"
)

const version = "0.1.0"

// long reports whether all platforms are asked for, and not this machine's alone.
func long() bool { return os.Getenv("SKALD_RELEASE_LONG") == "1" }

var scratch string // of the whole run; kept after a failure

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "skald-release-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	scratch = dir
	code := m.Run()
	if code == 0 {
		_ = os.RemoveAll(dir)
	} else {
		fmt.Fprintln(os.Stderr, "artefacts and logs:", dir)
	}
	os.Exit(code)
}

var once struct {
	sync.Once
	dir string
	err error
}

// artefacts is the folder of a release, made once: for this machine, in the long form for all. SKALD_RELEASE_DIST names a finished one.
func artefacts(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a release; run without -short")
	}
	once.Do(func() {
		if once.dir = os.Getenv("SKALD_RELEASE_DIST"); once.dir == "" {
			once.dir = filepath.Join(scratch, "first")
			once.err = makeRelease(once.dir)
		}
	})
	if once.err != nil {
		t.Fatal(once.err)
	}
	return once.dir
}

// commitTime is asked for once: a commit between two releases is no difference between their sources.
var commitTime = sync.OnceValue(func() string {
	git := exec.Command("git", "log", "-1", "--format=%ct")
	git.Dir = world.Root()
	out, err := git.Output()
	if err != nil {
		return "1000000000" // no repository, as in an unpacked archive of the source
	}
	return strings.TrimSpace(string(out))
})

// makeRelease runs the release program into a folder.
func makeRelease(dir string) error {
	args := []string{"run", "./release", "-version", version, "-out", dir}
	if !long() {
		args = append(args, "-platforms", runtime.GOOS+"/"+runtime.GOARCH)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = world.Root()
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+commitTime())
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}
