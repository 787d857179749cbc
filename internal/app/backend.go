package app

import (
	"github.com/skald-engine/skald/server"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/server/backend"
	"github.com/skald-engine/skald/server/files"
	"github.com/skald-engine/skald/server/search"
)

// backend serves the sessions of /api/v1, with tasks and system, on this app's engine and store.
func (a *App) backend() *backend.Backend {
	b, t := backend.New(a.Engine, a.store), a.options.Config.ToolOutput
	b.Limit(api.ResultLimits{
		Off: !t.Enabled, Threshold: t.Threshold, TurnBudget: t.TurnBudget, Preview: t.Preview, MinPreview: t.MinPreview, TurnPreview: t.TurnPreview,
	})
	return b
}

// parts are the groups of /api/v1 beside the sessions, one line for each; a nil part leaves its routes at 501.
func (a *App) parts(b *backend.Backend) api.Deps {
	return api.Deps{
		Admin: a.Tenants, Keyless: a.options.Config.Mode() == server.ModeTrusted, Policy: a.Engine.Policy(),
		Settings: b, Results: b, Tasks: b, System: b,
		Files:     a.files,
		Skills:    a.Skills(),
		Resources: a.resources, Uploaded: a.resources,
		Search: search.New(a.Engine, a.store),
	}
}

// Files is the viking:// tree.
func (a *App) Files() *files.Files { return a.files }
