package files

import (
	"context"
	"encoding/json"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/memory"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/tree"
	"github.com/skald-engine/skald/tree/pack"
	"github.com/skald-engine/skald/tree/view"
)

var packLimits = pack.Limits{Files: 200_000, File: MaxContent, Total: 4 << 30}

// Import implements api.Files. A pack goes into a folder of the scope that it came from; what stands there in its place is left, replaced
// as a whole, or makes it fail with KindConflict.
func (f *Files) Import(ctx context.Context, id skald.Identity, parent, onConflict string, r io.ReaderAt, size int64) (skald.URI, error) {
	folder, err := f.parse(id, parent)
	if err != nil {
		return "", err
	}
	p, err := pack.Open(r, size, packLimits)
	if err != nil {
		return "", err
	}
	target := join(folder, p.Root.Name)
	if _, err := f.parse(id, string(target)); err != nil {
		return "", err
	}
	scope, _, _ := strings.Cut(strings.TrimPrefix(string(target), string(skald.Root)), "/")
	switch {
	case p.Root.Whole():
		return "", skald.Invalid("pack.import", "pack", "this is a backup: restore it")
	case p.Root.Scope != "" && p.Root.Scope != scope:
		return "", skald.Invalid("pack.import", "parent", "the pack is of %s, and %s is of %s", p.Root.Scope, folder, scope)
	}
	x := importing{files: f, ctx: ctx, id: id, conflict: onConflict, root: target}
	return target, x.run(p)
}

// Restore implements api.Files: every node of the pack goes to where it came from. What the pack does not name stays.
func (f *Files) Restore(ctx context.Context, id skald.Identity, onConflict string, r io.ReaderAt, size int64) error {
	p, err := pack.Open(r, size, packLimits)
	if err != nil {
		return err
	}
	if !p.Root.Whole() {
		return skald.Invalid("pack.restore", "pack", "only a backup is restored: import this pack into a folder")
	}
	x := importing{files: f, ctx: ctx, id: id, conflict: onConflict, root: skald.Root, whole: true}
	return x.run(p)
}

// importing is one pack that is read.
type importing struct {
	files    *Files
	ctx      context.Context
	id       skald.Identity
	conflict string
	root     skald.URI
	whole    bool                  // a backup: spaces of other users too, node by node
	sessions map[skald.URI]*record // by the URI of the session's folder
	texts    map[skald.URI][2]string
}

// run stores all but the sessions in one transaction, then the sessions, each by the way that messages always take.
func (x *importing) run(p *pack.Pack) error {
	skipped := false
	err := x.files.store.Update(x.ctx, func(tx skald.Tx) (err error) {
		x.sessions, x.texts = map[skald.URI]*record{}, map[skald.URI][2]string{}
		if skipped, err = x.clear(tx); err != nil || skipped {
			return err
		}
		for _, e := range p.Entries {
			if err := x.entry(tx, e); err != nil {
				return err
			}
		}
		return x.authored(tx)
	})
	if err != nil || skipped {
		return err
	}
	x.files.changed()
	return x.restoreSessions()
}

// clear makes room where a pack of a folder goes.
func (x *importing) clear(tx skald.Tx) (skip bool, err error) {
	if x.whole {
		return false, nil
	}
	v := x.files.view(tx, x.id)
	n, err := v.Stat(x.root)
	switch {
	case skald.KindOf(err) == skald.KindNotFound || err == nil && n.Kind == view.Space:
		return false, nil
	case err != nil || x.conflict == api.ConflictSkip:
		return true, err
	case x.conflict != api.ConflictOverwrite:
		return false, taken(x.root)
	}
	p, _ := v.Place(x.root)
	if _, err := x.files.forget(v, p, x.root); err != nil {
		return false, err
	}
	_, err = tree.Delete(tx, p.Scope, x.root)
	return false, err
}

func taken(uri skald.URI) error {
	return skald.E("pack.import", skald.KindConflict, "%s exists already: use on_conflict overwrite to replace it, or skip to leave it",
		uri)
}

// look is the view that a node of the pack is written through: in a backup, its owner's.
func (x *importing) look(tx skald.Tx, uri skald.URI) (view.View, view.Place, error) {
	v := x.files.view(tx, x.id)
	parts := strings.Split(strings.TrimPrefix(string(uri), string(skald.Root)), "/")
	if x.whole && len(parts) > 1 {
		v.ID.Peer = ""
		switch {
		case parts[0] == "user":
			v.ID.User = parts[1]
		case parts[0] == "agent" && parts[1] != "skills":
			v.ID.Agent = parts[1]
		}
		if len(parts) > 3 && parts[0] == "user" && parts[2] == "agent" {
			v.ID.Agent, v.ID.Policy = parts[3], &skald.Policy{IsolateUserScopeByAgent: true}
		}
		if len(parts) > 3 && parts[0] == "agent" && parts[2] == "user" {
			v.ID.User, v.ID.Policy = parts[3], &skald.Policy{IsolateAgentScopeByUser: true}
		}
	}
	p, ok := v.Place(uri)
	if !ok {
		return v, p, &skald.Error{Op: "pack.import", URI: string(uri), Field: "pack", Kind: skald.KindPermission, Err: errOutside}
	}
	return v, p, nil
}

