// Package gateway drives a real OpenClaw, headless and offline: it writes a configuration into a scratch folder,
// starts `openclaw gateway run` on a free loopback port, and talks to it over HTTP (turns) and WebSocket (everything
// else). It is used by the end-to-end tests and by the demo.
//
// A good reply proves nothing about a context engine: the host falls back to its own messages in silence. Tests
// assert on what the engine recorded or on what reached the model.
package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Token is the shared secret of every gateway this package starts.
const Token = "e2e-token"

const (
	startDeadline = 150 * time.Second // 15 s on an idle machine, several times that on a loaded one
	stopDeadline  = 15 * time.Second
)

// Gateway is one OpenClaw gateway process together with its scratch folder. Its methods may be called concurrently.
type Gateway struct {
	opts           Options
	node, openclaw string
	port           int
	log            *os.File

	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan struct{} // closed when cmd has ended
}

// Locate returns the pinned Node binary and openclaw.mjs. It takes them from SKALD_NODE and SKALD_OPENCLAW, or runs
// scripts/setup-host.sh, which installs them on first use.
func Locate() (node, openclaw string, err error) {
	node, openclaw = os.Getenv("SKALD_NODE"), os.Getenv("SKALD_OPENCLAW")
	if node != "" && openclaw != "" {
		return node, openclaw, nil
	}
	return LocateVersion("")
}

// LocateVersion is Locate for another version of OpenClaw: a number, or "latest" ("": the pinned one).
func LocateVersion(version string) (node, openclaw string, err error) {
	root, err := moduleRoot()
	if err != nil {
		return "", "", err
	}
	cmd := exec.Command(filepath.Join(root, "scripts", "setup-host.sh"))
	cmd.Stderr = os.Stderr
	if version != "" {
		cmd.Env = append(os.Environ(), "SKALD_OPENCLAW_VERSION="+version)
	}
	out, err := cmd.Output()
	if err != nil {
		return "", "", fmt.Errorf("setup-host.sh: %w", err)
	}
	for sc := bufio.NewScanner(bytes.NewReader(out)); sc.Scan(); {
		if v, ok := strings.CutPrefix(sc.Text(), "SKALD_NODE="); ok {
			node = v
		}
		if v, ok := strings.CutPrefix(sc.Text(), "SKALD_OPENCLAW="); ok {
			openclaw = v
		}
	}
	if node == "" || openclaw == "" {
		return "", "", fmt.Errorf("setup-host.sh printed no paths: %q", out)
	}
	return node, openclaw, nil
}

// moduleRoot finds the folder of go.mod: up from this source file, or from the working folder when the binary was
// built with -trimpath.
func moduleRoot() (string, error) {
	var starts []string
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		starts = append(starts, filepath.Dir(file))
	}
	if wd, err := os.Getwd(); err == nil {
		starts = append(starts, wd)
	}
	for _, dir := range starts {
		for {
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
				return dir, nil
			}
			parent := filepath.Dir(dir)
			if parent == dir {
				break
			}
			dir = parent
		}
	}
	return "", errors.New("gateway: module root not found")
}

// Start writes the configuration and starts the gateway. It returns when /healthz answers (about 10 to 30 seconds).
// The process is killed when ctx ends; call Stop or Kill for an orderly end.
func Start(ctx context.Context, opts Options) (*Gateway, error) {
	g, err := Prepare(opts)
	if err != nil {
		return nil, err
	}
	if err := g.start(ctx); err != nil {
		g.log.Close()
		return nil, err
	}
	return g, nil
}

