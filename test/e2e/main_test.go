// Package e2e runs Skald inside the real OpenClaw gateway in front of scripted models. Its tests assert on what the model endpoint
// received and on what the engine recorded, never on a reply alone: the host falls back to its own messages in silence.
package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/skald-engine/skald/test/gateway"
	"github.com/skald-engine/skald/test/world"
)

// memoryTools are the plugin's tools, added to the host's minimal profile.
var memoryTools = []string{"memory_recall", "memory_recall_auto", "memory_expand", "memory_store", "memory_forget"}

var scratch string // of the whole run; kept after a failure or with SKALD_E2E_KEEP

var closers []func() // of worlds that several tests share

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "skald-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	scratch = dir
	if os.Getenv("SKALD_RECALL_MS") == "" { // for the daemons: on a busy machine 150 ms are missed now and then, and a recall left out
		_ = os.Setenv("SKALD_RECALL_MS", "1500")
	}
	code := m.Run()
	if common.w != nil {
		common.w.Close()
	}
	for _, closeWorld := range closers {
		closeWorld()
	}
	if code == 0 && os.Getenv("SKALD_E2E_KEEP") == "" {
		_ = os.RemoveAll(dir)
	} else {
		fmt.Fprintln(os.Stderr, "logs and data:", dir)
	}
	return code
}

var common struct {
	once sync.Once
	w    *world.World
	err  error
}

// shared is the world that all tests use which do not break it: minimal tool profile and the memory tools, tool search off. Each
// test takes session keys of its own.
func shared(t *testing.T) *world.World {
	t.Helper()
	needHost(t)
	common.once.Do(func() {
		dir := filepath.Join(scratch, "shared")
		if common.err = os.MkdirAll(dir, 0o755); common.err != nil {
			return
		}
		common.w, common.err = world.Start(context.Background(), world.Options{Dir: dir, AlsoAllow: memoryTools})
	})
	if common.err != nil {
		t.Fatalf("the shared world did not start (logs in %s): %v", scratch, common.err)
	}
	return common.w
}

// own starts a world for one test, which may break it.
func own(t *testing.T, o world.Options) *world.World {
	t.Helper()
	needHost(t)
	if o.Dir == "" {
		o.Dir = filepath.Join(scratch, filepath.Base(t.Name()))
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w, err := world.Start(context.Background(), o)
	t.Cleanup(w.Close)
	if err != nil {
		t.Fatalf("the world did not start (logs in %s): %v", o.Dir, err)
	}
	return w
}

// needHost skips with -short only: without the host or the binary the suite has failed.
func needHost(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the real OpenClaw gateway; run without -short")
	}
	if _, err := world.Binary(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := gateway.Locate(); err != nil {
		t.Fatal("no OpenClaw: ", err)
	}
}

// long reports whether the long form is asked for.
func long() bool { return os.Getenv("SKALD_E2E_LONG") == "1" }

// deadline is a context for one test.
func deadline(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// eventually polls until the condition holds.
func eventually(t *testing.T, d time.Duration, what string, holds func() bool) {
	t.Helper()
	end := time.Now().Add(d)
	for !holds() {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", d, what)
		}
		time.Sleep(30 * time.Millisecond)
	}
}
