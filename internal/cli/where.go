package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client"
	"github.com/skald-engine/skald/internal/app"
	"github.com/skald-engine/skald/internal/config"
	"github.com/skald-engine/skald/server"
)

const defaultServer = "http://127.0.0.1:1933"

// where says which data a command means, and on whose behalf.
type where struct {
	data, server, key    string
	account, user, agent string
	config               string
}

func (s *shell) whereFlags(c *cobra.Command) {
	f, w := c.Flags(), &s.where
	f.StringVar(&w.data, "data", "", "data folder to open; no daemon may hold it")
	f.StringVar(&w.server, "server", "", "URL of a daemon (default "+defaultServer+")")
	f.StringVar(&w.key, "key", "", "the daemon's key (default SKALD_API_KEY, else the key file in SKALD_DATA or ~/.skald)")
	f.StringVar(&w.account, "account", "", "account, with --data or a daemon in dev mode (default \"default\")")
	f.StringVar(&w.user, "user", "", "user, with --data or a daemon in dev mode (default \"default\")")
	f.StringVar(&w.agent, "agent", "", "agent (default \"main\")")
	f.StringVar(&w.config, "config", "", "configuration file whose settings count, with --data")
}

// place is where a command's answers come from.
type place struct {
	skald.Engine
	skald.Inspector
	id   skald.Identity
	app  *app.App // nil when a daemon answers
	data string
}

// use opens the place, runs do, and closes it.
func (s *shell) use(ctx context.Context, do func(*place) error) error {
	return s.open(ctx, app.Options{Existing: true}, do)
}

func (s *shell) open(ctx context.Context, o app.Options, do func(*place) error) (err error) {
	id, err := s.where.identity()
	if err != nil {
		return err
	}
	if s.where.data == "" {
		p, err := s.where.daemon(id)
		if err != nil {
			return err
		}
		return s.where.explain(do(p))
	}
	if s.where.server != "" {
		return skald.Invalid("", "data", "--data and --server exclude each other")
	}
	if o.Config, err = s.where.settings(); err != nil {
		return err
	}
	a, err := app.Open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return do(&place{Engine: a.Engine, Inspector: a.Engine, id: id, app: a, data: o.Config.Data})
}

func (w where) identity() (skald.Identity, error) {
	id := skald.DefaultIdentity
	for _, part := range []struct {
		name, given string
		to          *string
	}{{"account", w.account, &id.Account}, {"user", w.user, &id.User}, {"agent", w.agent, &id.Agent}} {
		if part.given == "" {
			continue
		}
		if !skald.SafeID(part.given) {
			return id, skald.Invalid("", part.name, "%q: letters, digits and _@.- only, at most 128", part.given)
		}
		*part.to = part.given
	}
	return id, nil
}

// settings is the configuration of an engine in this process.
func (w where) settings() (config.Config, error) {
	c, _, err := config.Load(w.config, os.LookupEnv)
	if err != nil {
		return c, badFile(err, "config")
	}
	c.Data = w.data
	return c, c.Finish()
}

// badFile gives a file that cannot be read the kind of a wrong input.
func badFile(err error, field string) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return skald.Invalid("", field, "%w", err)
	}
	return err
}

func (w where) daemon(id skald.Identity) (*place, error) {
	address := w.address()
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, skald.Invalid("", "server", "%q is not a URL like %s", address, defaultServer)
	}
	c := client.New(address, w.secret(u), client.Options{})
	return &place{Engine: c, Inspector: c, id: id}, nil
}

func (w where) address() string {
	if w.server == "" {
		return defaultServer
	}
	return w.server
}

// secret is the key for a daemon. The key file of this machine is for a daemon of this machine only.
func (w where) secret(u *url.URL) string {
	if w.key != "" {
		return w.key
	}
	if key := os.Getenv("SKALD_API_KEY"); key != "" {
		return key
	}
	if !server.Loopback(u.Host) {
		return ""
	}
	key, err := server.ReadKey(dataFolder())
	if err != nil {
		return "" // a daemon in dev mode asks for none; any other one says so
	}
	return key
}

// dataFolder is the default data folder.
func dataFolder() string {
	if d := os.Getenv("SKALD_DATA"); d != "" {
		return d
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ".skald"
	}
	return filepath.Join(home, ".skald")
}

// explain adds to a daemon's silence or refusal what is missing on this side (CLI-01).
func (w where) explain(err error) error {
	kind := skald.KindOf(err)
	if kind != skald.KindUnavailable && kind != skald.KindUnauth {
		return err
	}
	path := server.KeyPath(dataFolder())
	if _, statErr := os.Stat(path); statErr == nil || w.key != "" || os.Getenv("SKALD_API_KEY") != "" {
		return err
	}
	if kind == skald.KindUnauth {
		return &skald.Error{Kind: kind, Err: fmt.Errorf("the daemon at %s asks for a key, and none was given: there is no key file %s", w.address(), path)}
	}
	var e *skald.Error
	errors.As(err, &e)
	return &skald.Error{Kind: kind, Err: fmt.Errorf("%w; there is no key file %s either, so no daemon was started with that data folder yet "+
		"(--data DIR looks into another one)", e.Err, path)}
}
