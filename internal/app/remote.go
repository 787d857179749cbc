package app

import (
	"cmp"
	"context"
	"os"
	"time"

	"github.com/skald-engine/skald"
	client "github.com/skald-engine/skald/client/openviking"
	"github.com/skald-engine/skald/store/openviking"
)

// rebuildTime is how long a starting daemon waits for the sessions of its OpenViking server, when its own file has none yet. A turn that comes
// before they are read would begin its session anew.
const rebuildTime = 5 * time.Second

// attach puts the OpenViking server behind the local store, when the configuration names one.
func (a *App) attach() error {
	c := a.options.Config
	r, ok := c.Remote()
	if !ok {
		return nil
	}
	key := r.Key
	if r.KeyEnv != "" {
		if key = os.Getenv(r.KeyEnv); key == "" {
			return skald.Invalid("app.open", "store_key_env", "the variable %s holds no key", r.KeyEnv)
		}
	}
	id := skald.DefaultIdentity
	id.Account, id.User = cmp.Or(c.Identity.Account, id.Account), cmp.Or(c.Identity.User, id.User)
	a.remote = openviking.New(a.store, openviking.Options{
		Client:   client.New(r.URL, client.Options{Key: key, Account: r.Account, User: r.User, Agent: r.Agent}),
		Identity: id, Policy: a.options.engine().Policy, Clock: a.options.Clock, Log: a.options.Log,
	})
	a.store = a.remote
	return nil
}

// deliver brings the OpenViking server up to date until ctx ends. What is undelivered then goes there after the next start.
func (a *App) deliver(ctx context.Context) {
	if a.remote != nil {
		a.remote.Run(ctx)
	}
}

func (a *App) awaitRebuild(ctx context.Context) {
	if a.remote == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, rebuildTime)
	defer cancel()
	if err := a.remote.Tried(ctx); err != nil {
		a.options.Log.Warn("the sessions of the OpenViking server are not read yet; that goes on in the background")
	}
}
