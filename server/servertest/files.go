package servertest

import (
	"context"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/tree/view"
)

// Files is a small tree that is read only: what writes is not faked.
type Files struct{ api.Files }

// Stat implements api.Files.
func (Files) Stat(_ context.Context, id skald.Identity, raw string) (view.Node, error) {
	uri, err := skald.ParseURI(raw, id, skald.Policy{})
	if err != nil {
		return view.Node{}, err
	}
	for _, e := range tree {
		if e.URI == uri {
			return view.Node{FileInfo: e, Kind: view.Memory}, nil
		}
	}
	return view.Node{}, skald.NotFound("fake.stat", string(uri))
}

// List implements api.Files.
func (Files) List(
	_ context.Context, id skald.Identity, raw string, depth, _ int, keep func(view.Node) bool,
) (list []view.Node, err error) {
	uri, err := skald.ParseURI(raw, id, skald.Policy{})
	if err != nil {
		return nil, err
	}
	known := false
	for _, e := range tree {
		if e.Depth > depth || !strings.HasPrefix(string(e.URI), string(uri)+"/") {
			continue
		}
		known = true
		if n := (view.Node{FileInfo: e, Kind: view.Memory}); keep(n) {
			list = append(list, n)
		}
	}
	if !known {
		return nil, skald.NotFound("fake.list", string(uri))
	}
	return list, nil
}

// Read implements api.Files.
func (f Files) Read(ctx context.Context, id skald.Identity, raw string, _ bool) (view.Node, []byte, error) {
	n, err := f.Stat(ctx, id, raw)
	return n, []byte("first <line>\nsecond of " + n.Name + "\nthird\n"), err
}

// Digest implements api.Files.
func (f Files) Digest(ctx context.Context, id skald.Identity, raw string, abstract bool) (skald.URI, string, error) {
	n, err := f.Stat(ctx, id, raw)
	return n.URI, "what is in it", err
}

// Remove implements api.Files.
func (Files) Remove(_ context.Context, id skald.Identity, raw string) (api.Removed, error) {
	uri, err := skald.ParseURI(raw, id, skald.Policy{})
	return api.Removed{URI: uri, Count: 1}, err
}

// Grep implements api.Files.
func (Files) Grep(_ context.Context, _ skald.Identity, q api.GrepQuery) (api.GrepResult, error) {
	r := api.GrepResult{Files: 1}
	for i, line := range []string{"one", "two", "three"} {
		if q.Pattern.MatchString(line) {
			r.Matches = append(r.Matches, api.GrepMatch{URI: tree[1].URI, Line: i + 1, Content: line})
		}
	}
	return r, nil
}
