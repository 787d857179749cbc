package servertest

import (
	"context"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
)

// Search is an api.Searcher that finds nothing.
type Search struct{}

// Search implements api.Searcher.
func (Search) Search(context.Context, skald.Identity, api.SearchQuery) (api.SearchResult, error) {
	return api.SearchResult{}, nil
}

// Brief implements api.Searcher.
func (Search) Brief(context.Context, skald.Identity, api.BriefQuery) (api.Brief, error) {
	return api.Brief{}, nil
}
