package app

import (
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/server/backend"
)

// backend serves /api/v1 on this app's engine and store.
func (a *App) backend() api.Backend { return backend.New(a.Engine, a.store) }
