package app

import (
	"net/http"

	"github.com/skald-engine/skald/server/mcp"
)

// mcp serves the Model Context Protocol at /mcp.
func (a *App) mcp() http.Handler {
	return mcp.Backend{Engine: a.options.Metrics.Watch(a.Engine), Inspector: a.Engine, Version: Version, Log: a.options.Log}.Handler()
}
