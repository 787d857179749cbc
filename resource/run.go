package resource

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/resource/fetch"
	"github.com/skald-engine/skald/resource/parse"
	"github.com/skald-engine/skald/tree"
)

// Bounds of one transaction.
const (
	batchNodes = 64
	batchBytes = 4 << 20
)

// run is one import under way.
type run struct {
	s       *Service
	scope   skald.Scope
	root    skald.URI
	request Request
	source  *fetch.Source
	before  before
	out     Outcome
	note    func(stage string) error

	pending []change
	bytes   int
	kept    map[string]bool // source files that are there
}

// change is what one source file changes: nodes to write, and nodes that are no longer made of it.
type change struct {
	nodes []skald.File
	gone  []skald.URI
}

// all imports every file, then removes what is gone.
func (r *run) all(ctx context.Context) error {
	err := r.s.store.View(ctx, func(tx skald.Tx) (err error) {
		r.before, err = look(tx, r.scope, r.root)
		return err
	})
	if err != nil {
		return err
	}
	r.kept = map[string]bool{}
	places := place(r.before, r.root, r.source, r.request.Flat)
	r.out.Meta.Files, r.out.Meta.Revision = len(r.source.Files), r.source.Revision
	if !r.source.Single {
		r.out.Meta.Name = r.source.Name
	}
	for i, f := range r.source.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.file(ctx, f, places[f.Path]); err != nil {
			return err
		}
		if len(r.pending) >= batchNodes || r.bytes >= batchBytes {
			if err := r.flush(ctx, fmt.Sprintf("writing %d/%d", i+1, len(r.source.Files))); err != nil {
				return err
			}
		}
	}
	if err := r.flush(ctx, "writing"); err != nil {
		return err
	}
	if r.source.Single && len(r.out.Errors) > 0 || len(r.source.Files) == 0 {
		return r.empty()
	}
	if err := r.remove(ctx); err != nil {
		return err
	}
	return r.finish(ctx)
}

// empty is an import that brought nothing: the one file could not be read, or there was none.
func (r *run) empty() error {
	if len(r.out.Errors) > 0 {
		r.out.Parsing = true
		return skald.Invalid("resource.import", "", "%s", r.out.Errors[0])
	}
	return skald.Invalid("resource.import", "path", "%s holds no file to import", r.source.Origin)
}

// file reads one file unless it is unchanged. A file that cannot be read is an error of the import when it is strict, and named otherwise; what an
// earlier import made of it stays.
func (r *run) file(ctx context.Context, f fetch.File, at skald.URI) error {
	r.kept[f.Path] = true
	body, err := f.Read(maxFile)
	if err != nil {
		return r.fault(ctx, f, err)
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	if old := r.before.first(f.Path); old != nil {
		m := markOf(*old)
		if m.Hash == hash && m.Way == r.request.way() && slices.Equal(old.Tags, r.tags(*old)) {
			r.out.Meta.Unchanged++
			handle(&r.out.Meta.Processed, Handled{Path: f.Path, Parser: m.Kind})
			return nil
		}
	}
	d, err := parse.File(ctx, parse.Input{Name: f.Path[lastSlash(f.Path):], Media: f.Media, URL: f.URL, Body: body})
	if err != nil {
		return r.fault(ctx, f, err)
	}
	for _, n := range d.Notes {
		r.warn("%s: %s", f.Path, n)
	}
	handle(&r.out.Meta.Processed, Handled{Path: f.Path, Parser: d.Parser})
	r.take(f, render(r.scope, r.root, at, f, hash, body, d, r.request))
	return nil
}

func lastSlash(p string) int {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] == '/' {
			return i + 1
		}
	}
	return 0
}

func (r *run) warn(format string, args ...any) {
	if len(r.out.Warnings) < maxHandled {
		r.out.Warnings = append(r.out.Warnings, fmt.Sprintf(format, args...))
	}
}

// fault books a file that cannot be read. An error of the surroundings (the end of the job) is returned.
func (r *run) fault(ctx context.Context, f fetch.File, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var own *skald.Error
	text := err.Error()
	if errors.As(err, &own) && own.Err != nil {
		text = own.Err.Error()
	}
	if skald.KindOf(err) == skald.KindUnsupported && !r.source.Single {
		handle(&r.out.Meta.Unsupported, Handled{Path: f.Path, Reason: text})
		r.warn("%s", text)
	} else {
		handle(&r.out.Meta.Failed, Handled{Path: f.Path, Reason: text})
		if len(r.out.Errors) < maxHandled {
			r.out.Errors = append(r.out.Errors, text)
		}
	}
	if r.request.Strict {
		r.out.Parsing = true
		return skald.Invalid("resource.import", "", "%s (strict: nothing further was imported)", text)
	}
	return nil
}

// tags is what the tags of a node become. An import without tags leaves those that are there.
func (r *run) tags(old skald.File) []string {
	switch {
	case len(r.request.Tags) == 0:
		return old.Tags
	case !r.request.AppendTags:
		return r.request.Tags
	}
	tags := slices.Clone(old.Tags)
	for _, t := range r.request.Tags {
		if !slices.Contains(tags, t) {
			tags = append(tags, t)
		}
	}
	return tags
}

