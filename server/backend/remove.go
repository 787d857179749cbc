package backend

import (
	"context"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
)

// Remove implements api.Backend: memories are forgotten, for good and with the turns behind them. A folder of memories is emptied
// in one transaction.
func (b *Backend) Remove(ctx context.Context, id skald.Identity, raw string) (out api.Removed, err error) {
	uri, err := skald.ParseURI(raw, id, b.engine.Policy())
	if err != nil {
		return out, err
	}
	err = b.store.Update(ctx, func(tx skald.Tx) error {
		out = api.Removed{URI: uri}
		all, err := b.removable(tx, id, uri)
		if err != nil {
			return err
		}
		for _, m := range all {
			receipt, err := b.engine.Forget(tx, id, m)
			if skald.KindOf(err) == skald.KindNotFound {
				continue // went with another one, whose turns it rested on
			}
			if err != nil {
				return err
			}
			out.Count += len(receipt.Memories)
		}
		return nil
	})
	b.report("remove", "", err)
	return out, err
}

// removable lists the memories that a removal means.
func (b *Backend) removable(tx skald.Tx, id skald.Identity, uri skald.URI) ([]skald.URI, error) {
	f, err := b.stat(tx, id, uri)
	if err != nil {
		return nil, err
	}
	scope, path, _ := place(b.scopes(id), uri)
	switch {
	case len(path) == 0:
		return nil, &skald.Error{Op: "rm", URI: string(uri), Kind: skald.KindPermission, Err: errRoot}
	case path[0] != "memories":
		return nil, skald.E("rm", skald.KindUnsupported, "only memories can be removed yet: sessions, archives and turns stay")
	case !f.Dir:
		return []skald.URI{uri}, nil
	}
	list, err := tx.Memories(skald.MemoryQuery{Scopes: []skald.Scope{scope}, Prefix: uri})
	all := make([]skald.URI, len(list))
	for i, m := range list {
		all[i] = m.URI
	}
	return all, err
}

var errRoot = skald.E("", skald.KindPermission, "the root of a namespace cannot be removed")
