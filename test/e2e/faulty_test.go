package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/test/scripted"
	"github.com/skald-engine/skald/test/world"
)

// bobsKey is a second key of the faulty world's daemon, of another user.
const bobsKey = "bob-0123456789abcdef0123456789abcdef"

var broken struct {
	once sync.Once
	w    *world.World
	err  error
}

// faulty is the world of the tests that kill and break things: a proxy stands between plugin and daemon, the daemon knows a second
// key, the host a second agent. Every test leaves it whole.
func faulty(t *testing.T) *world.World {
	t.Helper()
	needHost(t)
	broken.once.Do(func() { broken.w, broken.err = startFaulty() })
	if broken.err != nil {
		t.Fatalf("the faulty world did not start (logs in %s): %v", scratch, broken.err)
	}
	t.Cleanup(func() { heal(t, broken.w) })
	return broken.w
}

func startFaulty() (*world.World, error) {
	dir := filepath.Join(scratch, "faulty")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "skald.json")
	if err := os.WriteFile(config, []byte(`{"keys": [{"key": "`+bobsKey+`", "user": "bob"}]}`), 0o600); err != nil {
		return nil, err
	}
	w, err := world.Start(context.Background(), world.Options{
		Dir: dir, Proxy: true, AlsoAllow: append(slices.Clone(memoryTools), "sessions_spawn"), DaemonArgs: []string{"--config", config},
		ExtraConfig: map[string]any{"agents": map[string]any{"entries": map[string]any{"main": map[string]any{}, "other": map[string]any{}}}},
	})
	closers = append(closers, w.Close)
	return w, err
}

// heal undoes what a test broke.
func heal(t *testing.T, w *world.World) {
	w.Daemon.Resume()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if _, err := w.Client.Handshake(ctx); err != nil {
		if err := w.Daemon.Start(ctx); err != nil {
			t.Errorf("the daemon does not start again: %v", err)
		}
	}
	w.Proxy.Down()
	if err := w.Proxy.Up(); err != nil {
		t.Error(err)
	}
}

// down takes the daemon away, as if it had never been started; up brings it back.
func down(w *world.World) {
	w.Proxy.Down()
	w.Daemon.Kill()
}

func up(t *testing.T, ctx context.Context, w *world.World) {
	t.Helper()
	if err := w.Daemon.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if err := w.Proxy.Up(); err != nil {
		t.Fatal(err)
	}
}

// stored are the turns of a session of the main agent.
func stored(t *testing.T, ctx context.Context, w *world.World, key string) []skald.TurnInfo {
	t.Helper()
	s, err := w.Session(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	list, err := w.Client.ListTurns(ctx, world.Identity, s.ID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// sameAsHost checks that the store holds what the host's own transcript holds: the same bytes, in the same order, each once, under
// sequences without gaps (I1 to I3).
func sameAsHost(t *testing.T, ctx context.Context, w *world.World, key string) []skald.TurnInfo {
	t.Helper()
	host, err := w.Transcript(key)
	if err != nil {
		t.Fatal(err)
	}
	turns := stored(t, ctx, w, key)
	compareTurns(t, key, turns, host)
	verifyAll(t, ctx, w)
	return turns
}

func compareTurns(t *testing.T, key string, turns []skald.TurnInfo, host [][]byte) {
	t.Helper()
	for i, turn := range turns {
		if turn.Envelope.Sequence != int64(i+1) {
			t.Errorf("%s: turn %d has sequence %d", key, i+1, turn.Envelope.Sequence)
		}
	}
	equal := slices.EqualFunc(turns, host, func(a skald.TurnInfo, b []byte) bool { return bytes.Equal(a.Raw, b) })
	if equal {
		return
	}
	t.Errorf("%s: the store holds %d turns, the host %d messages, and they are not the same.\nstored:\n%shost:\n%s", key, len(turns), len(host), listTurns(turns), listRaw(host))
}

func listTurns(turns []skald.TurnInfo) string {
	var raw [][]byte
	for _, turn := range turns {
		raw = append(raw, turn.Raw)
	}
	return listRaw(raw)
}

func listRaw(list [][]byte) string {
	var b strings.Builder
	for _, raw := range list {
		b.WriteString("  " + short(string(raw)) + "\n")
	}
	return b.String()
}

func verifyAll(t *testing.T, ctx context.Context, w *world.World) {
	t.Helper()
	v, err := w.Client.Verify(ctx, world.Identity, "")
	if err != nil {
		t.Fatal(err)
	}
	if !v.OK {
		t.Errorf("verify: %q", v.Problems)
	}
}

// turn sends a turn that has to be answered, and returns the model requests of it: the host may be at work on others.
func turn(t *testing.T, ctx context.Context, w *world.World, key, text string) []scripted.Request {
	t.Helper()
	reply, requests, err := w.Turn(ctx, key, text)
	if err != nil {
		t.Fatalf("turn %q: %v", text, err)
	}
	requests = promptedBy(requests, text)
	if reply == "" || len(requests) == 0 {
		t.Fatalf("turn %q: reply %q after %d model requests", text, reply, len(requests))
	}
	unrefused(t, requests)
	return requests
}

// promptedBy are the requests with a text in their prompt.
func promptedBy(list []scripted.Request, text string) []scripted.Request {
	return slices.DeleteFunc(slices.Clone(list), func(r scripted.Request) bool { return !strings.Contains(r.PromptText(), text) })
}

// attempts are the commitTurn calls of a session by advancement key.
func attempts(w *world.World, key string) map[string][]world.Exchange {
	list := map[string][]world.Exchange{}
	for _, x := range w.Proxy.Calls(key, "commit_turn") {
		list[x.Field("advancement_key")] = append(list[x.Field("advancement_key")], x)
	}
	return list
}

// repeated checks that the host repeated one exchange under one advancement key.
func repeated(t *testing.T, w *world.World, key string) {
	t.Helper()
	for _, list := range attempts(w, key) {
		if len(list) > 1 {
			return
		}
	}
	t.Errorf("%s: no exchange was delivered twice; the test shows nothing", key)
}

// count is how many stored turns hold a text.
func count(turns []skald.TurnInfo, text string) (n int) {
	for _, turn := range turns {
		if bytes.Contains(turn.Raw, []byte(text)) {
			n++
		}
	}
	return n
}

// send starts a turn without waiting for its end.
func send(t *testing.T, ctx context.Context, w *world.World, key, text string) (runID string) {
	t.Helper()
	raw, err := w.Gateway.Call(ctx, "chat.send", map[string]any{"sessionKey": key, "message": text, "idempotencyKey": key + "/" + text})
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		RunID string `json:"runId"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil || answer.RunID == "" {
		t.Fatalf("chat.send: %s, %v", raw, err)
	}
	return answer.RunID
}

// abort ends the session's run and waits until it has ended.
func abort(t *testing.T, ctx context.Context, w *world.World, key, runID string) {
	t.Helper()
	if _, err := w.Gateway.Call(ctx, "chat.abort", map[string]any{"sessionKey": key}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Gateway.Call(ctx, "agent.wait", map[string]any{"runId": runID, "timeoutMs": 20_000}); err != nil {
		t.Fatal(err)
	}
}

// hanging waits until the model was asked so often since a request, and the last answer is open.
func hanging(t *testing.T, ctx context.Context, w *world.World, since, n int) {
	t.Helper()
	requests, err := w.Model.WaitRequests(ctx, since+n)
	if err != nil {
		t.Fatalf("%d of %d model requests: %v", len(requests)-since, n, err)
	}
}
