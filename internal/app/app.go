// Package app puts the parts together: it is the only place that knows which store and which engine run. The commands of
// internal/cli and the daemon get theirs here.
package app

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/internal/config"
	"github.com/skald-engine/skald/internal/obs"
	"github.com/skald-engine/skald/model/meaning"
	"github.com/skald-engine/skald/resource"
	"github.com/skald-engine/skald/server/files"
	"github.com/skald-engine/skald/store/openviking"
	"github.com/skald-engine/skald/store/sqlite"
	"github.com/skald-engine/skald/tenant"
)

// Options say what to open. Config is checked already (config.Config.Finish).
type Options struct {
	Config   config.Config
	Clock    func() time.Time // nil: the real clock
	Log      *slog.Logger     // nil: nothing is logged
	Metrics  *obs.Metrics     // nil: nothing is counted
	Strategy string           // "": the configuration's
	Existing bool             // fail with KindNotFound rather than make an empty store
	Fleeting bool             // the data is thrown away at the end: no write waits for the disk
}

// App is an open store with its engine. It holds the data folder until Close.
type App struct {
	Engine  *engine.Engine
	Tenants *tenant.Registry

	options   Options
	store     skald.Store
	meaning   *meaning.Store    // the store that embeds; nil: words alone
	remote    *openviking.Store // the store, when an OpenViking server holds the sessions; else nil
	resources *resource.Service
	files     *files.Files
}

// Open opens the data folder and makes it when there is none, unless Existing forbids it. It fails with KindUnavailable while
// another process holds the folder.
func Open(ctx context.Context, o Options) (*App, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := o.exists(); err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, o.Config.Data, sqlite.Options{Logger: o.Log, NoSync: o.Fleeting})
	if err != nil {
		return nil, err
	}
	a := &App{options: o, store: store}
	a.mean()
	if err := a.attach(); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	if err := a.start(ctx); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return a, nil
}

// start makes the parts that work on the store.
func (a *App) start(ctx context.Context) (err error) {
	if a.Tenants, err = tenant.Open(ctx, a.store, a.options.Clock); err != nil {
		return err
	}
	o := a.options.engine()
	o.Accounts = a.Tenants.Policy
	if a.Engine, err = engine.New(a.store, o); err != nil {
		return err
	}
	a.files = files.New(a.Engine, a.store, a.backend())
	a.Engine.Handle(files.ReindexKind, a.files.Worker())
	a.Engine.Handle(tenant.JobDeleteUser, a.Tenants)
	a.Engine.Handle(tenant.JobDeleteAccount, a.Tenants)
	a.Tenants.Notify(a.Engine.Wake)
	if a.resources, err = a.importer(); err != nil {
		return err
	}
	return nil
}

// exists keeps a command that only reads from making a store in a mistyped folder.
func (o Options) exists() error {
	if !o.Existing {
		return nil
	}
	path := filepath.Join(o.Config.Data, "skald.db")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return &skald.Error{Op: "app.open", URI: o.Config.Data, Field: "data", Kind: skald.KindNotFound,
			Err: errors.New("no Skald data in this folder (there is no skald.db)")}
	}
	return nil
}

func (o Options) engine() engine.Options {
	e := engine.Options{
		Version: Version, Settings: o.Config.Settings, Strategy: cmp.Or(o.Strategy, o.Config.Strategy), Clock: o.Clock, Log: o.Log,
		Recall: time.Duration(o.Config.RecallMillis) * time.Millisecond,
		Policy: skald.Policy{
			IsolateUserScopeByAgent: isSet(o.Config.Settings.IsolateUserByAgent),
			IsolateAgentScopeByUser: isSet(o.Config.Settings.IsolateAgentByUser),
		},
	}
	if o.Metrics != nil {
		e.Metrics = counter{o.Metrics}
	}
	return e
}

func isSet(b *bool) bool { return b != nil && *b }

// Background works on jobs until the returned function is called; that waits for the job under way.
func (a *App) Background(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { a.run(ctx, 1, 0) })
	wg.Go(func() { a.embed(ctx) })
	return func() {
		cancel()
		wg.Wait()
	}
}

// run works on jobs, those first that a killed process left behind: the data folder is this process's alone.
func (a *App) run(ctx context.Context, workers int, sweep time.Duration) {
	if err := a.Engine.Resume(ctx); err != nil && ctx.Err() == nil {
		a.options.Log.Warn("the jobs of a killed process wait for their leases", "error", err)
	}
	a.Engine.Run(ctx, workers, sweep)
}

// Close gives the data folder back.
func (a *App) Close() error { return a.store.Close() }
