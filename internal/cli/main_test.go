package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/skald-engine/skald/internal/cli"
)

// TestMain lets the test binary be `skald`: in process for the scripts, and as a daemon that they start.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") { // a command that starts its own program means skald, not the tests
		program()
	}
	testscript.Main(m, map[string]func(){"skald": program})
}

func program() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	os.Exit(cli.Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "json": oneDocument, "freeport": freePort, "healthy": healthy, "member": member, "mode": mode,
		},
	})
}

// exits runs skald and checks the exit code: exits CODE ARGS…
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits CODE ARGS...")
	}
	err := ts.Exec("skald", args[1:]...)
	code := 0
	if err != nil {
		if _, scanErr := fmt.Sscanf(err.Error(), "exit status %d", &code); scanErr != nil {
			ts.Fatalf("skald: %v", err)
		}
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("skald %s: exit code %d, want %s", strings.Join(args[1:], " "), code, args[0])
	}
}

// oneDocument checks that a file (stdout, stderr) holds exactly one JSON document (CLI-04).
func oneDocument(ts *testscript.TestScript, neg bool, args []string) {
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	var v any
	if err := dec.Decode(&v); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	if _, err := dec.Token(); err != io.EOF {
		ts.Fatalf("%s holds more than one document", args[0])
	}
}

// member checks a member of a JSON object: member FILE NAME VALUE.
func member(ts *testscript.TestScript, neg bool, args []string) {
	var object map[string]any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &object); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	if got := fmt.Sprint(object[args[1]]); (got == args[2]) == neg {
		ts.Fatalf("%s is %s", args[1], got)
	}
}

// mode checks who may do what with a file: mode FILE OCTAL.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := fmt.Sprintf("%o", info.Mode().Perm()); (got == args[1]) == neg {
		ts.Fatalf("%s has mode %s", args[0], got)
	}
}

// freePort sets a variable to an address that was free a moment ago.
func freePort(ts *testscript.TestScript, neg bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Setenv(args[0], l.Addr().String())
	ts.Check(l.Close())
}

// healthy waits for a daemon: healthy ADDRESS.
func healthy(ts *testscript.TestScript, neg bool, args []string) {
	if err := awaitHealth("http://" + args[0]); err != nil {
		ts.Fatalf("%v", err)
	}
}

func awaitHealth(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/healthz", nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not healthy", url)
		case <-poll.C:
		}
	}
}

// run is one run of the program in this process.
func run(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = cli.Main(context.Background(), args, &out, &err)
	return code, out.String(), err.String()
}

// TestEveryCommandSpeaksJSON: whatever a command does, with --json standard output is one document or nothing, and an error is one
// document on standard error (CLI-04).
func TestEveryCommandSpeaksJSON(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	if code, _, stderr := run("replay", "testdata/talk.jsonl", "--session", "s1", "--data", data, "--json"); code != 0 {
		t.Fatal(stderr)
	}
	for _, args := range [][]string{
		{"version"}, {"status"}, {"sessions"}, {"turns", "s1"}, {"turns", "s1", "--raw"}, {"context", "s1", "--prompt", "port?"},
		{"explain", "s1"}, {"expand", "viking://session/s1/turns/1-4"}, {"search", "port"}, {"ls"}, {"tree"}, {"cat", "viking://session/s1/turns/1"},
		{"verify"}, {"commit", "s1", "--wait"}, {"doctor"}, {"replay", "testdata/talk.jsonl"},
		{"turns", "nowhere"}, {"turns"}, {"turns", "s1", "--from", "x"}, {"nothing"}, {"cat", "viking://../etc"}, {"status", "--nope"},
		{"bench", "engine"}, {"context", "s1", "--budget", "-1"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			if args[0] != "version" && args[0] != "bench" && args[0] != "nothing" {
				args = append(args, "--data", data)
			}
			code, stdout, stderr := run(append(args, "--json")...)
			if stdout != "" && !json.Valid([]byte(stdout)) {
				t.Errorf("standard output is not one document: %s", stdout)
			}
			if code == 0 && (stdout == "" || stderr != "") {
				t.Errorf("exit 0 with output %q and errors %q", stdout, stderr)
			}
			if code != 0 && code != 6 {
				checkError(t, stdout, stderr)
			}
		})
	}
}

func checkError(t *testing.T, stdout, stderr string) {
	t.Helper()
	var e struct {
		Error map[string]string `json:"error"`
	}
	if err := json.Unmarshal([]byte(stderr), &e); err != nil || stdout != "" {
		t.Fatalf("error %q (%v), output %q", stderr, err, stdout)
	}
	for _, name := range []string{"kind", "message", "field"} {
		if v, ok := e.Error[name]; !ok || v == "" && name != "field" {
			t.Errorf("%s is missing in %s", name, stderr)
		}
	}
}
