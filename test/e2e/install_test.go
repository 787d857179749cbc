package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skald-engine/skald/client"
	"github.com/skald-engine/skald/server"
	"github.com/skald-engine/skald/test/gateway"
	"github.com/skald-engine/skald/test/scripted"
	"github.com/skald-engine/skald/test/world"
)

// user is somebody with a running OpenClaw, two plugins of their own, and no Skald yet.
type user struct {
	t         *testing.T
	dir, data string
	port      int
	model     *scripted.Server
	gateway   *gateway.Gateway
	original  []byte
}

func newUser(t *testing.T) *user {
	t.Helper()
	needHost(t)
	u := &user{t: t, dir: filepath.Join(scratch, t.Name())}
	u.data = filepath.Join(u.dir, "skald")
	u.model = scripted.New(scripted.Options{})
	t.Cleanup(u.model.Close)
	u.port = anyPort(t)
	paths, ids := u.ownPlugins("p1", "p2")
	g, err := gateway.Start(context.Background(), gateway.Options{
		Dir: filepath.Join(u.dir, "openclaw"), ToolProfile: "minimal", PrimaryModel: "lab/" + u.modelID(),
		Providers: []gateway.Provider{{Name: "lab", BaseURL: u.model.BaseURL("openai"), API: string(scripted.OpenAI), Models: []gateway.Model{{ID: u.modelID()}}}},
		ExtraConfig: map[string]any{"plugins": map[string]any{
			"allow": append(ids, "memory-core", "active-memory"), "load": map[string]any{"paths": paths},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	u.gateway = g
	t.Cleanup(u.leave)
	text, err := os.ReadFile(u.config())
	if err != nil {
		t.Fatal(err)
	}
	u.original = append([]byte("// my own words, not to be lost\n"), text...)
	if err := os.WriteFile(u.config(), u.original, 0o600); err != nil {
		t.Fatal(err)
	}
	return u
}

func (u *user) modelID() string { return scripted.Profiles()[0].Models[0].ID }

func anyPort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// ownPlugins makes plugins that do nothing.
func (u *user) ownPlugins(names ...string) (paths, ids []string) {
	u.t.Helper()
	for _, id := range names {
		dir := filepath.Join(u.dir, "plugins", id)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			u.t.Fatal(err)
		}
		for name, text := range map[string]string{
			"openclaw.plugin.json": `{"id": "ID", "name": "ID", "description": "nothing", "version": "0.0.1", "configSchema": {"type": "object", "properties": {}}}`,
			"package.json":         `{"name": "ID", "version": "0.0.1", "type": "module", "openclaw": {"extensions": ["./index.js"], "compat": {"pluginApi": ">=2026.8.1"}}}`,
			"index.js":             `export default {id: "ID", name: "ID", description: "nothing", register() {}}`,
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(text, "ID", id)), 0o644); err != nil {
				u.t.Fatal(err)
			}
		}
		paths, ids = append(paths, dir), append(ids, id)
	}
	return paths, ids
}

func (u *user) config() string { return filepath.Join(u.gateway.StateDir(), "openclaw.json") }

// skald runs a command as the user would, and decodes its document.
func (u *user) skald(ctx context.Context, out any, args ...string) {
	u.t.Helper()
	binary, err := world.Binary()
	if err != nil {
		u.t.Fatal(err)
	}
	node, openclaw, err := gateway.Locate()
	if err != nil {
		u.t.Fatal(err)
	}
	args = append(append([]string{"openclaw"}, args...), "--openclaw", openclaw, "--node", node, "--data", u.data, "--json")
	cmd := exec.CommandContext(ctx, binary, args...)
	home := filepath.Join(u.dir, "openclaw", "home")
	cmd.Env = []string{
		"PATH=" + filepath.Dir(node) + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + home, "OPENCLAW_HOME=" + home,
		"OPENCLAW_STATE_DIR=" + u.gateway.StateDir(), "OPENCLAW_CONFIG_PATH=" + u.config(), fmt.Sprintf("SKALD_LISTEN=127.0.0.1:%d", u.port),
		"OPENCLAW_SKIP_CHANNELS=1", "OPENCLAW_DISABLE_BONJOUR=1", "CI=1",
	}
	var text, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &said
	if err := cmd.Run(); err != nil {
		u.t.Fatalf("skald %s: %v\n%s\n%s", strings.Join(args, " "), err, text.Bytes(), said.Bytes())
	}
	if err := json.Unmarshal(text.Bytes(), out); err != nil {
		u.t.Fatalf("%v: %s", err, text.Bytes())
	}
}

// daemon is a client of the daemon that the plugin starts; ok is false while there is none.
func (u *user) daemon(ctx context.Context) (c *client.Client, pid int, ok bool) {
	key, err := server.ReadKey(u.data)
	if err != nil {
		return nil, 0, false
	}
	c = client.New(fmt.Sprintf("http://127.0.0.1:%d", u.port), key, client.Options{})
	h, err := c.Handshake(ctx)
	return c, h.PID, err == nil
}

// stored are the turns of a session of the host.
func (u *user) stored(ctx context.Context, key string) int64 {
	c, _, ok := u.daemon(ctx)
	if !ok {
		return 0
	}
	list, err := c.ListSessions(ctx, world.Identity, 0)
	if err != nil {
		u.t.Fatal(err)
	}
	for _, s := range list {
		if s.Key == key {
			return s.Turns
		}
	}
	return 0
}

func (u *user) leave() {
	_ = u.gateway.Stop()
	if _, pid, ok := u.daemon(context.Background()); ok {
		_ = syscall.Kill(pid, syscall.SIGTERM)
	}
}

func (u *user) unchanged(when string) {
	u.t.Helper()
	now, err := os.ReadFile(u.config())
	if err != nil {
		u.t.Fatal(err)
	}
	if !bytes.Equal(now, u.original) {
		u.t.Errorf("%s the configuration is not what it was:\n%s", when, now)
	}
}

// TestInstall: dry run, install with proof beside a running gateway, which takes the plugin up without a restart; a turn is stored;
// uninstall gives the very bytes back (PLG-02), and no later turn is stored.
func TestInstall(t *testing.T) {
	u := newUser(t)
	ctx := deadline(t, 12*time.Minute) // about one on a quiet machine
	plugin := filepath.Join(world.Root(), "openclaw", "dist", "skald")

	var plan struct {
		Changed bool  `json:"changed"`
		Changes []any `json:"changes"`
	}
	u.skald(ctx, &plan, "install", "--plugin", plugin, "--dry-run")
	if !plan.Changed || len(plan.Changes) == 0 {
		t.Errorf("nothing planned: %+v", plan)
	}
	u.unchanged("after a dry run")

	var done struct {
		Changed, Applied bool
		Proof            struct {
			OK, Assembled, Committed bool
			Turns                    int
			How                      string
			Left                     []string
			Reason                   string
		}
	}
	before := len(u.model.Requests())
	u.skald(ctx, &done, "install", "--plugin", plugin)
	if p := done.Proof; !done.Applied || !p.OK || !p.Assembled || !p.Committed || p.Turns != 2 || len(p.Left) > 0 {
		t.Fatalf("not proved: %+v", done)
	}
	if n := len(u.model.Requests()) - before; n != 1 {
		t.Errorf("the proof made %d calls of the model, want 1", n)
	}
	u.listsKept(plugin)

	const key = "agent:main:first"
	eventually(t, time.Minute, "the running gateway starts the daemon of the new plugin", func() bool {
		_, _, ok := u.daemon(ctx)
		return ok
	})
	if _, err := u.gateway.Turn(ctx, key, "The heron database listens on port 5544."); err != nil {
		t.Fatal(err)
	}
	if n := u.stored(ctx, key); n != 2 {
		t.Errorf("%d turns are stored, want 2", n)
	}

	var removed struct{ Applied, Exact bool }
	u.skald(ctx, &removed, "uninstall")
	if !removed.Applied || !removed.Exact {
		t.Errorf("%+v", removed)
	}
	u.unchanged("after uninstall")
	eventually(t, time.Minute, "the gateway lets the daemon go", func() bool {
		_, _, ok := u.daemon(ctx)
		return !ok
	})
	if _, err := u.gateway.Turn(ctx, key, "Are you still there?"); err != nil {
		t.Errorf("the host without Skald: %v", err)
	}
	u.unchanged("a turn later")
}

// listsKept: p1, p2 and the load paths are still there, with ours behind them (PLG-02).
func (u *user) listsKept(plugin string) {
	u.t.Helper()
	text, err := os.ReadFile(u.config())
	if err != nil {
		u.t.Fatal(err)
	}
	var c struct {
		Plugins struct {
			Allow []string
			Load  struct{ Paths []string }
			Slots map[string]string
		}
	}
	_, body, _ := bytes.Cut(text, []byte("\n"))
	if err := json.Unmarshal(body, &c); err != nil {
		u.t.Fatalf("%v: %s", err, text)
	}
	if got := strings.Join(c.Plugins.Allow, " "); got != "p1 p2 memory-core active-memory skald" {
		u.t.Errorf("plugins.allow: %s", got)
	}
	if n := len(c.Plugins.Load.Paths); n != 3 || c.Plugins.Load.Paths[2] != plugin || c.Plugins.Slots["contextEngine"] != "skald" {
		u.t.Errorf("%+v", c.Plugins)
	}
	if !bytes.HasPrefix(text, []byte("// my own words")) {
		u.t.Errorf("the comment is gone: %.80s", text)
	}
}
