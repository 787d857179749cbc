package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/memory"
)

// The viking:// tree is a view over the store: sessions with their turns and archives, and memories by type.

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
	files := []skald.FileInfo{}
	err = e.store.View(ctx, func(tx skald.Tx) error {
		all, err := e.tree(tx, id)
		if err != nil {
			return err
		}
		found := canonical == skald.Root
		for _, f := range all {
			rel, ok := below(f.URI, canonical)
			if f.URI == canonical {
				found = true
			}
			if !ok || len(files) >= maxTreeEntries {
				continue
			}
			if f.Depth = strings.Count(rel, "/") + 1; f.Depth <= clamp(depth, 1, maxTreeDepth) {
				files = append(files, f)
			}
		}
		if !found && len(files) == 0 && !emptyFolder(canonical, id, e.opts.Policy) {
			return skald.NotFound("ls", string(canonical))
		}
		return nil
	})
	return files, err
}

func below(uri, folder skald.URI) (rel string, ok bool) {
	prefix := string(folder)
	if folder != skald.Root {
		prefix += "/"
	}
	return strings.CutPrefix(string(uri), prefix)
}

// emptyFolder reports a folder that exists by convention though nothing is in it yet.
func emptyFolder(uri skald.URI, id skald.Identity, policy skald.Policy) bool {
	for _, scope := range policy.Readable(id) {
		root := scope.RootURI()
		if uri == root || uri == root.Join("memories") || uri == root.Join("sessions") {
			return true
		}
	}
	return false
}

// tree lists everything that the identity may see, folders included, in order of URI.
func (e *Engine) tree(tx skald.Tx, id skald.Identity) ([]skald.FileInfo, error) {
	t := &treeBuilder{files: map[skald.URI]skald.FileInfo{}}
	scopes := e.opts.Policy.Readable(id)
	for _, scope := range scopes {
		t.folder(scope.RootURI())
	}
	memories, err := tx.Memories(skald.MemoryQuery{Scopes: scopes, Limit: maxTreeEntries})
	if err != nil {
		return nil, err
	}
	for _, m := range memories {
		t.file(skald.FileInfo{URI: m.URI, Size: int64(len(memory.Document(m))), Modified: m.Updated, Abstract: firstLine(m.Text)})
	}
	sessions, err := tx.Sessions(skald.SessionQuery{Scopes: scopes[:1], Limit: maxTreeEntries})
	if err != nil {
		return nil, err
	}
	for _, s := range sessions {
		t.file(skald.FileInfo{URI: s.Ref.URI().Join("messages.jsonl"), Modified: s.Updated, Abstract: fmt.Sprintf("%d turns", s.LastSeq)})
		archives, err := tx.Archives(s.Ref, 1)
		if err != nil {
			return nil, err
		}
		for _, a := range archives {
			t.archive(s.Ref, a)
		}
	}
	return t.sorted(), nil
}

type treeBuilder struct{ files map[skald.URI]skald.FileInfo }

func (t *treeBuilder) file(f skald.FileInfo) {
	f.Name = f.URI.Name()
	t.files[f.URI] = f
	if i := strings.LastIndexByte(string(f.URI), '/'); i > len(skald.Root) {
		t.folder(f.URI[:i])
	}
}

func (t *treeBuilder) folder(uri skald.URI) {
	for len(uri) > len(skald.Root) {
		if _, ok := t.files[uri]; ok {
			return
		}
		t.files[uri] = skald.FileInfo{URI: uri, Name: uri.Name(), Dir: true}
		i := strings.LastIndexByte(string(uri), '/')
		if i <= len(skald.Root) {
			return
		}
		uri = uri[:i]
	}
}

func (t *treeBuilder) archive(ref skald.SessionRef, a skald.Archive) {
	dir := ref.ArchiveURI(a.Index)
	text := archive.Text(a)
	t.file(skald.FileInfo{URI: dir.Join(".overview.md"), Size: int64(len(text)), Modified: a.Updated})
	t.file(skald.FileInfo{URI: dir.Join(".abstract.md"), Size: int64(len(a.Abstract)), Modified: a.Updated})
	t.file(skald.FileInfo{URI: dir.Join("messages.jsonl"), Modified: a.Created, Abstract: fmt.Sprintf("turns %d to %d", a.From, a.To)})
	if a.Diff != "" {
		t.file(skald.FileInfo{URI: dir.Join("memory_diff.json"), Size: int64(len(a.Diff)), Modified: a.Updated})
	}
	folder := t.files[dir]
	folder.Abstract, folder.Modified = a.Abstract, a.Updated
	t.files[dir] = folder
}

func (t *treeBuilder) sorted() []skald.FileInfo {
	list := make([]skald.FileInfo, 0, len(t.files))
	for _, f := range t.files {
		list = append(list, f)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].URI < list[j].URI })
	return list
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// Read implements skald.Inspector.
func (e *Engine) Read(ctx context.Context, id skald.Identity, uri string) (text string, err error) {
	canonical, err := skald.ParseURI(uri, id, e.opts.Policy)
	if err != nil {
		return "", err
	}
	err = e.store.View(ctx, func(tx skald.Tx) (err error) {
		text, err = e.read(tx, id, canonical)
		return err
	})
	return text, err
}

func (e *Engine) read(tx skald.Tx, id skald.Identity, uri skald.URI) (string, error) {
	file, whole := strings.CutSuffix(string(uri), "/messages.jsonl")
	t, err := skald.URI(file).Resolve(id.Account)
	if err != nil {
		return "", err
	}
	if t.Memory {
		m, err := tx.Memory(t.Scope, uri)
		if err != nil {
			return "", err
		}
		return memory.Document(m), nil
	}
	ref := skald.SessionRef{Scope: t.Scope, ID: t.Session}
	if t.Archive == 0 {
		return readTurns(tx, ref, t.From, t.To)
	}
	a, err := tx.Archive(ref, t.Archive)
	if err != nil {
		return "", err
	}
	switch {
	case whole:
		return readTurns(tx, ref, a.From, a.To)
	case t.File == "abstract":
		return a.Abstract, nil
	case t.File == "memory_diff":
		return a.Diff, nil
	case t.File == "checkpoint":
		return readCheckpoint(tx, ref, a.Index)
	}
	return archive.Text(a), nil
}

// readTurns joins the host's own messages, one a line.
func readTurns(tx skald.Tx, ref skald.SessionRef, from, to int64) (string, error) {
	if _, err := tx.Session(ref); err != nil {
		return "", err
	}
	turns, err := tx.Turns(ref, skald.TurnQuery{From: from, To: to})
	var b strings.Builder
	for _, t := range turns {
		b.Write(t.Raw)
		b.WriteByte('\n')
	}
	return b.String(), err
}

func readCheckpoint(tx skald.Tx, ref skald.SessionRef, index int) (string, error) {
	list, err := tx.Checkpoints(ref)
	for _, c := range list {
		if c.ArchiveIndex == index {
			text, err := json.MarshalIndent(c, "", "  ")
			return string(text), err
		}
	}
	if err == nil {
		err = skald.NotFound("read", string(ref.ArchiveURI(index).Join("checkpoint.json")))
	}
	return "", err
}
