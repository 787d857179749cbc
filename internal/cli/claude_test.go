package cli_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client"
)

// TestClaudeScripts runs the journey through Claude Code and the MCP server on the real program: hooks are fired as its settings say.
func TestClaudeScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/claude",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir+"/home")
			e.Setenv("SKALD_RECALL_MS", "800") // on a busy machine 150 ms are missed now and then, and a recall left out
			return os.MkdirAll(e.WorkDir+"/home", 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "json": oneDocument, "freeport": freePort, "healthy": healthy, "member": member, "converse": converse, "stopdaemon": stopDaemon,
		},
	})
}

// converse runs skald, sends it the lines of a file, each when the one before is answered, and writes what it said to another:
// converse LINES ANSWERS ARGS…
func converse(ts *testscript.TestScript, neg bool, args []string) {
	dir, _, _ := strings.Cut(ts.Getenv("PATH"), string(os.PathListSeparator))
	cmd := exec.Command(filepath.Join(dir, "skald"), args[2:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), []string{"HOME=" + ts.Getenv("HOME"), "SKALD_DATA=" + ts.Getenv("SKALD_DATA")}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	ts.Check(err)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	defer func() { _ = cmd.Process.Kill() }()
	var said strings.Builder
	lines := bufio.NewReader(out)
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		_, err := in.Write([]byte(line))
		ts.Check(err)
		if strings.Contains(line, `"id"`) {
			answer, err := lines.ReadString('\n')
			ts.Check(err)
			said.WriteString(answer)
		}
	}
	ts.Check(in.Close())
	rest, err := lines.ReadString('\n')
	if err == nil || rest != "" {
		ts.Fatalf("after the last answer it said %q", rest)
	}
	ts.Check(cmd.Wait())
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(said.String()), 0o600))
}

// stopDaemon ends the daemon at an address, which the script did not start itself, and waits until it is gone: stopdaemon ADDRESS.
func stopDaemon(ts *testscript.TestScript, neg bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c := client.New("http://"+args[0], "", client.Options{})
	h, err := c.Handshake(ctx)
	ts.Check(err)
	p, err := os.FindProcess(h.PID)
	ts.Check(err)
	ts.Check(p.Signal(syscall.SIGTERM))
	for skald.KindOf(err) != skald.KindUnavailable {
		ts.Check(ctx.Err())
		_, err = c.Handshake(ctx)
	}
}
