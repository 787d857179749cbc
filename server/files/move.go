package files

import (
	"context"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/tree"
	"github.com/skald-engine/skald/tree/view"
)

// Move implements api.Files: files and folders move with their index, in one transaction. Onto a file goes a file, into a folder that is
// there already goes what a folder holds. Memories and sessions don't move: their URIs stand in what was said and recalled.
func (f *Files) Move(ctx context.Context, id skald.Identity, from, to string) (fromURI, toURI skald.URI, err error) {
	if toURI, err = f.parse(id, to); err != nil {
		return "", "", err
	}
	err = f.change(ctx, id, from, func(v view.View, uri skald.URI) error {
		fromURI = uri
		if err := f.movable(v, uri, toURI); err != nil {
			return err
		}
		return move(v, uri, toURI)
	})
	return fromURI, toURI, err
}

// Replace is Move, but what stands where it goes is deleted first, in the same transaction.
func (f *Files) Replace(ctx context.Context, id skald.Identity, from, to string) error {
	toURI, err := f.parse(id, to)
	if err != nil {
		return err
	}
	return f.change(ctx, id, from, func(v view.View, uri skald.URI) error {
		if err := f.movable(v, uri, toURI); err != nil {
			return err
		}
		n, err := v.Stat(toURI)
		switch {
		case err == nil && n.Kind != view.File && n.Kind != view.Folder:
			return &skald.Error{Op: "files.move", URI: string(toURI), Field: "to_uri", Kind: skald.KindPermission, Err: errRoot}
		case err == nil:
			target, _ := v.Place(toURI)
			_, err = tree.Delete(v.Tx, target.Scope, toURI)
		case skald.KindOf(err) == skald.KindNotFound:
			err = nil
		}
		if err != nil {
			return err
		}
		return move(v, uri, toURI)
	})
}

// Copy implements api.Files, by the rules of Move.
func (f *Files) Copy(ctx context.Context, id skald.Identity, from, to string) (toURI skald.URI, count int, err error) {
	if toURI, err = f.parse(id, to); err != nil {
		return "", 0, err
	}
	err = f.change(ctx, id, from, func(v view.View, uri skald.URI) error {
		if err := f.movable(v, uri, toURI); err != nil {
			return err
		}
		count, err = duplicate(v, uri, toURI)
		return err
	})
	return toURI, count, err
}

func (f *Files) movable(v view.View, from, to skald.URI) error {
	n, err := v.Stat(from)
	switch {
	case err != nil:
		return err
	case n.Kind == view.Space, !v.ID.MayChange(from), !v.ID.MayChange(to):
		return &skald.Error{Op: "files.move", URI: string(from), Field: "from_uri", Kind: skald.KindPermission, Err: errRoot}
	case n.Kind != view.File && n.Kind != view.Folder:
		return skald.E("files.move", skald.KindUnsupported, "only files and folders move: write what %s holds elsewhere and delete it",
			from)
	case from == to:
		return skald.Invalid("files.move", "to_uri", "source and target must be different")
	case strings.HasPrefix(string(to), string(from)+"/"), strings.HasPrefix(string(from), string(to)+"/"):
		return skald.Invalid("files.move", "to_uri", "source and target subtrees must not overlap")
	}
	if _, err := writable(v, from); err != nil {
		return err
	}
	p, err := writable(v, to)
	switch {
	case err != nil:
		return err
	case p.InMemories():
		return skald.E("files.move", skald.KindUnsupported, "a file does not become a memory by moving: write its content there")
	case view.IsText(to):
		return invalid(to, "is the reserved name of a folder's text")
	}
	parent, err := v.Stat(to.Parent())
	if err == nil && !parent.Dir {
		return invalid(to.Parent(), "is a file, not a folder")
	}
	return err
}

func move(v view.View, from, to skald.URI) error {
	if _, err := duplicate(v, from, to); err != nil {
		return err
	}
	source, _ := v.Place(from)
	_, err := tree.Delete(v.Tx, source.Scope, from)
	return err
}

// duplicate stores a node and all below it under another URI, and counts what it stored.
func duplicate(v view.View, from, to skald.URI) (int, error) {
	source, _ := v.Place(from)
	target, _ := v.Place(to)
	below, err := v.Tx.Files(skald.FileQuery{Scopes: []skald.Scope{source.Scope}, Under: from})
	if err != nil {
		return 0, err
	}
	uris := []skald.URI{from}
	for _, x := range below {
		uris = append(uris, x.URI)
	}
	for _, uri := range uris {
		x, err := v.Tx.File(source.Scope, uri)
		if err != nil {
			return 0, err
		}
		x.Scope, x.URI = target.Scope, to+uri[len(from):]
		if strings.Count(string(x.URI), "/")-2 > maxDepth {
			return 0, invalid(x.URI, "is deeper than %d folders", maxDepth)
		}
		if err := tree.Put(v.Tx, x); err != nil {
			return 0, err
		}
	}
	return len(uris), nil
}
