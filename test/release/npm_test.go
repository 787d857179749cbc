package release

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client"
	"github.com/skald-engine/skald/test/gateway"
	"github.com/skald-engine/skald/test/scripted"
	"github.com/skald-engine/skald/test/world"
)

// TestPluginsInstall is the npm way of a user: one command of the host, from a registry that holds this release alone. The gateway then
// starts the daemon out of the platform's package, and a turn is stored.
func TestPluginsInstall(t *testing.T) {
	dist := artefacts(t)
	registry, err := NewRegistry(dist)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(registry.Close)
	model := scripted.New(scripted.Options{})
	t.Cleanup(model.Close)
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	t.Cleanup(cancel) // after the gateway's end: a cancelled context kills it

	dir := filepath.Join(scratch, "npm") // kept after a failure, for its logs
	address := freeAddress(t)
	data := filepath.Join(dir, "skald")
	home := filepath.Join(dir, "home")
	write(t, filepath.Join(home, ".npmrc"), "registry="+registry.URL+"/\n")
	g, err := gateway.Prepare(gateway.Options{
		Dir: dir, PrimaryModel: "lab/gpt-scripted", ToolProfile: "minimal",
		Providers: []gateway.Provider{{
			Name: "lab", BaseURL: model.BaseURL("openai"), API: "openai-completions", Models: []gateway.Model{{ID: "gpt-scripted"}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = g.Stop()
		endDaemon(address, data) // on a busy machine the gateway is killed, and leaves it
	})

	out, err := g.CLI(ctx, "plugins", "install", "skald-openclaw", "--force", "--accept-capabilities")
	t.Logf("plugins install: %s", out)
	if err != nil {
		t.Fatal(err)
	}
	err = g.WriteConfig(func(config map[string]any) { // only so as not to meet another daemon on this machine
		entry := config["plugins"].(map[string]any)["entries"].(map[string]any)["skald"].(map[string]any)
		entry["config"] = map[string]any{"port": portOf(t, address), "dataDir": data}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Turn(ctx, "agent:main:npm", "The teapot is green."); err != nil {
		t.Fatal(err)
	}
	c, err := daemonAt(address, data)
	if err != nil {
		t.Fatalf("the plugin started no daemon: %v", err)
	}
	sessions, err := c.ListSessions(ctx, world.Identity, 0)
	if err != nil {
		t.Fatal(err)
	}
	stored := slices.IndexFunc(sessions, func(s skald.SessionInfo) bool { return s.Key == "agent:main:npm" && s.Turns > 0 })
	if stored < 0 {
		t.Fatalf("the turn is not stored: %+v", sessions)
	}
	laidOut(t, g)
}

func daemonAt(address, data string) (*client.Client, error) {
	key, err := os.ReadFile(filepath.Join(data, "key"))
	return client.New("http://"+address, strings.TrimSpace(string(key)), client.Options{}), err
}

// endDaemon ends the daemon of this test, if it still answers.
func endDaemon(address, data string) {
	c, err := daemonAt(address, data)
	if err != nil {
		return
	}
	hello, err := c.Handshake(context.Background())
	if err != nil {
		return
	}
	if process, err := os.FindProcess(hello.PID); err == nil {
		_ = process.Signal(syscall.SIGTERM)
	}
}

// laidOut checks that the binary is there once, and in none of the copies that the host makes of the plugin and its dependencies.
func laidOut(t *testing.T, g *gateway.Gateway) {
	t.Helper()
	var inside, beside []string
	err := filepath.WalkDir(g.StateDir(), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() != "skald" {
			return nil // folders of the gateway come and go
		}
		if entry.Type()&os.ModeSymlink != 0 {
			return nil // npm's node_modules/.bin
		}
		if strings.Contains(path, filepath.Join("node_modules", ".skald")) && !strings.Contains(path, "plugin-captures") {
			beside = append(beside, path)
		} else {
			inside = append(inside, path)
		}
		return nil
	})
	if err != nil || len(beside) != 1 || len(inside) > 0 {
		t.Errorf("binaries beside the plugin %v, copied %v, %v", beside, inside, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func portOf(t *testing.T, address string) int {
	t.Helper()
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return a.Port
}
