package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/internal/app"
	"github.com/skald-engine/skald/internal/config"
)

// build makes the real binary.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "skald")
	out, err := exec.Command("go", "build", "-o", path, "github.com/skald-engine/skald/cmd/skald").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// process is a running daemon.
type process struct {
	*exec.Cmd
	url string
	log *bytes.Buffer
}

// start starts a daemon in dev mode and waits until it is healthy.
func start(t *testing.T, binary, data string) *process {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &process{exec.Command(binary, "serve", "--data", data, "--listen", l.Addr().String(), "--dev"), "http://" + l.Addr().String(), &bytes.Buffer{}}
	p.Stderr = p.log
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.ProcessState == nil {
			_ = p.Process.Kill()
			_ = p.Wait()
		}
	})
	if err := awaitHealth(p.url); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTerminateDrains: a call that is under way when SIGTERM comes is answered and durable, what is open is committed with summary,
// and the process ends with 0 (000-050).
func TestTerminateDrains(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	p := start(t, build(t), data)

	body := `{"session":{"session_id":"s1"},"advancement_key":"k1","messages":[{"role":"user","content":"Our port is 5433."},` +
		`{"role":"assistant","content":[{"type":"text","text":"Noted."}]}]}`
	conn := sendHalf(t, p.url, body)
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	awaitRefusal(t, p.url)
	finish(t, conn, body)
	if err := p.Wait(); err != nil {
		t.Errorf("daemon: %v\n%s", err, p.log)
	}
	checkStored(t, data)
}

// sendHalf sends a commitTurn up to the middle of its body. The daemon has begun to read it: it asked for the body.
func sendHalf(t *testing.T, url, body string) net.Conn {
	t.Helper()
	addr := strings.TrimPrefix(url, "http://")
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "POST /engine/v1/commit_turn HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nX-Skald-Protocol: %d\r\n"+
		"Content-Length: %d\r\nConnection: close\r\nExpect: 100-continue\r\n\r\n", addr, skald.ProtocolVersion, len(body))
	line, err := bufio.NewReaderSize(conn, 16).ReadString('\n')
	if err != nil || !strings.Contains(line, "100") {
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := io.WriteString(conn, body[:40]); err != nil {
		t.Fatal(err)
	}
	return conn
}

// finish sends the rest and wants it acknowledged.
func finish(t *testing.T, conn net.Conn, body string) {
	t.Helper()
	if _, err := io.WriteString(conn, body[40:]); err != nil {
		t.Error(err)
	}
	answer, err := io.ReadAll(conn)
	if !strings.Contains(string(answer), `"committed"`) {
		t.Errorf("%q, %v", answer, err)
	}
}

// awaitRefusal waits until the daemon takes no new connections.
func awaitRefusal(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	for {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			return
		}
		conn.Close()
		select {
		case <-ctx.Done():
			t.Fatal("the daemon still takes connections")
		case <-poll.C:
		}
	}
}

func checkStored(t *testing.T, data string) {
	t.Helper()
	code, stdout, stderr := run("sessions", "--data", data, "--json")
	var list []skald.SessionInfo
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || code != 0 {
		t.Fatalf("sessions: %d %s %s", code, stdout, stderr)
	}
	if len(list) != 1 || list[0].Turns != 2 || list[0].Open != 0 || list[0].Archives != 1 {
		t.Errorf("sessions: %s", stdout)
	}
	if code, stdout, _ := run("status", "--data", data, "--json"); code != 0 || !strings.Contains(stdout, `"jobs_ready":0`) {
		t.Errorf("the jobs were not run at the end: %s", stdout)
	}
}

// TestServeInProcess: the daemon ends when its context does, and another one can take the folder at once.
func TestServeInProcess(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Data, c.Listen, c.Dev = t.TempDir(), "127.0.0.1:0", true
	if err := c.Finish(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		ctx, cancel := context.WithCancel(context.Background())
		ready := make(chan app.Running, 1)
		done := make(chan error, 1)
		go func() { done <- app.Serve(ctx, app.Options{Config: c}, func(r app.Running) { ready <- r }) }()
		select {
		case r := <-ready:
			if err := awaitHealth(r.URL); err != nil {
				t.Error(err)
			}
		case err := <-done:
			t.Fatal(err)
		}
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}
