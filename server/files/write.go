package files

import (
	"bytes"
	"context"
	"mime"
	"path"
	"strings"
	"unicode/utf8"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/memory"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/tree"
	"github.com/skald-engine/skald/tree/view"
)

// Write implements api.Files.
func (f *Files) Write(ctx context.Context, id skald.Identity, list []api.Change) (done []api.Changed, err error) {
	uris := make([]skald.URI, len(list))
	for i, c := range list {
		if uris[i], err = f.parse(id, c.URI); err != nil {
			return nil, err
		}
	}
	err = f.store.Update(ctx, func(tx skald.Tx) error {
		done = make([]api.Changed, 0, len(list))
		for i, c := range list {
			one, err := f.write(f.view(tx, id), uris[i], c)
			if err != nil {
				return err
			}
			done = append(done, one)
		}
		return nil
	})
	if err == nil {
		f.changed()
	}
	return done, err
}

// WriteBelow implements api.Files.
func (f *Files) WriteBelow(ctx context.Context, id skald.Identity, root skald.URI, list []api.Change) ([]api.Changed, error) {
	seen := map[skald.URI]bool{}
	for _, c := range list {
		uri, err := f.parse(id, c.URI)
		switch {
		case err != nil:
			return nil, err
		case !strings.HasPrefix(string(uri), strings.TrimRight(string(root), "/")+"/"):
			return nil, invalid(uri, "lies outside root_uri")
		case seen[uri]:
			return nil, invalid(uri, "stands twice in the batch")
		}
		seen[uri] = true
	}
	return f.Write(ctx, id, list)
}

// write makes one change: a memory below memories/, a folder's text under its reserved name, else a file.
func (f *Files) write(v view.View, uri skald.URI, c api.Change) (api.Changed, error) {
	p, err := writable(v, uri)
	if err != nil {
		return api.Changed{}, err
	}
	old, err := v.Stat(uri)
	exists := err == nil
	switch {
	case err != nil && skald.KindOf(err) != skald.KindNotFound:
		return api.Changed{}, err
	case exists && old.Dir:
		return api.Changed{}, invalid(uri, "is a folder: only files are written")
	case !exists && c.Text:
		if err := mayMake(uri); err != nil {
			return api.Changed{}, err
		}
	case exists && c.Mode == api.ModeCreate && old.Kind != view.Text:
		return api.Changed{}, there("files.write", skald.KindExists, uri)
	}
	content := c.Content
	if c.Mode == api.ModeAppend && exists {
		before, err := v.Body(uri)
		if err != nil {
			return api.Changed{}, err
		}
		content = append(bytes.Clone(before), content...)
	}
	if len(content) > MaxContent {
		return api.Changed{}, invalid(uri, "is larger than %d MB: split it, or import it as a resource", MaxContent>>20)
	}
	done, err := f.put(v, p, uri, exists, content)
	if tags := Tags(c.Tags); err == nil && len(tags) > 0 {
		if _, err = setTags(v, done.Node, tagged(done.Node.Tags, tags, c.TagAdd)); err == nil {
			done.Node, err = v.Stat(uri)
		}
	}
	return done, err
}

// there says that something stands where something is to be made.
func there(op string, kind skald.Kind, uri skald.URI) error {
	e := skald.E(op, kind, "%s exists already: replace it, or choose another name", uri)
	e.Field = "uri"
	return e
}

func (f *Files) put(v view.View, p view.Place, uri skald.URI, exists bool, content []byte) (api.Changed, error) {
	done := api.Changed{Created: !exists}
	if exists {
		before, err := v.Body(uri)
		if err != nil {
			return done, err
		}
		done.Same = bytes.Equal(before, content)
	}
	var err error
	switch {
	case done.Same:
	case view.IsText(uri):
		err = f.putText(v.Tx, p, uri, string(content))
	case p.InMemories():
		err = f.putMemory(v.Tx, p, uri, string(content))
	default:
		err = f.putFile(v.Tx, p, uri, content)
	}
	if err == nil {
		done.Node, err = v.Stat(uri)
	}
	return done, err
}

// putFile keeps the tags and the source of a file that stands there.
func (f *Files) putFile(tx skald.Tx, p view.Place, uri skald.URI, content []byte) error {
	x, err := tx.File(p.Scope, uri)
	if err != nil && skald.KindOf(err) != skald.KindNotFound {
		return err
	}
	x.Scope, x.URI, x.Body, x.Abstract, x.Modified = p.Scope, uri, content, "", f.engine.Now()
	x.Media = media(uri, content)
	return tree.Put(tx, x)
}

func media(uri skald.URI, content []byte) string {
	if m := mime.TypeByExtension(path.Ext(uri.Name())); m != "" {
		return m
	}
	if utf8.Valid(content) {
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}

// putText gives a folder a text that its children don't change.
func (f *Files) putText(tx skald.Tx, p view.Place, uri skald.URI, text string) error {
	folder, err := tx.File(p.Scope, uri.Parent())
	if err != nil {
		return err
	}
	if !folder.Dir {
		return invalid(uri, "is a text that only folders have")
	}
	if uri.Name() == tree.AbstractName {
		folder = tree.Authored(folder, &text, nil)
	} else {
		folder = tree.Authored(folder, nil, &text)
	}
	folder.Modified = f.engine.Now()
	return tree.Put(tx, folder)
}

// putMemory stores a memory whose type is the folder that it stands in. OpenViking's own fields at the end of its files are left out.
func (f *Files) putMemory(tx skald.Tx, p view.Place, uri skald.URI, text string) error {
	within := p.Path[1:]
	if len(within) == 0 || path.Ext(uri.Name()) != ".md" {
		return invalid(uri, "is no memory: those are files memories/<type>/<name>.md, or memories/profile.md")
	}
	if !utf8.ValidString(text) {
		return skald.Invalid("files.write", "content", "a memory is UTF-8 text")
	}
	body, _, _ := strings.Cut(text, "<!-- MEMORY_FIELDS")
	kind := strings.TrimSuffix(within[0], ".md")
	_, err := memory.Write(tx, skald.Memory{URI: uri, Scope: p.Scope, Type: skald.MemoryType(kind), Text: strings.TrimRight(body, " \n")},
		f.engine.Now())
	return err
}

// Mkdir implements api.Files. KindConflict when something stands there.
func (f *Files) Mkdir(ctx context.Context, id skald.Identity, raw, description string) (made skald.URI, err error) {
	err = f.change(ctx, id, raw, func(v view.View, uri skald.URI) error {
		made = uri
		p, err := writable(v, uri)
		if err != nil {
			return err
		}
		n, err := v.Stat(uri)
		switch {
		case err == nil && n.Kind != view.Space:
			return there("files.mkdir", skald.KindConflict, uri)
		case err != nil && skald.KindOf(err) != skald.KindNotFound:
			return err
		case view.IsText(uri):
			return invalid(uri, "is the reserved name of a folder's text")
		}
		x := skald.File{Scope: p.Scope, URI: uri, Dir: true, Modified: f.engine.Now()}
		if description = strings.TrimSpace(description); description != "" {
			x = tree.Authored(x, &description, nil)
		}
		return tree.Put(v.Tx, x)
	})
	return made, err
}
