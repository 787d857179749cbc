package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/skald-engine/skald/test/openviking"
	"github.com/skald-engine/skald/test/world"
)

var update = flag.Bool("update", false, "write the expectations from the real OpenViking, and docs/openviking-compat.md")

// target is a server under test.
type target struct {
	name string // openviking, skald
	url  string
	user string // key of the user alice, an admin of the account conf
	mate string // key of the user bert of the same account, without rights of an admin
	root string // root key
}

// realTarget starts the real OpenViking, with the same users.
func realTarget(t *testing.T) target {
	t.Helper()
	s := openviking.Start(t, openviking.Options{})
	r := target{name: "openviking", url: s.URL, root: openviking.RootKey, user: s.NewUser(t, "conf", "alice")}
	r.mate = r.register(t, "bert")
	return r
}

// skaldTarget starts `skald serve` with a root key, and the same users.
func skaldTarget(t *testing.T) target {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "config.json")
	if err := os.WriteFile(config, []byte(`{"root_api_key":"`+openviking.RootKey+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	log := &bytes.Buffer{}
	d, err := world.StartDaemon(t.Context(), filepath.Join(dir, "data"), log, "--config", config)
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	t.Cleanup(d.Stop)
	r := target{name: "skald", url: d.URL(), root: openviking.RootKey}
	status, b := r.call(t, "POST", "/api/v1/admin/accounts", r.root, `{"account_id":"conf","admin_user_id":"alice"}`)
	if status != 200 {
		t.Fatalf("an account for the suite: %d %s", status, b)
	}
	r.user = userKey(t, b)
	r.mate = r.register(t, "bert")
	return r
}

func (t target) register(tb testing.TB, user string) string {
	tb.Helper()
	status, b := t.call(tb, "POST", "/api/v1/admin/accounts/conf/users", t.root, `{"user_id":"`+user+`"}`)
	if status != 200 {
		tb.Fatalf("register %s: %d %s", user, status, b)
	}
	return userKey(tb, b)
}

func userKey(tb testing.TB, b []byte) string {
	tb.Helper()
	var made struct {
		Result struct {
			Key string `json:"user_key"`
		} `json:"result"`
	}
	if err := json.Unmarshal(b, &made); err != nil || made.Result.Key == "" {
		tb.Fatalf("no key of a user: %v in %s", err, b)
	}
	return made.Result.Key
}

// binary builds bin/skald's source once, unless SKALD_BIN names a binary.
var binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("SKALD_BIN"); path != "" {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "skald-conformance-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "skald")
	cmd := exec.CommandContext(context.Background(), "go", "build", "-o", path, "./cmd/skald")
	cmd.Dir = world.Root()
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if !testing.Short() {
		path, err := binary()
		if err != nil {
			os.Stderr.WriteString("the skald binary cannot be built: " + err.Error() + "\n")
			return 1
		}
		if os.Getenv("SKALD_BIN") == "" {
			defer os.RemoveAll(filepath.Dir(path))
			os.Setenv("SKALD_BIN", path)
		}
	}
	return m.Run()
}
