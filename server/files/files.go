// Package files serves the viking:// tree: it lists, reads, writes, searches and packs what the identity may see, for /api/v1, WebDAV and
// packs. Every change is one transaction. The texts of folders follow in the background (Run), many changes at a time.
package files

import (
	"context"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/memory"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/tree"
	"github.com/skald-engine/skald/tree/view"
)

// Engine is what the tree needs of the engine.
type Engine interface {
	Policy() skald.Policy
	Now() time.Time
	Wake() // there is a job
	DeleteSession(ctx context.Context, id skald.Identity, session string) (skald.SessionDeletion, error)
	// Forget takes a memory and the turns behind it out of everything that is shown.
	Forget(tx skald.Tx, id skald.Identity, uri skald.URI) (memory.Receipt, error)
}

// Sessions stores what a pack holds of sessions.
type Sessions interface {
	AddMessages(ctx context.Context, id skald.Identity, session string, entries []skald.Entry) (api.Session, error)
	ArchiveSession(ctx context.Context, id skald.Identity, session string, o api.CommitOptions) (api.Committed, error)
}

// Files implements api.Files.
type Files struct {
	engine   Engine
	store    skald.Store
	sessions Sessions
	wake     chan struct{}
}

var _ api.Files = (*Files)(nil)

// New makes the tree of an engine and the store that it works on.
func New(e Engine, store skald.Store, s Sessions) *Files {
	return &Files{engine: e, store: store, sessions: s, wake: make(chan struct{}, 1)}
}

func (f *Files) view(tx skald.Tx, id skald.Identity) view.View {
	return view.View{Tx: tx, Policy: f.engine.Policy(), ID: id}
}

func (f *Files) parse(id skald.Identity, raw string) (skald.URI, error) {
	return skald.ParseURI(raw, id, f.engine.Policy())
}

// look runs fn on a snapshot with a canonical URI.
func (f *Files) look(ctx context.Context, id skald.Identity, raw string, fn func(view.View, skald.URI) error) error {
	uri, err := f.parse(id, raw)
	if err != nil {
		return err
	}
	return f.store.View(ctx, func(tx skald.Tx) error { return fn(f.view(tx, id), uri) })
}

// change runs fn in one transaction with a canonical URI, and has the folders' texts follow.
func (f *Files) change(ctx context.Context, id skald.Identity, raw string, fn func(view.View, skald.URI) error) error {
	uri, err := f.parse(id, raw)
	if err != nil {
		return err
	}
	err = f.store.Update(ctx, func(tx skald.Tx) error { return fn(f.view(tx, id), uri) })
	if err == nil {
		f.changed()
	}
	return err
}

// Stat implements api.Files.
func (f *Files) Stat(ctx context.Context, id skald.Identity, raw string) (n view.Node, err error) {
	err = f.look(ctx, id, raw, func(v view.View, uri skald.URI) (err error) {
		n, err = v.Stat(uri)
		return err
	})
	return n, err
}

// errEnough ends a walk that has found enough.
var errEnough = skald.E("files", skald.KindInternal, "enough")

// walk ends without an error when fn has found enough.
func walk(v view.View, uri skald.URI, depth int, fn func(view.Node) error) error {
	if err := v.Walk(uri, depth, fn); err != nil && err != error(errEnough) {
		return err
	}
	return nil
}

// List implements api.Files. A file cannot be listed: KindInvalid.
func (f *Files) List(
	ctx context.Context, id skald.Identity, raw string, depth, limit int, keep func(view.Node) bool,
) (list []view.Node, err error) {
	err = f.look(ctx, id, raw, func(v view.View, uri skald.URI) error {
		list = nil
		n, err := v.Stat(uri)
		switch {
		case err != nil:
			return err
		case !n.Dir:
			return invalid(uri, "is a file, not a folder")
		}
		return walk(v, uri, depth, func(n view.Node) error {
			if keep(n) {
				list = append(list, n)
			}
			if len(list) == limit {
				return errEnough
			}
			return ctx.Err()
		})
	})
	return list, err
}

// Read implements api.Files.
func (f *Files) Read(ctx context.Context, id skald.Identity, raw string, whole bool) (n view.Node, b []byte, err error) {
	err = f.look(ctx, id, raw, func(v view.View, uri skald.URI) (err error) {
		if n, err = v.Stat(uri); err != nil || n.Dir {
			return err
		}
		if whole {
			b, err = v.Read(uri)
		} else {
			b, err = v.Body(uri)
		}
		return err
	})
	return n, b, err
}

// Digest implements api.Files. A stored folder whose texts are out of date is read anew.
func (f *Files) Digest(
	ctx context.Context, id skald.Identity, raw string, abstract bool,
) (folder skald.URI, text string, err error) {
	err = f.look(ctx, id, raw, func(v view.View, uri skald.URI) error {
		n, err := v.Stat(uri)
		if err != nil {
			return err
		}
		if folder = n.URI; !n.Dir {
			folder = folder.Parent()
			if n, err = v.Stat(folder); err != nil {
				return err
			}
		}
		a, o, err := digest(v, n)
		if text = o; abstract {
			text = a
		}
		return err
	})
	return folder, text, err
}

// digest is the L0 and L1 of a folder.
func digest(v view.View, n view.Node) (abstract, overview string, err error) {
	if n.Kind != view.Folder {
		return other(v, n)
	}
	stale, err := tree.IsStale(v.Tx, n.Scope, n.URI)
	if err != nil || !stale {
		return n.Abstract, n.Overview, err
	}
	stored, err := v.Tx.File(n.Scope, n.URI)
	if err != nil {
		return "", "", err
	}
	stored, _, err = tree.Fresh(v.Tx, stored)
	return stored.Abstract, stored.Overview, err
}

// other is the digest of a folder that is not stored as one: an archive has its own, a scope's root one of the files right below it.
func other(v view.View, n view.Node) (abstract, overview string, err error) {
	if n.Kind == view.Space && n.Scope.Account != "" {
		list, err := v.Tx.Files(skald.FileQuery{Scopes: []skald.Scope{n.Scope}, Under: n.URI, Direct: true})
		if err != nil || len(list) == 0 {
			return "", "", err
		}
		abstract, overview = tree.Digest(n.URI, list)
		return abstract, overview, nil
	}
	children, err := v.Children(n.URI)
	for _, c := range children {
		if err != nil || !view.IsText(c.URI) {
			continue
		}
		var b []byte
		if b, err = v.Read(c.URI); c.Name == tree.AbstractName {
			abstract = string(b)
		} else {
			overview = string(b)
		}
	}
	return abstract, overview, err
}

func invalid(uri skald.URI, format string, args ...any) error {
	return skald.Invalid("files", "uri", "%s "+format, append([]any{uri}, args...)...)
}
