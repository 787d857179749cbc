package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
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
	sending, rest := io.Pipe()
	answer := make(chan error, 1)
	go func() { answer <- post(p.url+"/engine/v1/commit_turn", sending) }()
	if _, err := io.WriteString(rest, body[:40]); err != nil {
		t.Fatal(err)
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	awaitRefusal(t, p.url)
	if _, err := io.WriteString(rest, body[40:]); err != nil {
		t.Fatal(err)
	}
	rest.Close()
	if err := <-answer; err != nil {
		t.Error(err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("daemon: %v\n%s", err, p.log)
	}
	checkStored(t, data)
}

func post(url string, body io.Reader) error {
	req, err := http.NewRequest(http.MethodPost, url, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Skald-Protocol", fmt.Sprint(skald.ProtocolVersion))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK || !strings.Contains(string(text), `"committed"`) {
		return fmt.Errorf("status %d: %s (%v)", resp.StatusCode, text, err)
	}
	return nil
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