// Prepare writes the configuration and starts nothing: commands can be run before the first start, which Restart does.
func Prepare(opts Options) (*Gateway, error) {
	node, openclaw, err := opts.locate()
	if err != nil {
		return nil, err
	}
	if opts.Dir, err = filepath.Abs(opts.Dir); err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	if err := opts.prepare(port); err != nil {
		return nil, err
	}
	g := &Gateway{opts: opts, node: node, openclaw: openclaw, port: port, done: make(chan struct{})}
	close(g.done) // nothing runs
	g.log, err = os.OpenFile(g.LogPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return g, err
}

func (g *Gateway) start(ctx context.Context) error {
	cmd := exec.Command(g.node, g.openclaw, "gateway", "run",
		"--port", fmt.Sprint(g.port), "--bind", "loopback", "--auth", "token", "--token", Token)
	cmd.Env = g.opts.environ(g.node)
	cmd.Dir = g.opts.path("ws")
	cmd.SysProcAttr = ownGroup()
	var out io.Writer = g.log
	if g.opts.Log != nil {
		out = io.MultiWriter(g.log, g.opts.Log)
	}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		cmd.Wait()
		close(done)
	}()
	g.mu.Lock()
	g.cmd, g.done = cmd, done
	g.mu.Unlock()
	context.AfterFunc(ctx, func() {
		select {
		case <-done:
		default:
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	})

	deadline, cancel := context.WithTimeout(ctx, startDeadline)
	defer cancel()
	for {
		if g.healthy(deadline) {
			return nil
		}
		select {
		case <-done:
			return fmt.Errorf("gateway ended while starting (%v); see %s", cmd.ProcessState, g.LogPath())
		case <-deadline.Done():
			g.Kill()
			return fmt.Errorf("gateway did not become healthy: %w; see %s", deadline.Err(), g.LogPath())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (g *Gateway) healthy(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", g.URL()+"/healthz", nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// Kill ends the gateway and its children with SIGKILL, as a crash would, and waits until it is gone.
func (g *Gateway) Kill() {
	g.signal(syscall.SIGKILL)
	g.wait(stopDeadline)
}

// Stop ends the gateway with SIGTERM, and with SIGKILL when it is still there after 15 seconds.
func (g *Gateway) Stop() error {
	g.signal(syscall.SIGTERM)
	if g.wait(stopDeadline) {
		return nil
	}
	g.Kill()
	return errors.New("gateway did not stop on SIGTERM, killed")
}

// Restart starts the gateway again on the same state folder and port. It stops a running one first; after Kill it is
// what a supervisor would do.
func (g *Gateway) Restart(ctx context.Context) error {
	if err := g.Stop(); err != nil {
		return err
	}
	return g.start(ctx)
}

// Wait returns a channel that is closed when the current process has ended.
func (g *Gateway) Wait() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.done
}

// PID is the process id of the gateway, which also is its process group.
func (g *Gateway) PID() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cmd.Process.Pid
}

func (g *Gateway) signal(sig syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.done: // the number may belong to someone else by now
	default:
		syscall.Kill(-g.cmd.Process.Pid, sig)
	}
}

func (g *Gateway) wait(d time.Duration) bool {
	select {
	case <-g.Wait():
		return true
	case <-time.After(d):
		return false
	}
}

// URL is the base address of the gateway's HTTP server, where a plugin's routes are served too.
func (g *Gateway) URL() string { return fmt.Sprintf("http://127.0.0.1:%d", g.port) }

// StateDir is the OpenClaw state folder: databases, sessions, openclaw.json.
func (g *Gateway) StateDir() string { return g.opts.path("state") }

// LogPath is the file with what the process wrote to its standard streams. The host's own log is openclaw.log beside it.
func (g *Gateway) LogPath() string { return g.opts.path("logs", "gateway.log") }

// WriteConfig changes openclaw.json. A running gateway reloads it by itself, in most parts without a restart.
func (g *Gateway) WriteConfig(change func(config map[string]any)) error {
	data, err := os.ReadFile(g.opts.configPath())
	if err != nil {
		return err
	}
	var config map[string]any
	if err := json.Unmarshal(data, &config); err != nil {
		return err
	}
	change(config)
	return writeJSON(g.opts.configPath(), config)
}

// CLI runs one openclaw command against this gateway's configuration and returns its standard output. Each costs two
// to five seconds of CPU.
func (g *Gateway) CLI(ctx context.Context, args ...string) ([]byte, error) {
	return g.opts.cli(ctx, g.node, g.openclaw, args...)
}

// Local runs one turn through `openclaw agent --local`: no gateway, everything in one process. It takes 15 to 40
// seconds and a gigabyte of memory. Services of plugins are not started in this mode.
func Local(ctx context.Context, opts Options, sessionKey, message string) (reply string, err error) {
	node, openclaw, err := Locate()
	if err != nil {
		return "", err
	}
	if opts.Dir, err = filepath.Abs(opts.Dir); err != nil {
		return "", err
	}
	port, err := freePort() // the configuration wants one; nothing listens on it
	if err != nil {
		return "", err
	}
	if err := opts.prepare(port); err != nil {
		return "", err
	}
	out, err := opts.cli(ctx, node, openclaw, "agent", "--local", "--agent", "main",
		"--session-key", sessionKey, "--message", message, "--json")
	if err != nil {
		return "", err
	}
	var answer struct {
		Payloads []struct {
			Text string `json:"text"`
		} `json:"payloads"`
	}
	start := bytes.IndexByte(out, '{')
	if start < 0 {
		return "", fmt.Errorf("no JSON in the answer: %q", out)
	}
	if err := json.NewDecoder(bytes.NewReader(out[start:])).Decode(&answer); err != nil {
		return "", err
	}
	var texts []string
	for _, p := range answer.Payloads {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n"), nil
}

func (o *Options) cli(ctx context.Context, node, openclaw string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, node, append([]string{openclaw}, args...)...)
	cmd.Env = o.environ(node)
	cmd.Dir = o.path("ws")
	cmd.SysProcAttr = ownGroup()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if o.Log != nil {
		cmd.Stderr = io.MultiWriter(&errs, o.Log)
	}
	if err := cmd.Run(); err != nil {
		return out.Bytes(), fmt.Errorf("openclaw %s: %w: %s%s", args[0], err, tail(out.Bytes()), tail(errs.Bytes()))
	}
	return out.Bytes(), nil
}

func tail(b []byte) []byte {
	const most = 2000
	if len(b) > most {
		return b[len(b)-most:]
	}
	return b
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
