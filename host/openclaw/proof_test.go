package openclaw

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// provingHost is an installed fake host whose `agent` prints the file said and fails when the file agent-fails is there.
func provingHost(t *testing.T, config string) fakeHost {
	t.Helper()
	h := newHost(t, config)
	h.install(t)
	h.write(t, "said", "")
	h.write(t, "openclaw", "#!/bin/sh\necho \"$OPENCLAW_STATE_DIR $*\" >>'"+h.dir+"/calls'\n[ \"$1\" = agent ] || exit 0\n"+
		"cp \"$OPENCLAW_CONFIG_PATH\" '"+h.dir+"/seen.json'\ncat '"+h.dir+"/said' >&2\n[ ! -e '"+h.dir+"/agent-fails' ]\n")
	return h
}

func says(e Evidence) Witness {
	return func(context.Context, DaemonPlace, string) (Evidence, error) { return e, nil }
}

var whole = Evidence{Reached: true, Assembled: true, Committed: true, Turns: 2}

// TestProofAside: the turn runs in folders of its own, with a copy of the configuration that leads to another daemon, and all is gone.
func TestProofAside(t *testing.T) {
	t.Parallel()
	h := provingHost(t, `{}`)
	before := h.config(t)
	var place DaemonPlace
	p, err := h.Prove(t.Context(), func(_ context.Context, at DaemonPlace, mark string) (Evidence, error) {
		place = at
		if !strings.Contains(h.read(t, "calls"), mark) {
			t.Error("asked before the turn")
		}
		return whole, nil
	})
	if err != nil || !p.OK || p.How != Aside || len(p.Left) > 0 {
		t.Fatalf("%+v %v", p, err)
	}
	seen := h.read(t, "seen.json")
	for key, want := range map[string]any{"mode": "local", "autoStart": true, "dataDir": place.Data, "binary": h.Binary} {
		if got, _, err := get([]byte(seen), entry("skald", "config", key)...); err != nil || got != want {
			t.Errorf("%s is %v, want %v (%v)", key, got, want, err)
		}
	}
	if strings.Contains(h.read(t, "calls"), h.path("state")+" agent") || !place.ThrowAway {
		t.Error("the turn ran in the host's own state")
	}
	left, err := filepath.Glob(h.path("state/.skald-*"))
	if err != nil || len(left) > 0 || h.config(t) != before {
		t.Errorf("left behind: %v %v", left, err)
	}
	if _, err := os.Stat(filepath.Dir(place.Data)); err == nil {
		t.Error("the throw-away folder is still there")
	}
}

// TestPLG06Proof: a good reply is no proof; what did not come is named, with the likely cause.
func TestPLG06Proof(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, said, version, reason string
		evidence                    Evidence
	}{
		{"old", "", "2026.7.1", "too old", Evidence{}},
		{"legacy", `[context-engine] Context engine "skald" degraded to "legacy" for this logical turn: no commitTurn`, "", "took its own engine", Evidence{}},
		{"binary", "skald: no skald binary found: put it on the PATH", "", "no skald binary", Evidence{}},
		{"not loaded", "", "", "no daemon was started", Evidence{}},
		{"no commit", "", "", "commitTurn was not", Evidence{Reached: true, Assembled: true}},
		{"no assemble", "", "", "assemble was not", Evidence{Reached: true, Committed: true, Turns: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := provingHost(t, `{}`)
			h.write(t, "said", c.said)
			if c.version != "" {
				h.Program.Version = c.version
			}
			p, err := h.Prove(t.Context(), says(c.evidence))
			if err != nil || p.OK || !strings.Contains(p.Reason, c.reason) || p.Fix == "" {
				t.Errorf("%+v %v", p, err)
			}
		})
	}
}

// TestProofInPlace: when the turn fails beside the host's state (a login that lies there), it is made in it, and what is left is told.
func TestProofInPlace(t *testing.T) {
	t.Parallel()
	var health atomic.Int64
	health.Store(http.StatusServiceUnavailable)
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(health.Load())) }))
	t.Cleanup(gateway.Close)
	h := provingHost(t, `{"gateway": {"port": `+gateway.URL[strings.LastIndex(gateway.URL, ":")+1:]+`}}`)
	h.write(t, "agent-fails", "")
	inPlace := func(_ context.Context, at DaemonPlace, _ string) (Evidence, error) {
		if at.ThrowAway {
			return Evidence{}, nil
		}
		return whole, nil
	}
	p, err := h.Prove(t.Context(), inPlace)
	if err != nil || !p.OK || p.How != InPlace || len(p.Left) != 2 {
		t.Errorf("without a gateway: %+v %v", p, err)
	}
	health.Store(http.StatusOK)
	p, err = h.Prove(t.Context(), inPlace)
	calls := h.read(t, "calls")
	if err != nil || !p.OK || p.How != ThroughGateway || !strings.Contains(calls, "sessions delete "+p.Session+" --yes") {
		t.Errorf("with a gateway: %+v %v\n%s", p, err, calls)
	}
}

// TestDaemonOf: where the plugin's daemon is, as its configuration says.
func TestDaemonOf(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]DaemonPlace{
		`{}`:                             {URL: "http://127.0.0.1:1933"},
		`{port: 1944, dataDir: "/data"}`: {URL: "http://127.0.0.1:1944", Data: "/data"},
		`{baseUrl: "https://far"}`:       {URL: "https://far"},
		`{baseUrl: "https://far", mode: "local"}`: {URL: "http://127.0.0.1:1933"},
	} {
		got, err := daemonOf([]byte(`{plugins: {entries: {skald: {config: `+config+`}}}}`), "skald")
		if err != nil || got != want {
			t.Errorf("%s: %+v %v", config, got, err)
		}
	}
}
