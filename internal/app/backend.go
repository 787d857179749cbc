package app

import "github.com/skald-engine/skald/server/api"

// backend serves /api/v1. nil: it is not served yet (package server/backend will be put in here).
func (a *App) backend() api.Backend { return nil }