// take notes what a file changes.
func (r *run) take(f fetch.File, nodes []skald.File) {
	old := map[skald.URI]skald.File{}
	for _, n := range r.before.nodes[f.Path] {
		old[n.URI] = n
	}
	var c change
	for _, n := range nodes {
		n.Source = r.source.Origin
		if before, ok := old[n.URI]; ok {
			n.Tags = r.tags(before)
			delete(old, n.URI)
		}
		c.nodes = append(c.nodes, n)
		r.bytes += len(n.Body)
	}
	for uri, n := range old {
		if uri != r.root && !n.Dir {
			c.gone = append(c.gone, uri)
		}
	}
	slices.Sort(c.gone)
	if r.before.first(f.Path) != nil {
		r.out.Meta.Updated++
	} else {
		r.out.Meta.Created++
	}
	r.out.Meta.Entries += len(nodes)
	r.pending = append(r.pending, c)
}

// flush writes what is pending in one transaction.
func (r *run) flush(ctx context.Context, stage string) error {
	if len(r.pending) > 0 {
		now := r.s.now()
		err := r.s.store.Update(ctx, func(tx skald.Tx) error {
			for _, c := range r.pending {
				if err := r.apply(tx, c, now); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		r.pending, r.bytes = r.pending[:0], 0
	}
	return r.note(stage)
}

func (r *run) apply(tx skald.Tx, c change, now time.Time) error {
	for _, uri := range c.gone {
		if _, err := tree.Delete(tx, r.scope, uri); err != nil {
			return err
		}
		if err := r.prune(tx, uri.Parent()); err != nil {
			return err
		}
	}
	for _, n := range c.nodes {
		n.Modified = now
		if err := tree.Put(tx, n); err != nil {
			return err
		}
	}
	return nil
}

// remove takes away what earlier imports made of files that are gone, and folders that are empty then.
func (r *run) remove(ctx context.Context) error {
	var gone []string
	for from := range r.before.nodes {
		if !r.kept[from] {
			gone = append(gone, from)
		}
	}
	slices.Sort(gone)
	for batch := range slices.Chunk(gone, batchNodes) {
		err := r.s.store.Update(ctx, func(tx skald.Tx) error {
			for _, from := range batch {
				if err := r.removeFile(tx, from); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		r.out.Meta.Removed += len(batch)
		if err := r.note("removing"); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) removeFile(tx skald.Tx, from string) error {
	nodes := r.before.nodes[from]
	for _, n := range slices.Backward(nodes) { // files before the folder that they stand in
		if n.URI == r.root {
			continue
		}
		now, err := tx.File(r.scope, n.URI)
		if skald.KindOf(err) == skald.KindNotFound {
			continue
		}
		if err != nil {
			return err
		}
		if m := markOf(now); m.From != from || m.Root != r.root { // another file's by now, or somebody's own
			continue
		}
		if !n.Dir {
			if _, err := tree.Delete(tx, r.scope, n.URI); err != nil {
				return err
			}
		}
		folder := n.URI
		if !n.Dir {
			folder = n.URI.Parent()
		}
		if err := r.prune(tx, folder); err != nil {
			return err
		}
	}
	return nil
}

// prune removes a folder that has become empty, and those above it, up to the root.
func (r *run) prune(tx skald.Tx, folder skald.URI) error {
	for len(folder) > len(r.root) {
		left, err := tx.Files(skald.FileQuery{Scopes: []skald.Scope{r.scope}, Under: folder, Limit: 1})
		if err != nil || len(left) > 0 {
			return err
		}
		if _, err := tree.Delete(tx, r.scope, folder); err != nil {
			return err
		}
		folder = folder.Parent()
	}
	return nil
}

// finish writes the root's own mark, and brings the texts of the folders up to date.
func (r *run) finish(ctx context.Context) error {
	if err := r.note("overviews"); err != nil {
		return err
	}
	now := r.s.now()
	err := r.s.store.Update(ctx, func(tx skald.Tx) error {
		f, err := tx.File(r.scope, r.root)
		if err != nil {
			return err
		}
		changed := withRoot(f, r)
		if string(changed.Extra) == string(f.Extra) && slices.Equal(changed.Tags, f.Tags) && changed.Source == f.Source {
			return nil
		}
		if r.out.Meta.Created+r.out.Meta.Updated+r.out.Meta.Removed > 0 {
			changed.Modified = now
		}
		return tree.Put(tx, changed)
	})
	if err != nil {
		return err
	}
	for {
		n := 0
		err := r.s.store.Update(ctx, func(tx skald.Tx) (err error) {
			n, err = tree.Refresh(tx, []skald.Scope{r.scope}, batchNodes, now)
			return err
		})
		if err != nil || n == 0 {
			return err
		}
	}
}

// withRoot is the root with what is known of its import; what others keep in Extra stays.
func withRoot(f skald.File, r *run) skald.File {
	m := markOf(f)
	m.Root, m.Source, m.Reason, m.Instruction, m.Revision = r.root, r.source.Origin, r.request.Reason, r.request.Instruction, r.source.Revision
	f.Extra = merged(f.Extra, m)
	f.Source = r.source.Origin
	f.Tags = r.tags(f)
	return f
}
