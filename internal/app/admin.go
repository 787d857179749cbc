package app

import (
	"context"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/tenant"
)

// Admin manages the accounts of an open data folder, as client.Admin does at a daemon: here a deletion is done when the call returns.
type Admin struct {
	*tenant.Registry
	app *App
}

// Admin is for callers who may do everything: they hold the data.
func (a *App) Admin() Admin { return Admin{a.Tenants, a} }

// DeleteAccount erases an account.
func (a Admin) DeleteAccount(ctx context.Context, account string) (tenant.Deletion, error) {
	d, err := a.Registry.DeleteAccount(ctx, skald.Scope{}, account)
	return a.done(ctx, d, err)
}

// DeleteUser erases a user.
func (a Admin) DeleteUser(ctx context.Context, account, user string) (tenant.Deletion, error) {
	d, err := a.Registry.DeleteUser(ctx, skald.Scope{}, account, user)
	return a.done(ctx, d, err)
}

func (a Admin) done(ctx context.Context, d tenant.Deletion, err error) (tenant.Deletion, error) {
	if err == nil {
		err = a.app.Engine.RunJobs(ctx)
	}
	return d, err
}
