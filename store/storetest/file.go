package storetest

import (
	"testing"

	"github.com/skald-engine/skald"
)

func file(scope skald.Scope, uri skald.URI) skald.File {
	return skald.File{
		Scope: scope, URI: uri, Body: []byte("a \x00\xff b\n"), Size: 7, Hash: "abcd", Media: "text/markdown", Created: at(1), Modified: at(2),
		Tags: []string{"lang=go", "team=core"}, Abstract: "one line", Source: "https://docs.example/a", Extra: []byte(`{"n":1}`),
	}
}

func folder(scope skald.Scope, uri skald.URI) skald.File {
	return skald.File{Scope: scope, URI: uri, Dir: true, Created: at(1), Modified: at(1), Abstract: "folder", Overview: "two\nlines"}
}

func fileURIs(q skald.FileQuery) func(skald.Tx) ([]skald.URI, error) {
	return func(tx skald.Tx) (out []skald.URI, err error) {
		list, err := tx.Files(q)
		for _, f := range list {
			out = append(out, f.URI)
		}
		return out, err
	}
}

const docs = "viking://user/alice/resources/docs"

// writeTree makes a folder with two files and a sub-folder, and beside it a file whose name only begins like the folder's.
func writeTree(tx skald.Tx) error {
	for _, f := range []skald.File{
		folder(alice, docs), file(alice, docs+"/a.md"), file(alice, docs+"/b c ü.md"), folder(alice, docs+"/sub"), file(alice, docs+"/sub/d.md"),
		file(alice, docs+"-2.md"), file(stranger, docs+"/a.md"),
	} {
		if err := tx.PutFile(f); err != nil {
			return err
		}
	}
	return nil
}

var fileTests = map[string]func(*testing.T, skald.Store){
	"PutGetReplace": func(t *testing.T, s skald.Store) {
		get := func(tx skald.Tx) (skald.File, error) { return tx.File(alice, docs+"/a.md") }
		view(t, s, func(tx skald.Tx) error {
			_, err := get(tx)
			wantKind(t, "missing", err, skald.KindNotFound)
			return nil
		})
		update(t, s, writeTree)
		same(t, "file", read(t, s, get), file(alice, docs+"/a.md"))
		want := skald.File{Scope: alice, URI: docs + "/a.md", Body: []byte("new")}
		update(t, s, func(tx skald.Tx) error { return tx.PutFile(want) })
		same(t, "replaced", read(t, s, get), want)
		same(t, "listed once", len(read(t, s, fileURIs(skald.FileQuery{Scopes: []skald.Scope{alice}, Under: docs}))), 4)
	},
	"ListingsHaveNoContent": func(t *testing.T, s skald.Store) {
		update(t, s, writeTree)
		want := file(alice, docs+"/sub/d.md")
		want.Body = nil
		got := read(t, s, func(tx skald.Tx) ([]skald.File, error) {
			return tx.Files(skald.FileQuery{Scopes: []skald.Scope{alice}, Under: docs + "/sub"})
		})
		same(t, "listing", got, []skald.File{want})
	},
	"Query": func(t *testing.T, s skald.Store) {
		update(t, s, writeTree)
		only := []skald.Scope{alice}
		for name, c := range map[string]struct {
			q    skald.FileQuery
			want []skald.URI
		}{
			"all":     {skald.FileQuery{Scopes: only}, []skald.URI{docs, docs + "-2.md", docs + "/a.md", docs + "/b c ü.md", docs + "/sub", docs + "/sub/d.md"}},
			"below":   {skald.FileQuery{Scopes: only, Under: docs}, []skald.URI{docs + "/a.md", docs + "/b c ü.md", docs + "/sub", docs + "/sub/d.md"}},
			"direct":  {skald.FileQuery{Scopes: only, Under: docs, Direct: true}, []skald.URI{docs + "/a.md", docs + "/b c ü.md", docs + "/sub"}},
			"page":    {skald.FileQuery{Scopes: only, Under: docs, After: docs + "/a.md", Limit: 2}, []skald.URI{docs + "/b c ü.md", docs + "/sub"}},
			"foreign": {skald.FileQuery{Scopes: []skald.Scope{bob}, Under: docs}, nil},
			"none":    {skald.FileQuery{Under: docs}, nil},
		} {
			same(t, name, read(t, s, fileURIs(c.q)), c.want)
		}
	},
	"DeleteTakesTheSubtreeAndNothingElse": func(t *testing.T, s skald.Store) {
		update(t, s, writeTree)
		update(t, s, func(tx skald.Tx) error {
			for uri, want := range map[skald.URI]int{docs: 5, docs + "/none": 0} {
				n, err := tx.DeleteFiles(alice, uri)
				same(t, "removed", n, want)
				if err != nil {
					return err
				}
			}
			return nil
		})
		same(t, "left", read(t, s, fileURIs(skald.FileQuery{Scopes: everyone})), []skald.URI{docs + "-2.md", docs + "/a.md"})
	},
}

