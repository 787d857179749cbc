// Package launch makes sure that a daemon answers: it starts one, apart from the program that needs it, where none does.
package launch

import (
	"context"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client"
	"github.com/skald-engine/skald/server"
)

// Options say which daemon is meant.
type Options struct {
	URL    string // where it answers, for example http://127.0.0.1:1933
	Data   string // its data folder: key, store, daemon.log
	Binary string // the program that is started; "" is this one
}

// Times of a start.
const (
	pollEvery  = 20 * time.Millisecond
	together   = 3 * time.Second  // a start by another process that is waited for
	againAfter = 30 * time.Second // between two attempts: a daemon that cannot start is not started by every hook
)

// Ensure returns when the daemon answers. It starts one on this machine when nothing listens, and waits for it until ctx ends; what was
// started goes on either way. It fails with KindUnavailable when no daemon can be had, with KindConflict when something else listens.
func Ensure(ctx context.Context, o Options) error {
	c := client.New(o.URL, "", client.Options{})
	_, err := c.Handshake(ctx)
	if skald.KindOf(err) != skald.KindUnavailable {
		return err
	}
	listen, ok := local(o.URL)
	if !ok {
		return err
	}
	if err := o.start(listen); err != nil {
		return err
	}
	for {
		if _, err = c.Handshake(ctx); err == nil || skald.KindOf(err) == skald.KindConflict {
			return err
		}
		select {
		case <-ctx.Done():
			return skald.E("launch", skald.KindUnavailable, "the daemon was started and does not answer yet; see %s", logPath(o.Data))
		case <-time.After(pollEvery):
		}
	}
}

// local is the address to listen on, for a URL of this machine.
func local(raw string) (string, bool) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" || !server.Loopback(u.Host) {
		return "", false
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port), true
}

func logPath(data string) string { return filepath.Join(data, "daemon.log") }

// start starts a daemon that outlives this process.
func (o Options) start(listen string) error {
	if err := os.MkdirAll(o.Data, 0o700); err != nil {
		return skald.E("launch", skald.KindUnavailable, "make the data folder: %w", err)
	}
	if mine, err := o.claim(); err != nil || !mine {
		return err
	}
	binary := o.Binary
	if binary == "" {
		self, err := os.Executable()
		if err != nil {
			return skald.E("launch", skald.KindUnavailable, "this program does not know where it lies: %w", err)
		}
		if strings.HasSuffix(self, ".test") { // it would run its tests again, and they would start it again
			return skald.E("launch", skald.KindUnavailable, "a test binary is not a daemon: name one in Binary")
		}
		binary = self
	}
	log, err := os.OpenFile(logPath(o.Data), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return skald.E("launch", skald.KindUnavailable, "open the daemon's log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(binary, "serve", "--data", o.Data, "--listen", listen)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = o.Data, environment(os.Environ()), log, log, apart()
	if err := cmd.Start(); err != nil {
		return skald.E("launch", skald.KindUnavailable, "start the daemon: %w", err)
	}
	go func() { _ = cmd.Wait() }() // no zombie while this process lives
	return nil
}

// claim leaves the time of this attempt in the data folder. When another process has just claimed the start, this one waits with it;
// when that start has failed, it is not repeated for a while.
func (o Options) claim() (mine bool, err error) {
	path := filepath.Join(o.Data, "launched")
	if info, err := os.Stat(path); err == nil {
		switch age := time.Since(info.ModTime()); {
		case age < together:
			return false, nil
		case age < againAfter:
			return false, skald.E("launch", skald.KindUnavailable, "a daemon was started a moment ago and does not answer; see %s", logPath(o.Data))
		}
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return false, skald.E("launch", skald.KindUnavailable, "%w", err)
	}
	return true, os.Chtimes(path, time.Time{}, time.Now()) // an empty file that is written again keeps its time on some systems
}

// wanted names what a daemon needs of its starter's environment. An agent's keys are not among it.
var wanted = regexp.MustCompile(`(?i)^(SKALD_.*|PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_.*|TZ|TMPDIR|TEMP|TMP|XDG_.*|SSL_CERT_.*|` +
	`(https?|no|all)_proxy|SYSTEMROOT|USERPROFILE|APPDATA|LOCALAPPDATA)$`)

func environment(all []string) []string {
	var kept []string
	for _, pair := range all {
		if name, _, _ := strings.Cut(pair, "="); wanted.MatchString(name) {
			kept = append(kept, pair)
		}
	}
	return kept
}
