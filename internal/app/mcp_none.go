//go:build !mcp

package app

import "net/http"

// mcp serves nothing: this build has no MCP.
func (a *App) mcp() http.Handler { return nil }
