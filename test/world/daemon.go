// Package world sets up what the end-to-end tests and the demo run on: a scripted model, the real skald daemon, and the real
// OpenClaw gateway with the plugin in its slot, all on loopback.
package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/skald-engine/skald/client"
)

// Root is the repository's folder.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// Binary is the skald binary that make built: bin/skald, or SKALD_BIN.
func Binary() (string, error) {
	path := os.Getenv("SKALD_BIN")
	if path == "" {
		path = filepath.Join(Root(), "bin", "skald")
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("no skald binary: run `make build` first (%w)", err)
	}
	return path, nil
}

// Daemon is a running `skald serve`.
type Daemon struct {
	Data   string
	Addr   string
	binary string
	args   []string
	log    io.Writer
	cmd    *exec.Cmd
	done   chan struct{}
}

// StartDaemon starts `skald serve` on a free loopback port and waits until it answers.
func StartDaemon(ctx context.Context, data string, log io.Writer, args ...string) (*Daemon, error) {
	binary, err := Binary()
	if err != nil {
		return nil, err
	}
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	d := &Daemon{Data: data, Addr: addr, binary: binary, args: args, log: log}
	return d, d.Start(ctx)
}

func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// Start starts the daemon, again after Kill or Stop, on the same folder and port.
func (d *Daemon) Start(ctx context.Context) error {
	d.cmd = exec.Command(d.binary, append([]string{"serve", "--data", d.Data, "--listen", d.Addr}, d.args...)...)
	d.cmd.Stdout, d.cmd.Stderr = d.log, d.log
	if err := d.cmd.Start(); err != nil {
		return err
	}
	d.done = make(chan struct{})
	go func(cmd *exec.Cmd, done chan struct{}) { _ = cmd.Wait(); close(done) }(d.cmd, d.done)
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		if _, err := net.DialTimeout("tcp", d.Addr, time.Second); err == nil {
			if c, err := d.Client(); err == nil {
				if _, err := c.Handshake(ctx); err == nil {
					return nil
				}
			}
		}
		select {
		case <-d.done:
			return errors.New("the daemon ended before it answered; see its log")
		case <-ctx.Done():
			return errors.New("the daemon did not answer within 20 s")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// URL is the daemon's base URL.
func (d *Daemon) URL() string { return "http://" + d.Addr }

// Key is the key that the daemon wrote into its data folder.
func (d *Daemon) Key() (string, error) {
	raw, err := os.ReadFile(filepath.Join(d.Data, "key"))
	return strings.TrimSpace(string(raw)), err
}

// Client is a client with the daemon's key.
func (d *Daemon) Client() (*client.Client, error) {
	key, err := d.Key()
	if err != nil {
		return nil, err
	}
	return client.New(d.URL(), key, client.Options{}), nil
}

// PID is the process id.
func (d *Daemon) PID() int { return d.cmd.Process.Pid }

// Kill ends the daemon with SIGKILL and waits until it is gone.
func (d *Daemon) Kill() {
	_ = d.cmd.Process.Kill()
	<-d.done
}

// Pause and Resume stop and continue the process: a daemon that hangs.
func (d *Daemon) Pause()  { _ = d.cmd.Process.Signal(syscall.SIGSTOP) }
func (d *Daemon) Resume() { _ = d.cmd.Process.Signal(syscall.SIGCONT) }

// Stop ends the daemon with SIGTERM, and with SIGKILL when it is still there after 15 s.
func (d *Daemon) Stop() {
	if d.cmd == nil || d.cmd.Process == nil {
		return
	}
	d.Resume()
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-d.done:
	case <-time.After(15 * time.Second):
		d.Kill()
	}
}
