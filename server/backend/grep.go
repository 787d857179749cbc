package backend

import (
	"context"
	"errors"
	"strings"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
)

// Grep implements api.Backend: it searches memories, overviews and turns, all of them, until the limit of matches is reached
// (SRC-05). A turn is a line of its messages.jsonl, in the archive's folder once it is archived; it is matched by its words, not
// by its JSON. What was forgotten is not found.
func (b *Backend) Grep(ctx context.Context, id skald.Identity, q api.GrepQuery) (out api.GrepResult, err error) {
	g := grep{query: q, scopes: b.scopes(id)}
	if g.root, err = skald.ParseURI(q.URI, id, b.engine.Policy()); err != nil {
		return out, err
	}
	if q.Exclude != "" {
		if g.exclude, err = skald.ParseURI(q.Exclude, id, b.engine.Policy()); err != nil {
			return out, err
		}
	}
	err = b.store.View(ctx, func(tx skald.Tx) error {
		if _, err := b.stat(tx, id, g.root); err != nil {
			return err
		}
		g.ctx, g.result = ctx, api.GrepResult{}
		return g.walk(tx)
	})
	if errors.Is(err, errFull) {
		err = nil
	}
	return g.result, err
}

// grep is one search under way.
type grep struct {
	ctx           context.Context
	query         api.GrepQuery
	scopes        []skald.Scope
	root, exclude skald.URI
	result        api.GrepResult
}

// errFull ends the walk: the limit of matches is reached.
var errFull = skald.E("grep", skald.KindInternal, "enough")

// wants reports a file that lies in what is asked for, and counts it.
func (g *grep) wants(uri skald.URI) bool {
	if g.exclude != "" && under(uri, g.exclude) || !under(uri, g.root) {
		return false
	}
	depth := strings.Count(strings.TrimPrefix(string(uri), strings.TrimRight(string(g.root), "/")), "/")
	if g.query.Levels > 0 && depth > g.query.Levels {
		return false
	}
	g.result.Files++
	return true
}

// crosses reports a folder in which something that is asked for may lie.
func (g *grep) crosses(folder skald.URI) bool {
	return (under(folder, g.root) || under(g.root, folder)) && (g.exclude == "" || !under(folder, g.exclude))
}

// under reports that a URI is a folder or lies below it.
func under(uri, folder skald.URI) bool {
	return uri == folder || strings.HasPrefix(string(uri), strings.TrimRight(string(folder), "/")+"/")
}

// text matches the lines of a file.
func (g *grep) text(uri skald.URI, text string) error {
	if !g.wants(uri) {
		return nil
	}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if err := g.line(uri, n, line); err != nil {
			return err
		}
	}
	return nil
}

func (g *grep) line(uri skald.URI, n int, line string) error {
	line = strings.TrimRight(line, "\r\n")
	if !g.query.Pattern.MatchString(line) {
		return nil
	}
	g.result.Matches = append(g.result.Matches, api.GrepMatch{URI: uri, Line: n, Content: line})
	if g.query.Limit > 0 && len(g.result.Matches) >= g.query.Limit {
		return errFull
	}
	return nil
}
