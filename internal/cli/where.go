package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client"
	"github.com/skald-engine/skald/internal/app"
	"github.com/skald-engine/skald/internal/config"
	"github.com/skald-engine/skald/internal/obs"
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
	f.StringVar(&w.server, "server", "", "URL of a daemon (default: where the configuration has it listen, else "+defaultServer+")")
	f.StringVar(&w.key, "key", "", "the daemon's key (default SKALD_API_KEY, else the key file of this machine's data folder)")
	f.StringVar(&w.account, "account", "", "account, with --data or a daemon in dev mode (default: the configuration's, else \"default\")")
	f.StringVar(&w.user, "user", "", "user, with --data or a daemon in dev mode (default: the configuration's, else \"default\")")
	f.StringVar(&w.agent, "agent", "", "agent (default \"main\")")
	f.StringVar(&w.config, "config", "", "configuration file (default SKALD_CONFIG, else ~/.skald/config.json)")
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
	if s.where.data != "" && s.where.server != "" {
		return skald.Invalid("", "data", "--data and --server exclude each other")
	}
	if o.Config, err = s.where.settings(); err != nil {
		return err
	}
	id, err := s.where.identity(o.Config)
	if err != nil {
		return err
	}
	if s.where.data == "" {
		return s.where.atDaemon(ctx, o.Config, id, do)
	}
	if o.Log, err = s.log(o.Config); err != nil {
		return err
	}
	a, err := app.Open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	id.Policy = a.Tenants.Policy(id.Account)
	return do(&place{Engine: a.Engine, Inspector: a.Engine, id: id, app: a, data: o.Config.Data})
}

// log is the log of an engine in this process: on standard error, and only where the environment asks for one.
func (s *shell) log(c config.Config) (*slog.Logger, error) {
	if s.env("SKALD_LOG_LEVEL") == "" {
		return nil, nil
	}
	return obs.NewLog(s.err, c.Log.Level, c.Log.Format)
}

// identity is on whose behalf a command asks: as told, else the configuration's user.
func (w where) identity(c config.Config) (skald.Identity, error) {
	id := skald.DefaultIdentity
	for _, part := range []struct {
		name, given, configured string
		to                      *string
	}{
		{"account", w.account, c.Identity.Account, &id.Account}, {"user", w.user, c.Identity.User, &id.User}, {"agent", w.agent, "", &id.Agent},
	} {
		if value := cmp.Or(part.given, part.configured); value != "" {
			*part.to = value
		}
		if !skald.SafeID(*part.to) {
			return id, skald.Invalid("", part.name, "%q: letters, digits and _@.- only, at most 128", *part.to)
		}
	}
	return id, nil
}

// settings is the configuration: of an engine in this process, and of the daemon of this machine, which reads the same.
func (w where) settings() (config.Config, error) {
	c, _, err := config.Load(w.config, os.LookupEnv)
	if err != nil {
		return c, badFile(err, "config")
	}
	if w.data != "" {
		c.Data = w.data
	}
	return c, c.Finish()
}

// badFile gives a file that cannot be read the kind of a wrong input.
func badFile(err error, field string) error {
	if cause := (*fs.PathError)(nil); errors.As(err, &cause) { // not there, not readable, or a folder
		return skald.Invalid("", field, "%w", err)
	}
	return err
}

// atDaemon asks a daemon. On a machine where nothing was set up, and none was named, nobody is asked: what listens on the default port
// there is somebody else's (CLI-01).
func (w where) atDaemon(ctx context.Context, c config.Config, id skald.Identity, do func(*place) error) error {
	if err := w.setUp(c); err != nil {
		return err
	}
	address := w.address(c)
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return skald.Invalid("", "server", "%q is not a URL like %s", address, defaultServer)
	}
	key := w.secret(u, c)
	daemon := client.New(address, key, client.Options{})
	if err := w.sameCaller(ctx, daemon, key, id); err != nil {
		return w.explain(err, c)
	}
	return w.explain(do(&place{Engine: daemon, Inspector: daemon, id: id}), c)
}

// setUp fails with KindUnavailable where neither a configuration, nor a key, nor data is, and no daemon was named.
func (w where) setUp(c config.Config) error {
	if w.server != "" || w.key != "" || os.Getenv("SKALD_API_KEY") != "" {
		return nil
	}
	file := config.Path(os.LookupEnv)
	for _, path := range []string{file, w.config, server.KeyPath(c.Data), filepath.Join(c.Data, "skald.db")} {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
	}
	return &skald.Error{Kind: skald.KindUnavailable, Err: &hint{
		text: fmt.Sprintf("Skald is not set up here: there is neither the configuration file %s nor a key file %s", file, server.KeyPath(c.Data)),
		fix:  "`skald init` sets it up, `skald serve` starts the daemon; --data DIR or --server URL name data that lies elsewhere",
	}}
}

// sameCaller refuses --account and --user where the daemon's key says otherwise: it would answer for the key's owner.
func (w where) sameCaller(ctx context.Context, daemon *client.Client, key string, id skald.Identity) error {
	if key == "" || w.account == "" && w.user == "" {
		return nil
	}
	owner, keyed, err := daemon.Owner(ctx)
	if err != nil || !keyed || owner.Account == id.Account && owner.User == id.User {
		return err
	}
	return &skald.Error{Kind: skald.KindPermission, Err: fmt.Errorf("the key belongs to user %q of account %q, and a daemon with keys answers "+
		"for the key's owner: give the key of user %q of account %q, or leave --user and --account out",
		owner.User, owner.Account, id.User, id.Account)}
}

// address is where the daemon listens: as told, else as this machine's configuration has it.
func (w where) address(c config.Config) string {
	if w.server != "" {
		return w.server
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil || port == "0" {
		return defaultServer
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// secret is the key for a daemon. The key file of this machine is for a daemon of this machine only.
func (w where) secret(u *url.URL, c config.Config) string {
	if w.key != "" {
		return w.key
	}
	if key := os.Getenv("SKALD_API_KEY"); key != "" {
		return key
	}
	if !server.Loopback(u.Host) {
		return ""
	}
	key, err := server.ReadKey(c.Data)
	if err != nil {
		return "" // a daemon in dev mode asks for none; any other one says so
	}
	return key
}

// dataFolder is the data folder of this machine's daemon.
func dataFolder() string {
	c, err := where{}.settings()
	if err != nil {
		c = config.Default()
		_ = c.Finish()
	}
	return c.Data
}

// explain adds to a daemon's silence or refusal what is missing on this side (CLI-01).
func (w where) explain(err error, c config.Config) error {
	kind := skald.KindOf(err)
	if kind != skald.KindUnavailable && kind != skald.KindUnauth {
		return err
	}
	path := server.KeyPath(c.Data)
	if _, statErr := os.Stat(path); statErr == nil || w.key != "" || os.Getenv("SKALD_API_KEY") != "" {
		return err
	}
	if kind == skald.KindUnauth {
		return &skald.Error{Kind: kind, Err: fmt.Errorf("the daemon at %s asks for a key, and none was given: there is no key file %s",
			w.address(c), path)}
	}
	var e *skald.Error
	errors.As(err, &e)
	return &skald.Error{Kind: kind, Err: fmt.Errorf("%w; there is no key file %s either, so no daemon was started with that data folder yet "+
		"(--data DIR looks into another one)", e.Err, path)}
}
