package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald/internal/app"
	"github.com/skald-engine/skald/internal/config"
	"github.com/skald-engine/skald/internal/obs"
)

func (s *shell) serve() *cobra.Command {
	var data, listen, file, store, storeURL string
	var dev, fleeting bool
	c := &cobra.Command{
		Use: "serve", Short: "Run the daemon", Args: arguments(),
		Long: `Run the daemon until SIGINT or SIGTERM. It makes its data folder and a key in it at the first start. Everything on standard
error is log; with --json one document on standard output says where it listens.`,
		Example: "  skald serve\n  skald serve --data /srv/skald --listen 127.0.0.1:2000",
		RunE: func(c *cobra.Command, _ []string) error {
			o, err := s.daemonOptions(file, func(cfg *config.Config) {
				override(c, "data", &cfg.Data, data)
				override(c, "listen", &cfg.Listen, listen)
				override(c, "dev", &cfg.Dev, dev)
				override(c, "store", &cfg.Store, store)
				override(c, "store-url", &cfg.StoreURL, storeURL)
			})
			if err != nil {
				return err
			}
			o.Fleeting = fleeting
			return s.runDaemon(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&data, "data", "", "data folder (default SKALD_DATA, else the configuration's, else ~/.skald)")
	f.StringVar(&listen, "listen", "", "address to listen on (default 127.0.0.1:1933); port 0 takes a free one")
	f.StringVar(&file, "config", "", "configuration file, JSON (default SKALD_CONFIG, else ~/.skald/config.json)")
	f.BoolVar(&dev, "dev", false, "ask for no key; loopback only")
	f.StringVar(&store, "store", "", "where sessions are held: local (default), or openviking, a server that has them beside the data folder")
	f.StringVar(&storeURL, "store-url", "", "base URL of the OpenViking server; its key comes from SKALD_STORE_KEY or the configuration")
	f.BoolVar(&fleeting, "fleeting", false, "no write waits for the disk: for measurements, the data may be lost")
	_ = f.MarkHidden("fleeting")
	return c
}

// override puts a flag that was given over the configuration.
func override[T any](c *cobra.Command, name string, to *T, v T) {
	if c.Flags().Changed(name) {
		*to = v
	}
}

// daemonOptions reads the configuration: defaults, file, environment, flags.
func (s *shell) daemonOptions(file string, flags func(*config.Config)) (app.Options, error) {
	cfg, warnings, err := config.Load(file, os.LookupEnv)
	if err != nil {
		return app.Options{}, badFile(err, "config")
	}
	flags(&cfg)
	if err := cfg.Finish(); err != nil {
		return app.Options{}, err
	}
	log, err := obs.NewLog(s.err, cfg.Log.Level, cfg.Log.Format)
	if err != nil {
		return app.Options{}, err
	}
	warn(log, warnings)
	return app.Options{Config: cfg, Log: log}, nil
}

func warn(log *slog.Logger, warnings []string) {
	for _, w := range warnings {
		log.Warn(w)
	}
}

func (s *shell) runDaemon(ctx context.Context, o app.Options) error {
	listened := false
	err := app.Serve(ctx, o, func(r app.Running) {
		listened = true
		o.Log.Info("listening", "url", r.URL, "data", r.Data, "version", r.Version, "access", r.Mode)
		_ = s.print(r, func(w io.Writer) { fmt.Fprintf(w, "skald %s listens on %s\n", r.Version, r.URL) })
	})
	if listened {
		o.Log.Info("stopped")
	}
	return err
}
