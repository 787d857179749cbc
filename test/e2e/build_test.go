package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
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

// oldConfig is a configuration as an OpenViking plugin's user has it today, each key with a value of its own (spec/02, 2.13).
func oldConfig(url, key string) map[string]any {
	return map[string]any{
		"mode": "remote", "baseUrl": url + "/", "apiKey": key, "headers": map[string]any{"X-Lab": "1"}, "accountId": "default", "userId": "default",
		"peer_role": "assistant", "peer_prefix": "default", "targetUri": "viking://~/memories", "timeoutMs": 20000,
		"autoCapture": true, "autoRecall": true, "captureMode": "semantic", "captureMaxLength": 24000, "autoRecallTimeoutMs": 5000,
		"recallResources": false, "recallTargetTypes": []string{"user", "agent"}, "recallLimit": 6, "recallScoreThreshold": 0.15,
		"recallMaxInjectedChars": 4000, "recallMaxContentChars": 5000, "recallPreferAbstract": false, "recallTokenBudget": 2000,
		"commitTokenThreshold": 20000, "commitTokenThresholdRatio": 0.5, "commitKeepRecentCount": 10,
		"bypassSessionPatterns": []string{"agent:*:private:**"}, "ingestReplyAssist": true, "ingestReplyAssistMinSpeakerTurns": 2,
		"serverAuthMode": "api_key", "emitStandardDiagnostics": false, "logFindRequests": true,
		"traceRecall": false, "traceRecallPersist": false, "traceRecallDir": "~/.openclaw/openviking/recall-traces", "traceRecallRetentionDays": 14,
		"enableAddResourceTool": false, "enabledTools": []string{"default"}, "disabledTools": []string{}, "runtimeQueryConfigPath": "",
		"agentExperience":    map[string]any{"enabled": false, "recallLimit": 3},
		"recentRawTurnCount": 8, "assembleRecallWindow": 5, "compactCommitThreshold": 0.75, "memoryExpandMaxResults": 6,
		"isolateUserScopeByAgent": false, "isolateAgentScopeByUser": false, "agentScopeMode": "hash",
	}
}

// An OpenViking plugin's old configuration starts the openviking build, in its own slot (000-125, 000-126, C-6): turns are stored
// byte for byte, custom roles of the tool search included (000-014), and recall works without before_prompt_build (000-183).
func TestOpenVikingBuild(t *testing.T) {
	ctx := deadline(t, 5*time.Minute)
	w := own(t, world.Options{
		Plugin: "openviking", Configure: oldConfig, ToolSearch: true, AlsoAllow: memoryTools,
	})
	t.Run("stores", func(t *testing.T) {
		key := "agent:main:old"
		turn(t, ctx, w, key, "Please remember that the old harbour code is 4417.")
		turn(t, ctx, w, key, `CALL tool_call {"id":"memory_recall","args":{"query":"harbour code"}}`)
		turns := sameAsHost(t, ctx, w, key)
		for _, text := range []string{`"role":"custom"`, "openclaw.nested-tool", `"role":"toolResult"`} {
			if count(turns, text) == 0 {
				t.Errorf("no stored turn holds %s:\n%s", text, listTurns(turns))
			}
		}
		if _, err := w.Client.Commit(ctx, world.Identity, turns[0].Envelope.SessionID, true); err != nil {
			t.Fatal(err)
		}
		r := turn(t, ctx, w, "agent:main:old-later", "What is the old harbour code?")[0]
		if !r.Contains("4417") {
			t.Errorf("the fact is not recalled:\n%s", r.Raw)
		}
	})
	t.Run("bypasses", func(t *testing.T) {
		key := "agent:main:private:x"
		turn(t, ctx, w, key, "not for the store")
		if s, err := w.Session(ctx, key); err == nil {
			t.Errorf("a bypassed session is stored: %+v", s)
		}
	})
	t.Run("status", func(t *testing.T) {
		raw, err := w.Gateway.Call(ctx, "skald.status", nil)
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			OK     bool
			Plugin struct{ ID, Engine, Mode string }
		}
		if err := json.Unmarshal(raw, &answer); err != nil || !answer.OK || answer.Plugin.ID != "openviking" || answer.Plugin.Engine != "selected" || answer.Plugin.Mode != "remote" {
			t.Errorf("skald.status: %s, %v", raw, err)
		}
	})
	t.Run("hooks", func(t *testing.T) {
		raw, err := w.Gateway.CLI(ctx, "plugins", "inspect", "openviking", "--runtime", "--json")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(raw, []byte("session_start")) {
			t.Errorf("the inspection lists no hooks; it shows nothing:\n%.3000s", raw)
		}
		for _, hook := range []string{"before_prompt_build", "agent_end"} {
			if bytes.Contains(raw, []byte(`"`+hook+`"`)) {
				t.Errorf("%s is registered on a host with the engine slot:\n%.3000s", hook, raw)
			}
		}
	})
	t.Run("logs", func(t *testing.T) { quietLogs(t, ctx, w) })
}

