package backend

import (
	"context"
	"slices"
	"strings"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/memory"
)

// Stat implements api.Backend.
func (b *Backend) Stat(ctx context.Context, id skald.Identity, raw string) (f skald.FileInfo, err error) {
	uri, err := skald.ParseURI(raw, id, b.engine.Policy())
	if err != nil {
		return f, err
	}
	err = b.store.View(ctx, func(tx skald.Tx) error {
		f, err = b.stat(tx, id, uri)
		return err
	})
	return f, err
}

// stat looks a canonical URI up. It agrees with the tree that the engine lists, and knows turns too, which no folder lists.
func (b *Backend) stat(tx skald.Tx, id skald.Identity, uri skald.URI) (skald.FileInfo, error) {
	if uri == skald.Root {
		return folder(uri, time.Time{}), nil
	}
	scope, path, ok := place(b.scopes(id), uri)
	switch {
	case !ok:
		return skald.FileInfo{}, skald.NotFound("stat", string(uri))
	case len(path) == 0:
		return folder(uri, time.Time{}), nil
	case path[0] == "memories":
		return statMemory(tx, scope, uri, path)
	case path[0] == "sessions" && scope.Kind == skald.ScopeUser:
		return statSessions(tx, scope, uri, path)
	}
	return skald.FileInfo{}, skald.NotFound("stat", string(uri))
}

// place finds the scope that a URI lies in, and its path there.
func place(scopes []skald.Scope, uri skald.URI) (skald.Scope, []string, bool) {
	for _, s := range scopes {
		root := s.RootURI()
		if uri == root {
			return s, nil, true
		}
		if rest, ok := strings.CutPrefix(string(uri), string(root)+"/"); ok {
			return s, strings.Split(rest, "/"), true
		}
	}
	return skald.Scope{}, nil, false
}

func folder(uri skald.URI, modified time.Time) skald.FileInfo {
	return skald.FileInfo{URI: uri, Name: uri.Name(), Dir: true, Modified: modified}
}

func file(uri skald.URI, size int, modified time.Time) skald.FileInfo {
	return skald.FileInfo{URI: uri, Name: uri.Name(), Size: int64(size), Modified: modified}
}

func statMemory(tx skald.Tx, scope skald.Scope, uri skald.URI, path []string) (skald.FileInfo, error) {
	m, err := tx.Memory(scope, uri)
	if err == nil {
		f := file(uri, len(memory.Document(m)), m.Updated)
		f.Abstract, _, _ = strings.Cut(strings.TrimSpace(m.Text), "\n")
		return f, nil
	}
	if skald.KindOf(err) != skald.KindNotFound {
		return skald.FileInfo{}, err
	}
	within, listErr := tx.Memories(skald.MemoryQuery{Scopes: []skald.Scope{scope}, Prefix: uri, Limit: 1})
	switch {
	case listErr != nil:
		return skald.FileInfo{}, listErr
	case len(within) == 0 && len(path) > 1:
		return skald.FileInfo{}, skald.NotFound("stat", string(uri))
	}
	return folder(uri, time.Time{}), nil
}

func statSessions(tx skald.Tx, scope skald.Scope, uri skald.URI, path []string) (skald.FileInfo, error) {
	if len(path) == 1 {
		return folder(uri, time.Time{}), nil
	}
	s, err := tx.Session(skald.SessionRef{Scope: scope, ID: path[1]})
	if err != nil {
		return skald.FileInfo{}, err
	}
	rest := path[2:]
	switch {
	case len(rest) == 0:
		return folder(uri, s.Updated), nil
	case len(rest) == 1 && rest[0] == messagesFile:
		return file(uri, 0, s.Updated), nil // like the tree, which does not read every turn for its size
	case len(rest) == 1 && rest[0] == "history" && s.Archives > 0:
		return folder(uri, s.LastCommit), nil
	case rest[0] == "history":
		return statArchive(tx, s, uri, rest[1:])
	}
	return statTurns(tx, s, uri)
}

const (
	messagesFile = "messages.jsonl"
	overviewFile = ".overview.md"
)

func statArchive(tx skald.Tx, s skald.Session, uri skald.URI, path []string) (skald.FileInfo, error) {
	missing := skald.NotFound("stat", string(uri))
	if len(path) == 0 || len(path) > 2 {
		return skald.FileInfo{}, missing
	}
	index, ok := skald.ParseArchiveID(path[0])
	if !ok {
		return skald.FileInfo{}, missing
	}
	a, err := tx.Archive(s.Ref, index)
	if err != nil {
		return skald.FileInfo{}, err
	}
	if len(path) == 1 {
		f := folder(uri, a.Updated)
		f.Abstract = a.Abstract
		return f, nil
	}
	sizes := map[string]int{overviewFile: len(archive.Text(a)), ".abstract.md": len(a.Abstract), messagesFile: 0, "checkpoint.json": 0}
	if a.Diff != "" {
		sizes["memory_diff.json"] = len(a.Diff)
	}
	size, ok := sizes[path[1]]
	if !ok {
		return skald.FileInfo{}, missing
	}
	return file(uri, size, a.Updated), nil
}

// statTurns describes a run of turns as one file.
func statTurns(tx skald.Tx, s skald.Session, uri skald.URI) (skald.FileInfo, error) {
	t, err := uri.Resolve(s.Ref.Scope.Account)
	if err != nil || t.From == 0 || t.To > s.LastSeq {
		return skald.FileInfo{}, skald.NotFound("stat", string(uri))
	}
	turns, err := tx.Turns(s.Ref, skald.TurnQuery{From: t.From, To: t.To})
	if err != nil || len(turns) == 0 {
		return skald.FileInfo{}, err
	}
	size := 0
	for _, t := range turns {
		size += len(t.Raw) + 1
	}
	newest := slices.MaxFunc(turns, func(a, b skald.Turn) int { return a.Time.Compare(b.Time) })
	return file(uri, size, newest.Time), nil
}