func (x *importing) uri(e pack.Entry) skald.URI {
	return join(x.root, e.Path)
}

func (x *importing) entry(tx skald.Tx, e pack.Entry) error {
	uri := x.uri(e)
	if err := x.ctx.Err(); err != nil {
		return err
	}
	v, p, err := x.look(tx, uri)
	if err != nil {
		return err
	}
	switch {
	case p.Above, len(p.Path) == 0, len(p.Path) > maxDepth:
		return nil
	case p.InSessions():
		return x.session(p, uri, e)
	case e.Dir && (p.InMemories() || x.conventional(v, uri)):
		return nil
	case e.Dir:
		return x.dir(v, p, uri)
	}
	body, err := e.Read()
	if err != nil {
		return err
	}
	return x.node(v, p, uri, body)
}

// conventional reports a folder that exists without being stored.
func (x *importing) conventional(v view.View, uri skald.URI) bool {
	n, err := v.Stat(uri)
	return err == nil && n.Kind == view.Space
}

func (x *importing) dir(v view.View, p view.Place, uri skald.URI) error {
	if _, err := v.Tx.File(p.Scope, uri); skald.KindOf(err) != skald.KindNotFound {
		return err
	}
	return tree.Put(v.Tx, skald.File{Scope: p.Scope, URI: uri, Dir: true, Modified: x.files.engine.Now()})
}

// node writes a file of the pack where the conflict rule lets it.
func (x *importing) node(v view.View, p view.Place, uri skald.URI, body []byte) error {
	if view.IsText(uri) {
		texts := x.texts[uri.Parent()]
		texts[slices.Index([]string{tree.AbstractName, tree.OverviewName}, uri.Name())] = plain(string(body))
		x.texts[uri.Parent()] = texts
		return nil
	}
	if strings.HasPrefix(uri.Name(), ".") {
		return nil // bookkeeping of the server that made the pack
	}
	if x.whole {
		_, err := v.Stat(uri)
		switch {
		case err == nil && x.conflict == api.ConflictSkip:
			return nil
		case err == nil && x.conflict != api.ConflictOverwrite:
			return taken(uri)
		case err != nil && skald.KindOf(err) != skald.KindNotFound:
			return err
		}
	}
	if p.InMemories() && path.Ext(uri.Name()) == ".md" {
		return x.memory(v.Tx, p, uri, string(body))
	}
	return x.files.putFile(v.Tx, p, uri, body)
}

// memory stores a memory with the times and tags that stand in its fields.
func (x *importing) memory(tx skald.Tx, p view.Place, uri skald.URI, text string) error {
	body, comment, found := strings.Cut(text, fieldsStart)
	if strings.TrimSpace(body) == "" {
		return nil
	}
	if err := x.files.putMemory(tx, p, uri, text); err != nil || !found {
		return err
	}
	var known fields
	_ = json.Unmarshal([]byte(strings.TrimSuffix(strings.TrimSpace(comment), fieldsEnd)), &known) // not readable: without them
	m, err := tx.Memory(p.Scope, uri)
	if err != nil {
		return err
	}
	m.Created, m.Updated = moment(known.Created, m.Created), moment(known.Updated, m.Updated)
	if m.Updated.Before(m.Created) {
		m.Updated = m.Created
	}
	m.Tags = Tags(known.Tags)
	return memory.Index(tx, m)
}

func moment(text string, other time.Time) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	return other
}

// plain is a folder's text without the front matter that OpenViking writes.
func plain(text string) string {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok || !strings.HasPrefix(rest, "directory:") {
		return text
	}
	if _, body, ok := strings.Cut(rest, "\n---\n"); ok {
		return strings.TrimSpace(body)
	}
	return text
}

// authored gives the folders their texts, after their children.
func (x *importing) authored(tx skald.Tx) error {
	for uri, texts := range x.texts {
		_, p, err := x.look(tx, uri)
		if err != nil {
			return err
		}
		folder, err := tx.File(p.Scope, uri)
		if skald.KindOf(err) == skald.KindNotFound || err == nil && !folder.Dir {
			continue // a scope's root, or a folder of memories: they have no texts here
		}
		if err != nil {
			return err
		}
		folder = tree.Authored(folder, &texts[0], &texts[1])
		if err := tree.Put(tx, folder); err != nil {
			return err
		}
	}
	return nil
}
