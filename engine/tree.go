package engine

import (
	"context"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/tree/view"
)

const (
	maxTreeDepth   = 6
	maxTreeEntries = 10_000
)

// List implements skald.Inspector.
func (e *Engine) List(ctx context.Context, id skald.Identity, uri string, depth int) ([]skald.FileInfo, error) {
	canonical, err := skald.ParseURI(uri, id, e.opts.Policy)
	if err != nil {
		return nil, err
	}
	var files []skald.FileInfo
	err = e.store.View(ctx, func(tx skald.Tx) error {
		files = []skald.FileInfo{}
		err := e.look(tx, id).Walk(canonical, clamp(depth, 1, maxTreeDepth), func(n view.Node) error {
			if files = append(files, n.FileInfo); len(files) >= maxTreeEntries {
				return errEnough
			}
			return ctx.Err()
		})
		if err == error(errEnough) {
			return nil
		}
		return err
	})
	return files, err
}

// errEnough ends a listing that is long enough.
var errEnough = skald.E("ls", skald.KindInternal, "enough")

// Read implements skald.Inspector.
func (e *Engine) Read(ctx context.Context, id skald.Identity, uri string) (text string, err error) {
	canonical, err := skald.ParseURI(uri, id, e.opts.Policy)
	if err != nil {
		return "", err
	}
	err = e.store.View(ctx, func(tx skald.Tx) error {
		b, err := e.look(tx, id).Read(canonical)
		text = string(b)
		return err
	})
	return text, err
}

func (e *Engine) look(tx skald.Tx, id skald.Identity) view.View {
	return view.View{Tx: tx, Policy: e.opts.Policy, ID: id}
}

func below(uri, folder skald.URI) (rel string, ok bool) {
	prefix := string(folder)
	if folder != skald.Root {
		prefix += "/"
	}
	return strings.CutPrefix(string(uri), prefix)
}
