package app

import (
	"context"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server"
)

// access settles who may call, before anything is opened (SEC-03). The daemon's key is made here.
func (o Options) access() (*server.Access, error) {
	c := o.Config
	a := server.AccessOptions{
		Listen: c.Listen, Mode: c.Mode(), Root: server.Key(c.Root()),
		Identity: skald.Identity{Account: c.Identity.Account, User: c.Identity.User},
	}
	for _, k := range c.Keys {
		a.Keys = append(a.Keys, server.Key(k))
	}
	if a.Mode == server.ModeDev {
		access, err := server.OpenAccess(a)
		if err == nil && o.Log != nil {
			o.Log.Warn("dev mode: every program on this machine may read and write without a key")
		}
		return access, err
	}
	var err error
	if a.Own, err = server.EnsureKey(c.Data); err != nil {
		return nil, err
	}
	return server.OpenAccess(a)
}

// register joins the registered users to those whom the configuration names, and these to them: they are listed, and their accounts can take
// more users. Deletions that a former daemon did not end go on.
func (a *App) register(ctx context.Context, access *server.Access) error {
	for _, id := range access.Configured() {
		if err := a.Tenants.Keep(ctx, id, id.Rank); err != nil {
			return err
		}
	}
	access.Register(a.Tenants)
	return a.Tenants.Resume(ctx)
}
