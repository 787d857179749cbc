package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/internal/obs"
	"github.com/skald-engine/skald/server"
	"github.com/skald-engine/skald/server/webdav"
)

// Times of a daemon.
const (
	sweepEvery = time.Minute     // how often idle sessions are looked at (000-047)
	flushTime  = 5 * time.Second // for committing what is open when the daemon stops
)

// Running describes a daemon that listens.
type Running struct {
	URL     string `json:"url"`
	Data    string `json:"data"`
	Version string `json:"version"`
	Mode    string `json:"mode"` // api_key, dev, trusted
}

// Serve runs a daemon until ctx ends. It listens before it opens the store, so that a connection made early waits rather than
// fails; announce is called once requests are answered. When ctx ends it takes no new connections, waits for the calls under way,
// commits what is open, gives the jobs five seconds, and closes the store: what is left runs after the next start.
func Serve(ctx context.Context, o Options, announce func(Running)) (err error) {
	access, err := o.access()
	if err != nil {
		return err
	}
	l, err := listen(o.Config.Listen)
	if err != nil {
		return err
	}
	defer l.Close()
	if o.Metrics == nil {
		o.Metrics = obs.NewMetrics(o.Log)
	}
	a, err := Open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := a.register(ctx, access); err != nil {
		return err
	}
	s, err := a.server(access, l.Addr().String())
	if err != nil {
		return err
	}
	stop := a.work(ctx)
	a.awaitRebuild(ctx)
	announce(Running{URL: "http://" + l.Addr().String(), Data: o.Config.Data, Version: Version, Mode: access.Mode()})
	err = s.Serve(ctx, l, time.Duration(o.Config.ShutdownSeconds)*time.Second)
	return errors.Join(err, a.finish(ctx, stop))
}

func listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, &skald.Error{Op: "app.listen", URI: address, Kind: skald.KindConflict,
			Err: errors.New("another program listens here, perhaps a Skald daemon (`skald status` tells): stop it, or choose another address with --listen")}
	}
	if err != nil {
		return nil, skald.Invalid("app.listen", "listen", "cannot listen on %q: %w", address, err)
	}
	return l, nil
}

func (a *App) server(access *server.Access, address string) (*server.Server, error) {
	c, sessions := a.options.Config, a.backend()
	return server.New(server.Deps{
		Engine: a.options.Metrics.Watch(a.Engine), Inspector: a.Engine, Access: access, Metrics: a.options.Metrics,
		API: sessions, Parts: a.parts(sessions), MCP: a.mcp(), WebDAV: webdav.New(a.files), Log: a.options.Log, Version: Version,
		Loopback: server.Loopback(address), Hosts: c.Hosts, Origins: c.Origins, BodyLimit: c.BodyLimit,
	})
}

// work runs the background jobs. The returned function ends them: due jobs get five more seconds (engine.Run).
func (a *App) work(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() { a.run(ctx, a.options.Config.Workers, sweepEvery) })
	wg.Go(func() { a.embed(ctx) })
	wg.Go(func() { a.deliver(ctx) })
	wg.Go(func() { a.backend().Run(ctx, sweepEvery) })
	wg.Go(func() { a.resources.Run(ctx, watchEvery) })
	wg.Go(func() { a.files.Run(ctx, func(err error) { a.Engine.Report("files", "", err) }) })
	return func() {
		cancel()
		wg.Wait()
	}
}

// finish is the orderly end: writes are drained already, what is open is committed, jobs get their time (000-050).
func (a *App) finish(ctx context.Context, stop func()) error {
	defer stop()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	if _, err := a.Engine.Flush(ctx); err != nil {
		return fmt.Errorf("commit open sessions at the end: %w", err)
	}
	return nil
}
