package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client/openviking/fake"
	"github.com/skald-engine/skald/test/world"
)

// TestRemote kills the daemon with SIGKILL while it delivers to an OpenViking server: afterwards the server has each acknowledged turn once and
// in order, and a daemon without a file gets all of them back, byte for byte.
func TestRemote(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a real daemon; run without -short")
	}
	const cycles, key = 12, "agent:main:main"
	seed := number("SKALD_CRASH_SEED", uint64(time.Now().UnixNano()))
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 7))
	server := new(fake.Server).Start(t)
	server.SetFault(func(*http.Request) fake.Fault { time.Sleep(2 * time.Millisecond); return fake.None }) // the kill finds requests under way
	d := remoteDaemon(t, server)
	ctx := t.Context()
	said := 0
	for range cycles {
		c, err := d.Client()
		if err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Duration(20+random.IntN(250))*time.Millisecond, d.Kill)
		for alive := true; alive; {
			raw, _ := json.Marshal(map[string]any{"role": "user", "content": fmt.Sprint("line \u0000", said), "timestamp": time.Now().UnixMilli()})
			said++
			_, err := c.CommitTurn(ctx, skald.CommitTurnRequest{Request: remoteRequest(key), AdvancementKey: fmt.Sprint(said), Messages: []json.RawMessage{raw}})
			alive = err == nil
		}
		kill.Stop()
		d.Kill()
		if err := d.Start(ctx); err != nil {
			t.Fatal(err)
		}
	}
	stored := remoteTurns(t, d, key)
	awaitDelivery(t, d)
	var got, want []string
	for _, m := range server.Messages(skald.SessionID("", key)) {
		got = append(got, m.Sources[1])
	}
	for _, x := range stored {
		want = append(want, fmt.Sprint(x.Envelope.Sequence))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sequences on the server: -want +got\n%s", diff)
	}
	d.Stop()
	again := remoteDaemon(t, server)
	if diff := cmp.Diff(stored, remoteTurns(t, again, key)); diff != "" {
		t.Errorf("turns after the file was lost: -want +got\n%s", diff)
	}
	t.Logf("%d turns of %d writes, %d kills", len(stored), said, cycles)
}

func remoteRequest(key string) skald.Request {
	return skald.Request{Identity: world.Identity, Session: skald.SessionAddress{SessionKey: key}}
}

// remoteDaemon starts a daemon with a new data folder whose sessions the server holds.
func remoteDaemon(t *testing.T, server *fake.Server) *world.Daemon {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "config.json")
	body := fmt.Sprintf(`{"store": "openviking", "baseUrl": %q, "apiKey": %q}`, server.URL, fake.Key)
	if err := os.WriteFile(config, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "daemon.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	d, err := world.StartDaemon(t.Context(), filepath.Join(dir, "data"), log, "--config", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Stop)
	return d
}

func remoteTurns(t *testing.T, d *world.Daemon, key string) []skald.TurnInfo {
	t.Helper()
	c, err := d.Client()
	if err != nil {
		t.Fatal(err)
	}
	list, err := c.ListTurns(t.Context(), world.Identity, key, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// awaitDelivery waits until the server lacks nothing.
func awaitDelivery(t *testing.T, d *world.Daemon) {
	t.Helper()
	c, err := d.Client()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), settleTime)
	defer cancel()
	for {
		st, err := c.Status(ctx, world.Identity)
		if err != nil {
			t.Fatalf("the outbox does not drain: %v", err)
		}
		if r := st.Store.Remote; r != nil && r.Reachable && r.Turns == 0 && r.Waiting == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