// quietLogs checks that neither keys nor what was said or recalled reach the logs at their default level (SEC, 001-051).
func quietLogs(t *testing.T, ctx context.Context, w *world.World) {
	t.Helper()
	const marker = "zanzibarquokka"
	key := "agent:main:logs-" + filepath.Base(w.Dir)
	w.Model.Push("openai", scripted.Reply{Text: "Noted."}) // the host prints what the model says, an echo too
	turn(t, ctx, w, key, "Please remember that my pet is a "+marker+"1.")
	w.Model.Push("openai", scripted.Reply{Text: "A nice one."})
	turn(t, ctx, w, key, "What pet do I have? A "+marker+"?")
	secret, err := w.Daemon.Key()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(w.Dir, "openclaw", "logs", "*"))
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, filepath.Join(w.Dir, "daemon.log"))
	seen := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		seen += len(raw)
		for _, text := range []string{marker, secret, bobsKey} {
			for line := range strings.Lines(string(raw)) {
				if strings.Contains(line, text) {
					t.Errorf("%s holds %q: %.400s", filepath.Base(file), text, line)
				}
			}
		}
	}
	if len(files) < 2 || seen == 0 {
		t.Errorf("there were no logs to look at: %q", files)
	}
}

// No secret and no text in the logs of the default build, faults included.
func TestLogsAreQuiet(t *testing.T) {
	w := faulty(t)
	ctx := deadline(t, time.Minute)
	w.Proxy.Next("agent:main:logs-faulty", "commit_turn", func(x *world.Exchange) { x.Reply(503, `{"error":{"kind":"unavailable","message":"refused"}}`) })
	quietLogs(t, ctx, w)
}

// `openclaw agent --local` starts no services: the engine itself finds no daemon, starts one, and the turn is stored (C-9).
func TestLocal(t *testing.T) {
	needHost(t)
	ctx := deadline(t, 4*time.Minute)
	dir := filepath.Join(scratch, "local")
	data := filepath.Join(dir, "skald")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	binary, err := world.Binary()
	if err != nil {
		t.Fatal(err)
	}
	model := scripted.New(scripted.Options{TB: t})
	port := freePort(t)
	key := "agent:main:local"
	reply, err := gateway.Local(ctx, gateway.Options{
		Dir: filepath.Join(dir, "openclaw"), PrimaryModel: "lab-gpt/" + scripted.DefaultModel, ToolProfile: "minimal", AlsoAllow: memoryTools,
		Providers: []gateway.Provider{{Name: "lab-gpt", BaseURL: model.BaseURL("openai"), API: string(scripted.OpenAI), Models: []gateway.Model{{ID: scripted.DefaultModel}}}},
		PluginDir: filepath.Join(world.Root(), "openclaw", "dist", "skald"), PluginID: "skald", SlotID: "skald",
		PluginConfig: map[string]any{"mode": "local", "port": port, "dataDir": data, "binary": binary},
	}, key, "hello from a single shot")
	if err != nil {
		t.Fatal(err)
	}
	secret, err := server.ReadKey(data)
	if err != nil {
		t.Fatalf("the plugin has started no daemon: %v", err)
	}
	c := client.New(fmt.Sprintf("http://127.0.0.1:%d", port), secret, client.Options{})
	hello, err := c.Handshake(ctx)
	if err != nil {
		t.Fatalf("the daemon that the plugin started is gone: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Kill(hello.PID, syscall.SIGTERM) })
	w := &world.World{Client: c}
	turns := stored(t, ctx, w, key)
	if len(turns) != 2 || count(turns, "hello from a single shot") == 0 || !strings.Contains(reply, "hello from a single shot") {
		t.Errorf("reply %q, stored:\n%s", reply, listTurns(turns))
	}
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
