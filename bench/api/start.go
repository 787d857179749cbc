package apibench

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	enginebench "github.com/skald-engine/skald/bench/engine"
	"github.com/skald-engine/skald/bench/openviking"
	"github.com/skald-engine/skald/server"
)

// skald starts a daemon of the binary.
func (o Options) skald(name, durability string, flags ...string) starter {
	return func(ctx context.Context, dir string) (*subject, error) {
		data, err := o.folder(dir, "data")
		if err != nil {
			return nil, err
		}
		d, err := enginebench.StartDaemon(ctx, o.Binary, data, flags...)
		if err != nil {
			return nil, err
		}
		key, err := server.ReadKey(data)
		if err != nil {
			return nil, errors.Join(err, d.Stop())
		}
		return &subject{name: name, durability: durability, url: d.URL, key: key, pid: d.PID(), startup: d.Startup, stop: d.Stop}, nil
	}
}

// other is the server to compare with: started here with scripted models, or one that runs already.
func (o Options) other(ctx context.Context, dir string) (*subject, error) {
	if o.Against != "" {
		return &subject{name: "openviking", durability: asked, url: o.Against, key: o.AgainstKey, stop: func() error { return nil }}, nil
	}
	home, err := o.folder(dir, "openviking")
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(home, "log"))
	if err != nil {
		return nil, err
	}
	s, err := openviking.Start(ctx, openviking.Options{Venv: o.OpenViking, Dir: home, RootKey: "root-key-of-the-bench", Log: log})
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	stop := func() error { return errors.Join(s.Stop(), log.Close()) }
	key, err := s.CreateAccount(ctx, "bench", "bench")
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	return &subject{name: "openviking", durability: vectors, url: s.URL, key: key, pid: s.PID(), startup: s.Startup, stop: stop}, nil
}
