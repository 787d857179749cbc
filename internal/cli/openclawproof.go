package cli

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client"
	"github.com/skald-engine/skald/host/openclaw"
	"github.com/skald-engine/skald/server"
	"github.com/skald-engine/skald/server/wire"
)

// witness asks the daemon of a proof what it knows of the turn, and ends a throw-away one.
func witness(ctx context.Context, at openclaw.DaemonPlace, mark string) (e openclaw.Evidence, err error) {
	c, h, err := daemonAt(ctx, at)
	if err != nil {
		return e, nil // that none answers is the finding
	}
	e.Reached = true
	if at.ThrowAway {
		defer func() { err = errors.Join(err, end(c, h.PID)) }()
	}
	id := skald.DefaultIdentity
	id.Agent = at.Agent
	return e, testify(ctx, c, id, mark, &e)
}

// daemonAt greets the daemon at a place.
func daemonAt(ctx context.Context, at openclaw.DaemonPlace) (*client.Client, wire.Handshake, error) {
	if at.Data == "" {
		at.Data = dataFolder()
	}
	key := os.Getenv("SKALD_API_KEY")
	if own, err := server.ReadKey(at.Data); err == nil && (key == "" || at.ThrowAway) {
		key = own
	}
	c := client.New(at.URL, key, client.Options{})
	h, err := c.Handshake(ctx)
	return c, h, err
}

// testify looks for the session whose prompt holds the mark.
func testify(ctx context.Context, i skald.Inspector, id skald.Identity, mark string, e *openclaw.Evidence) error {
	sessions, err := i.ListSessions(ctx, id, 0)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		if !strings.Contains(s.Key, mark) {
			continue
		}
		turns, err := i.ListTurns(ctx, id, s.ID, 0, 0)
		if err != nil {
			return err
		}
		e.Turns = len(turns)
		e.Committed = committed(turns, mark)
		switch x, err := i.Explain(ctx, id, s.ID, 0); {
		case err == nil:
			e.Assembled = !x.Time.IsZero()
		case skald.KindOf(err) != skald.KindNotFound:
			return err
		}
	}
	return nil
}

// committed: the prompt is stored, and an answer behind it.
func committed(turns []skald.TurnInfo, mark string) bool {
	asked := false
	for _, t := range turns {
		switch {
		case t.Envelope.Role == skald.RoleUser && strings.Contains(string(t.Raw), mark):
			asked = true
		case asked && t.Envelope.Role == skald.RoleAssistant:
			return true
		}
	}
	return false
}

// end stops a daemon and waits until it is gone.
func end(c *client.Client, pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		err = p.Kill() // Windows knows no other way
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	for {
		if _, err := c.Handshake(ctx); err != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return skald.E("", skald.KindDeadline, "the throw-away daemon (pid %d) does not end", pid)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