func newRecord(scope skald.Scope, id, body string) skald.Record {
	return skald.Record{Scope: scope, Kind: "watch", ID: id, Body: []byte(body), Updated: at(1)}
}

var recordTests = map[string]func(*testing.T, skald.Store){
	"PutGetDelete": func(t *testing.T, s skald.Store) {
		get := func(tx skald.Tx) (skald.Record, error) { return tx.Record(skald.Scope{}, "watch", "1") }
		update(t, s, func(tx skald.Tx) error {
			_, err := get(tx)
			wantKind(t, "missing", err, skald.KindNotFound)
			return firstError(
				func() error { return tx.PutRecord(newRecord(skald.Scope{}, "1", "old")) },
				func() error { return tx.PutRecord(newRecord(alice, "1", "alice's")) },
				func() error { return tx.PutRecord(newRecord(skald.Scope{}, "1", "new")) },
			)
		})
		same(t, "record", read(t, s, get), newRecord(skald.Scope{}, "1", "new"))
		update(t, s, func(tx skald.Tx) error {
			return firstError(
				func() error { return tx.DeleteRecord(skald.Scope{}, "watch", "1") },
				func() error { return tx.DeleteRecord(bob, "watch", "none") },
			)
		})
		view(t, s, func(tx skald.Tx) error {
			_, err := get(tx)
			wantKind(t, "deleted", err, skald.KindNotFound)
			list, err := tx.Records(skald.RecordQuery{Kind: "watch"})
			same(t, "left", list, []skald.Record{newRecord(alice, "1", "alice's")})
			return err
		})
	},
	"Query": func(t *testing.T, s skald.Store) {
		update(t, s, func(tx skald.Tx) error {
			other := newRecord(alice, "1", "another kind")
			other.Kind = "upload"
			return firstError(
				func() error { return tx.PutRecord(newRecord(bob, "1", "")) },
				func() error { return tx.PutRecord(newRecord(alice, "2", "")) },
				func() error { return tx.PutRecord(newRecord(alice, "1", "")) },
				func() error { return tx.PutRecord(other) },
			)
		})
		ids := func(q skald.RecordQuery) func(skald.Tx) ([]string, error) {
			return func(tx skald.Tx) (out []string, err error) {
				list, err := tx.Records(q)
				for _, r := range list {
					out = append(out, r.Scope.User+" "+r.ID)
				}
				return out, err
			}
		}
		same(t, "alice's", read(t, s, ids(skald.RecordQuery{Scopes: []skald.Scope{alice}, Kind: "watch"})), []string{"alice 1", "alice 2"})
		same(t, "all", read(t, s, ids(skald.RecordQuery{Kind: "watch"})), []string{"alice 1", "alice 2", "bob 1"})
		same(t, "the first", read(t, s, ids(skald.RecordQuery{Kind: "watch", Limit: 1})), []string{"alice 1"})
		same(t, "the stranger's", read(t, s, ids(skald.RecordQuery{Scopes: []skald.Scope{stranger}, Kind: "watch"})), []string(nil))
	},
}
