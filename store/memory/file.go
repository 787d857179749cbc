package memory

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
)

type fileKey struct {
	scope skald.Scope
	uri   skald.URI
}

func (t *tx) PutFile(f skald.File) error {
	if err := t.writing("store.put_file"); err != nil {
		return err
	}
	t.files = copied(t.files)
	t.files[fileKey{f.Scope, f.URI}] = cloneFile(f)
	return nil
}

func (t *tx) File(scope skald.Scope, uri skald.URI) (skald.File, error) {
	const op = "store.file"
	if err := t.reading(op); err != nil {
		return skald.File{}, err
	}
	f, ok := t.files[fileKey{scope, uri}]
	if !ok {
		return skald.File{}, skald.NotFound(op, string(uri))
	}
	return cloneFile(f), nil
}

func (t *tx) Files(q skald.FileQuery) ([]skald.File, error) {
	if err := t.reading("store.files"); err != nil {
		return nil, err
	}
	var out []skald.File
	for _, f := range t.files {
		if inScopes(q.Scopes, f.Scope, false) && selects(q, f.URI) {
			f = cloneFile(f)
			f.Body = nil
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b skald.File) int {
		return cmp.Or(cmp.Compare(a.URI, b.URI), cmp.Compare(a.Scope.Key(), b.Scope.Key()))
	})
	return limited(out, q.Limit), nil
}

func selects(q skald.FileQuery, uri skald.URI) bool {
	return uri > q.After &&
		(q.Under == "" || strings.HasPrefix(string(uri), strings.TrimRight(string(q.Under), "/")+"/")) &&
		(!q.Direct || uri.Parent() == q.Under)
}

func (t *tx) DeleteFiles(scope skald.Scope, uri skald.URI) (n int, err error) {
	if err := t.writing("store.delete_files"); err != nil {
		return 0, err
	}
	t.files = copied(t.files)
	for key := range t.files {
		if key.scope == scope && (key.uri == uri || strings.HasPrefix(string(key.uri), string(uri)+"/")) {
			delete(t.files, key)
			n++
		}
	}
	return n, nil
}

func cloneFile(f skald.File) skald.File {
	f.Body, f.Tags, f.Extra = slices.Clone(f.Body), slices.Clone(f.Tags), slices.Clone(f.Extra)
	return f
}
