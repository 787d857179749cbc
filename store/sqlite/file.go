package sqlite

import (
	"cmp"
	"database/sql/driver"
	"slices"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/internal/record"
)

func (t *tx) PutFile(f skald.File) error {
	if err := t.writing("store.put_file"); err != nil {
		return err
	}
	scope, err := t.needScope(f.Scope)
	if err != nil {
		return err
	}
	content := f.Body
	f.Body = nil
	const query = `INSERT INTO file (scope, uri, parent, body, content) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (scope, uri) DO UPDATE SET body = excluded.body, content = excluded.content`
	return t.exec("file.put", query, scope, string(f.URI), string(f.URI.Parent()), record.Encode(f), content)
}

func (t *tx) File(scope skald.Scope, uri skald.URI) (f skald.File, err error) {
	const op = "store.file"
	if err := t.reading(op); err != nil {
		return f, err
	}
	id, err := t.scopeID(scope)
	if err != nil {
		return f, err
	}
	found := false
	const query = `SELECT body, content FROM file WHERE scope = ? AND uri = ?`
	err = t.rows("file.get", query, []any{id, string(uri)}, func(row []driver.Value) error {
		var body, content []byte
		if err := scan(row, &body, &content); err != nil {
			return err
		}
		found = true
		if err := record.Decode(body, &f); err != nil {
			return err
		}
		f.Body = content
		return nil
	})
	if err == nil && !found {
		err = skald.NotFound(op, string(uri))
	}
	return f, err
}

// Files asks scope by scope, each in order, and merges.
func (t *tx) Files(q skald.FileQuery) ([]skald.File, error) {
	if err := t.reading("store.files"); err != nil {
		return nil, err
	}
	scopes, err := t.known(q.Scopes)
	if err != nil {
		return nil, err
	}
	where, args := fileFilter(q)
	var out []skald.File
	for _, scope := range scopes {
		query := `SELECT body FROM file WHERE scope = ?` + where + ` ORDER BY uri LIMIT ?`
		list, err := bodies[skald.File](t, "file.list", query, append(append([]any{scope.id}, args...), limit(q.Limit))...)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	slices.SortFunc(out, func(a, b skald.File) int {
		return cmp.Or(cmp.Compare(a.URI, b.URI), cmp.Compare(a.Scope.Key(), b.Scope.Key()))
	})
	return limited(out, q.Limit), nil
}

func fileFilter(q skald.FileQuery) (where string, args []any) {
	under := strings.TrimRight(string(q.Under), "/")
	switch {
	case q.Direct:
		where, args = ` AND parent = ?`, append(args, string(q.Under))
	case q.Under != "":
		where, args = below(under)
	}
	if q.After != "" {
		where += ` AND uri > ?`
		args = append(args, string(q.After))
	}
	return where, args
}

// below selects what lies under a folder: from "folder/" up to the byte that follows the slash.
func below(folder string) (where string, args []any) {
	return ` AND uri >= ? AND uri < ?`, []any{folder + "/", folder + "0"}
}

func (t *tx) DeleteFiles(scope skald.Scope, uri skald.URI) (int, error) {
	if err := t.writing("store.delete_files"); err != nil {
		return 0, err
	}
	id, err := t.scopeID(scope)
	if err != nil || id == 0 {
		return 0, err
	}
	res, err := t.c.exec("file.delete", `DELETE FROM file WHERE scope = ? AND (uri = ? OR (uri >= ? AND uri < ?))`,
		id, string(uri), string(uri)+"/", string(uri)+"0")
	if err != nil {
		return 0, t.fail("file.delete", err)
	}
	n, err := res.RowsAffected()
	return int(n), t.fail("file.delete", err)
}
