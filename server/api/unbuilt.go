package api

import (
	"net/http"

	skald "github.com/skald-engine/skald"
)

// notBuilt lists OpenViking's routes that Skald knows and does not serve yet. They answer 501, so that a caller can tell them
// from a misspelt path.
var notBuilt = []string{
	"POST /api/v1/system/wait", "POST /api/v1/system/consistency",
	"POST /api/v1/system/backend/sync-status", "POST /api/v1/system/backend/sync-retry",
	"GET /api/v1/system/sync/{rest...}", "POST /api/v1/system/sync/{rest...}",
	"GET /api/v1/observer/{name}",
	"GET /api/v1/debug/health", "GET /api/v1/debug/vector/scroll", "GET /api/v1/debug/vector/count",
	"GET /api/v1/stats/memories", "GET /api/v1/stats/sessions/{id}",
	"GET /api/v1/console/{rest...}",
	"/api/v1/admin/{rest...}", "/api/v1/user-settings/add-locations",
	"PATCH /api/v1/sessions/{id}/config", "POST /api/v1/sessions/{id}/extract",
	"GET /api/v1/sessions/{id}/tool-results", "GET /api/v1/sessions/{id}/tool-results/{tool}",
	"GET /api/v1/sessions/{id}/tool-results/{tool}/search",
	"POST /api/v1/tasks/{id}/cancel",
	"GET /api/v1/fs/attrs", "POST /api/v1/fs/attrs/set_tags", "POST /api/v1/fs/mkdir", "POST /api/v1/fs/mv",
	"GET /api/v1/content/download", "POST /api/v1/content/write", "POST /api/v1/content/batch-write",
	"POST /api/v1/content/set_tags", "POST /api/v1/content/reindex",
	"POST /api/v1/search/recall", "POST /api/v1/search/glob",
	"POST /api/v1/resources", "POST /api/v1/resources/temp_upload",
	"/api/v1/watches", "/api/v1/watches/{rest...}",
	"/api/v1/skills", "/api/v1/skills/{rest...}",
	"POST /api/v1/pack/{action}", "/api/v1/snapshot/{rest...}",
	"/api/v1/privacy-configs", "/api/v1/privacy-configs/{rest...}",
	"/api/v1/agent-evolution/{rest...}", "POST /api/v1/openviking-assets/{action}",
	"/api/v1/auth/oauth/{rest...}", "POST /api/v1/auth/oauth-verify",
}

func unbuilt(mux *http.ServeMux) {
	for _, pattern := range notBuilt {
		full(mux, pattern, func(r *http.Request, _ skald.Identity) (any, error) {
			return nil, unsupported("%s %s is part of OpenViking's API, but Skald does not serve it", r.Method, r.URL.Path)
		})
	}
}

func unsupported(format string, args ...any) error {
	return skald.E("api", skald.KindUnsupported, format, args...)
}
