package files

import (
	"context"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/tree"
	"github.com/skald-engine/skald/tree/view"
)

// Remove implements api.Files: files go with their documents, memories are forgotten, for good and with the turns behind them, sessions
// are deleted. A folder is emptied in one transaction, apart from sessions, which take one each.
func (f *Files) Remove(ctx context.Context, id skald.Identity, raw string) (out api.Removed, err error) {
	var sessions []string
	err = f.change(ctx, id, raw, func(v view.View, uri skald.URI) (err error) {
		out, sessions = api.Removed{URI: uri}, nil
		n, err := v.Stat(uri)
		if err != nil {
			return err
		}
		p, _ := v.Place(uri)
		switch {
		case p.Above, len(p.Path) == 0, !id.MayChange(uri):
			return &skald.Error{Op: "files.remove", URI: string(uri), Kind: skald.KindPermission, Err: errRoot}
		case p.InSessions() && n.Kind != view.File && n.Kind != view.Folder:
			sessions, err = removable(v, p, uri)
			return err
		case n.Kind == view.Text:
			out.Count = 1
			return f.putText(v.Tx, p, uri, "")
		}
		out.Count, err = f.forget(v, p, uri)
		if err != nil {
			return err
		}
		files, err := tree.Delete(v.Tx, p.Scope, uri)
		out.Count += files
		return err
	})
	for _, s := range sessions {
		if _, err := f.engine.DeleteSession(ctx, id, s); err != nil && skald.KindOf(err) != skald.KindNotFound {
			return out, err
		}
		out.Count++
	}
	return out, err
}

var errRoot = skald.E("", skald.KindPermission, "the root of a namespace cannot be removed: name something in it")

// removable lists the sessions that a removal means.
func removable(v view.View, p view.Place, uri skald.URI) ([]string, error) {
	switch len(p.Path) {
	case 1:
		list, err := v.Tx.Sessions(skald.SessionQuery{Scopes: []skald.Scope{p.Scope}})
		out := make([]string, len(list))
		for i, s := range list {
			out[i] = s.Ref.ID
		}
		return out, err
	case 2:
		return []string{p.Path[1]}, nil
	}
	return nil, skald.E("files.remove", skald.KindUnsupported, "a session's messages and archives go with the session: remove %s",
		skald.SessionRef{Scope: p.Scope, ID: p.Path[1]}.URI())
}

// forget takes a memory, or all below a folder, out of everything that is shown.
func (f *Files) forget(v view.View, p view.Place, uri skald.URI) (n int, err error) {
	if p.Scope.Kind != skald.ScopeUser && p.Scope.Kind != skald.ScopeAgent {
		return 0, nil
	}
	list, err := v.Tx.Memories(skald.MemoryQuery{Scopes: []skald.Scope{p.Scope}, Prefix: uri})
	if err != nil {
		return 0, err
	}
	uris := []skald.URI{uri}
	for _, m := range list {
		uris = append(uris, m.URI)
	}
	for _, u := range uris {
		receipt, err := f.engine.Forget(v.Tx, v.ID, u)
		if skald.KindOf(err) == skald.KindNotFound {
			continue // a folder, or gone with another one, whose turns it rested on
		}
		if err != nil {
			return n, err
		}
		n += len(receipt.Memories)
	}
	return n, nil
}
