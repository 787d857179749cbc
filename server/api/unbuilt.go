package api

import (
	"net/http"

	skald "github.com/skald-engine/skald"
)

// notBuilt lists OpenViking's routes that Skald knows and does not serve yet. They answer 501, so that a caller can tell them
// from a misspelt path.
var notBuilt = []string{
	"POST /api/v1/system/backend/sync-status", "POST /api/v1/system/backend/sync-retry",
	"GET /api/v1/system/sync/{rest...}", "POST /api/v1/system/sync/{rest...}",
	"/api/v1/admin/{rest...}",
	"/api/v1/snapshot/{rest...}",
	"/api/v1/privacy-configs", "/api/v1/privacy-configs/{rest...}",
	"/api/v1/agent-evolution/{rest...}", "POST /api/v1/openviking-assets/{action}",
	"/api/v1/auth/oauth/{rest...}", "POST /api/v1/auth/oauth-verify",
	"/api/v1/acl", "/api/v1/acl/{rest...}", "/api/v1/compile", "/api/v1/compile/{rest...}", "/bot/v1/{rest...}",
}

func unbuilt(mux *http.ServeMux) { notServed(mux, notBuilt...) }

// notServed has routes answer 501.
func notServed(mux *http.ServeMux, patterns ...string) {
	for _, pattern := range patterns {
		full(mux, pattern, func(r *http.Request, _ skald.Identity) (any, error) {
			return nil, unsupported("%s %s is part of OpenViking's API, but Skald does not serve it", r.Method, r.URL.Path)
		})
	}
}

func unsupported(format string, args ...any) error {
	return skald.E("api", skald.KindUnsupported, format, args...)
}
