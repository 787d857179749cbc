package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client"
	"github.com/skald-engine/skald/server"
	"github.com/skald-engine/skald/test/gateway"
	"github.com/skald-engine/skald/test/scripted"
	"github.com/skald-engine/skald/test/world"
)

// TestJourney is docs/getting-started.md on the real OpenClaw, with nothing but the release's archive: a person who has talked with
// OpenClaw for a while installs Skald, imports, asks for something that was said before, tries the trial, upgrades, and leaves.
func TestJourney(t *testing.T) {
	p := newPerson(t)
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()

	p.say(ctx, "agent:main:monday", "Please remember: the spare key of the boathouse hangs behind the barometer.")
	p.say(ctx, "agent:main:tuesday", "We decided to paint the hull in RAL-6005 this spring.")
	p.say(ctx, "agent:main:tuesday", "And the sails go to the loft in March.")

	t.Run("trial before anything is installed", func(t *testing.T) {
		var report struct {
			Sessions []any `json:"sessions"`
		}
		page := filepath.Join(p.home, "trial.html")
		p.skald(ctx, &report, "trial", "--out", page)
		if len(report.Sessions) < 2 {
			t.Errorf("the trial saw %d sessions, not the 2 of the host", len(report.Sessions))
		}
		if text, err := os.ReadFile(page); err != nil || !bytes.Contains(text, []byte("<html")) {
			t.Errorf("no report: %v", err)
		}
		p.unchanged(t, "after the trial")
	})

	began := time.Now()
	t.Run("install, with its proof", func(t *testing.T) {
		var done struct {
			Applied bool
			Proof   struct{ OK, Assembled, Committed bool }
		}
		p.skald(ctx, &done, "openclaw", "install", "--yes")
		if !done.Applied || !done.Proof.OK || !done.Proof.Assembled || !done.Proof.Committed {
			t.Fatalf("not proved: %+v", done)
		}
	})
	t.Run("import", func(t *testing.T) {
		var report struct {
			Imported int `json:"imported"`
		}
		p.skald(ctx, &report, "import", "openclaw")
		if report.Imported != 6 {
			t.Errorf("%d messages were imported, not the 6 of the host: %+v", report.Imported, report)
		}
		p.skald(ctx, &report, "import", "openclaw")
		if report.Imported != 0 {
			t.Errorf("a second import brought %d messages", report.Imported)
		}
	})
	t.Run("first recall of an imported fact", func(t *testing.T) {
		p.plugged(t, ctx)
		requests := p.say(ctx, "agent:main:wednesday", "Where does the spare key of the boathouse hang?")
		if len(requests) == 0 || !requests[0].Contains("behind the barometer") {
			t.Fatal("the request to the model does not hold the imported fact")
		}
		t.Logf("2 commands and %.0f s from nothing to the first recalled imported fact", time.Since(began).Seconds())
		p.say(ctx, "agent:main:tuesday", "Which colour did we choose for the hull?")
		p.stored(t, ctx, "agent:main:tuesday", 6)
	})
	t.Run("upgrade", func(t *testing.T) {
		next := p.upgrade(t)
		if err := p.gateway.Restart(ctx); err != nil {
			t.Fatal(err)
		}
		p.plugged(t, ctx)
		c, _, err := p.daemon(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if h, err := c.Handshake(ctx); err != nil || h.Version != next {
			t.Errorf("after the upgrade skald %s answers, not %s (%v)", h.Version, next, err)
		}
		p.say(ctx, "agent:main:tuesday", "Thank you.")
		p.stored(t, ctx, "agent:main:tuesday", 8)
		var checked struct {
			OK bool `json:"ok"`
		}
		p.skald(ctx, &checked, "verify")
		if !checked.OK {
			t.Error("verify found faults after the upgrade")
		}
	})
	t.Run("uninstall", func(t *testing.T) {
		var removed struct{ Applied, Exact bool }
		p.skald(ctx, &removed, "openclaw", "uninstall", "--yes")
		if !removed.Applied || !removed.Exact {
			t.Errorf("%+v", removed)
		}
		p.unchanged(t, "after uninstall")
		p.say(ctx, "agent:main:thursday", "Are you still there?")
	})
}

// person is somebody with an OpenClaw of their own, in a home folder of their own, and the unpacked archive.
type person struct {
	t        *testing.T
	home     string
	binary   string
	port     int
	model    *scripted.Server
	gateway  *gateway.Gateway
	original []byte
}

func newPerson(t *testing.T) *person {
	t.Helper()
	dir := filepath.Join(scratch, "journey")
	p := &person{t: t, home: filepath.Join(dir, "openclaw", "home")}
	p.binary = unpackBinary(t, artefacts(t), filepath.Join(dir, "skald"))
	p.port = freePort(t)
	p.model = scripted.New(scripted.Options{})
	t.Cleanup(p.model.Close)
	model := scripted.Profiles()[0].Models[0].ID
	g, err := gateway.Start(context.Background(), gateway.Options{
		Dir: filepath.Join(dir, "openclaw"), ToolProfile: "minimal", PrimaryModel: "lab/" + model,
		Env:       []string{fmt.Sprintf("SKALD_LISTEN=127.0.0.1:%d", p.port), "SKALD_RECALL_MS=1500"},
		Providers: []gateway.Provider{{Name: "lab", BaseURL: p.model.BaseURL("openai"), API: string(scripted.OpenAI), Models: []gateway.Model{{ID: model}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.gateway = g
	t.Cleanup(p.leave)
	if p.original, err = os.ReadFile(p.config()); err != nil {
		t.Fatal(err)
	}
	return p
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// unpackBinary takes the program out of this platform's archive.
func unpackBinary(t *testing.T, dist, dir string) string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dist, "skald_*_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz"))
	if err != nil || len(list) != 1 {
		t.Fatalf("archives of this platform: %v, %v", list, err)
	}
	f, err := os.Open(list[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			t.Fatalf("no skald in %s", list[0])
		}
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(h.Name) != "skald" || !h.FileInfo().Mode().IsRegular() || h.FileInfo().Mode()&0o100 == 0 {
			continue
		}
		text, err := io.ReadAll(r)
		if err == nil {
			err = os.MkdirAll(dir, 0o755)
		}
		path := filepath.Join(dir, "skald")
		if err == nil {
			err = os.WriteFile(path, text, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
}

func (p *person) config() string { return filepath.Join(p.gateway.StateDir(), "openclaw.json") }
func (p *person) data() string   { return filepath.Join(p.home, ".skald") }

// skald runs a command as the person would, with OpenClaw on the PATH, and decodes its document.
func (p *person) skald(ctx context.Context, out any, args ...string) {
	p.t.Helper()
	node, openclaw, err := gateway.Locate()
	if err != nil {
		p.t.Fatal(err)
	}
	args = append(args, "--json")
	if args[0] == "openclaw" {
		args = append(args, "--openclaw", openclaw, "--node", node)
	}
	cmd := exec.CommandContext(ctx, p.binary, args...)
	cmd.Dir = p.home
	cmd.Env = []string{
		"PATH=" + filepath.Dir(node) + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + p.home, "OPENCLAW_HOME=" + p.home,
		"OPENCLAW_STATE_DIR=" + p.gateway.StateDir(), "OPENCLAW_CONFIG_PATH=" + p.config(), fmt.Sprintf("SKALD_LISTEN=127.0.0.1:%d", p.port),
		"OPENCLAW_SKIP_CHANNELS=1", "OPENCLAW_DISABLE_BONJOUR=1", "CI=1",
	}
	var text, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &said
	if err := cmd.Run(); err != nil {
		p.t.Fatalf("skald %s: %v\n%s\n%s", strings.Join(args, " "), err, text.Bytes(), said.Bytes())
	}
	if err := json.Unmarshal(text.Bytes(), out); err != nil {
		p.t.Fatalf("%v: %s", err, text.Bytes())
	}
}

// say sends a message and returns the model requests that it caused.
func (p *person) say(ctx context.Context, key, text string) []scripted.Request {
	p.t.Helper()
	before := len(p.model.Requests())
	if _, err := p.gateway.Turn(ctx, key, text); err != nil {
		p.t.Fatalf("%q: %v", text, err)
	}
	return p.model.Requests()[before:]
}

// daemon is a client of the daemon that the plugin starts.
func (p *person) daemon(ctx context.Context) (*client.Client, int, error) {
	key, err := server.ReadKey(p.data())
	if err != nil {
		return nil, 0, err
	}
	c := client.New(fmt.Sprintf("http://127.0.0.1:%d", p.port), key, client.Options{})
	h, err := c.Handshake(ctx)
	return c, h.PID, err
}

// plugged waits until the gateway says that Skald fills its slot.
func (p *person) plugged(t *testing.T, ctx context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		answer, err := p.gateway.Call(ctx, "skald.status", map[string]any{})
		if err == nil && bytes.Contains(answer, []byte(`"ok":true`)) {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the gateway does not run the plugin: %s %v", answer, err)
		case <-tick.C:
		}
	}
}

func (p *person) stored(t *testing.T, ctx context.Context, key string, want int64) {
	t.Helper()
	c, _, err := p.daemon(ctx)
	var list []skald.SessionInfo
	if err == nil {
		list, err = c.ListSessions(ctx, world.Identity, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.Key == key {
			if s.Turns != want {
				t.Errorf("%s has %d turns, not %d", key, s.Turns, want)
			}
			return
		}
	}
	t.Errorf("%s is not stored", key)
}

func (p *person) unchanged(t *testing.T, when string) {
	t.Helper()
	now, err := os.ReadFile(p.config())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(now, p.original) {
		t.Errorf("%s the configuration is not what it was:\n%s", when, now)
	}
}

// upgrade puts the next version in the program's place.
func (p *person) upgrade(t *testing.T) string {
	t.Helper()
	const next = "0.2.0"
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -X github.com/skald-engine/skald/internal/app.Version="+next, "-o", p.binary+".new", "./cmd/skald")
	cmd.Dir, cmd.Env = world.Root(), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Rename(p.binary+".new", p.binary); err != nil {
		t.Fatal(err)
	}
	return next
}

func (p *person) leave() {
	_ = p.gateway.Stop()
	if _, pid, err := p.daemon(context.Background()); err == nil {
		_ = syscall.Kill(pid, syscall.SIGTERM)
	}
}
