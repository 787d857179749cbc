package enginebench

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/skald-engine/skald/client"
	"github.com/skald-engine/skald/server"
)

// starts is how often the daemon is started on an empty store.
const starts = 5

// Daemon is a child process of the same binary.
type Daemon struct {
	URL     string
	Startup time.Duration // from the start of the process to its first healthy answer

	cmd *exec.Cmd
}

// PID is the process id.
func (d *Daemon) PID() int { return d.cmd.Process.Pid }

// StartDaemon starts `skald serve` with further flags and waits for its first healthy answer.
func StartDaemon(ctx context.Context, binary, data string, flags ...string) (*Daemon, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	args := append([]string{"serve", "--data", data, "--listen", address}, flags...)
	d := &Daemon{URL: "http://" + address, cmd: exec.CommandContext(ctx, binary, args...)}
	d.cmd.Env = append(os.Environ(), "SKALD_LOG_LEVEL=warn")
	d.cmd.Stderr = os.Stderr
	started := time.Now()
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	if err := d.healthy(ctx); err != nil {
		return nil, fmt.Errorf("the daemon did not start: %w", joinStop(err, d))
	}
	d.Startup = time.Since(started)
	return d, nil
}

func joinStop(err error, d *Daemon) error {
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait()
	return err
}

// freeAddress is a port that was free a moment ago.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// healthy asks every two milliseconds.
func (d *Daemon) healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.URL+"/healthz", nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-poll.C:
		}
	}
}

// Stop ends the daemon as an operator would.
func (d *Daemon) Stop() error {
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return d.cmd.Wait()
}

// idle measures start-up (the median of some starts) and resident memory over an empty store.
func (b *bench) idle(ctx context.Context) (startup, rss float64, err error) {
	dir := filepath.Join(b.options.Data, "idle")
	defer os.RemoveAll(dir)
	var took []time.Duration
	for i := range starts {
		d, err := StartDaemon(ctx, b.options.Binary, dir)
		if err != nil {
			return 0, 0, err
		}
		if took = append(took, d.Startup); i == starts-1 {
			if rss, err = b.atRest(ctx, d); err != nil {
				return 0, 0, joinStop(err, d)
			}
		}
		if err := d.Stop(); err != nil {
			return 0, 0, err
		}
	}
	slices.Sort(took)
	return percentile(took, 50), rss, nil
}

// atRest reads the memory a second later.
func (b *bench) atRest(ctx context.Context, d *Daemon) (float64, error) {
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(time.Second):
		return ResidentMB(d.cmd.Process.Pid)
	}
}

// throughDaemon measures assemble over HTTP, up to n messages, and what the daemon holds in memory then.
func (b *bench) throughDaemon(ctx context.Context, n int, z *Size) error {
	d, err := StartDaemon(ctx, b.options.Binary, b.options.Data)
	if err != nil {
		return err
	}
	if err := b.askDaemon(ctx, d, n, z); err != nil {
		return joinStop(err, d)
	}
	return d.Stop()
}

func (b *bench) askDaemon(ctx context.Context, d *Daemon, n int, z *Size) error {
	key, err := server.ReadKey(b.options.Data)
	if err != nil {
		return err
	}
	m, err := newMeter(b.options.Data)
	if err != nil {
		return err
	}
	defer m.close()
	c := client.New(d.URL, key, client.Options{})
	for b.load.messages < n {
		if err := b.measure(ctx, c, m, n); err != nil {
			return err
		}
	}
	z.AssembleHTTP = two(m.assembles)
	z.RSSMB, err = ResidentMB(d.cmd.Process.Pid)
	return err
}
