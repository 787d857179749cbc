package resource_test

import (
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/resource"
)

var project = map[string]string{
	"docs/README.md":       "# Project\n\nThe project measures tides. It runs on a buoy.\n",
	"docs/sub/guide.md":    "# Guide\n\nHow to moor the buoy.\n",
	"docs/sub/main.go":     "// Package main reads the sensor.\npackage main\n\nfunc ReadSensor() int {\n\treturn 1\n}\n",
	"docs/sub/conf.json":   `{"port": 1, "baud": 9600}`,
	"docs/sub/t.csv":       "time,height\n1,2\n",
	"docs/sub/page.html":   "<html><head><title>Web page</title></head><body><h1>Hi</h1><p>Some harbour text.</p></body></html>",
	"docs/note.txt":        "some words\n",
	"docs/x.unknownext":    "\x00\x01\x02",
	"docs/.git/config":     "[core]",
	"docs/sub/guide.rst":   "Guide\n=====\n",
	"docs/Über uns.md":     "# Wir\n\nText.\n",
	"docs/v1.2.notes.md":   "# Notes\n\nMulti dot.\n",
	"docs/sub/Makefile":    "all:\n\tgo build\n",
	"docs/node_modules/x":  "no",
	"docs/.abstract.md":    "reserved",
	"docs/sub/ trailing .": "kept as text",
}

func TestImportOfAFolder(t *testing.T) {
	t.Parallel()
	w := open(t)
	out := w.put("docs.zip", zipOf(t, project), resource.Request{})
	same(t, "root", out.RootURI, "viking://resources/docs")
	same(t, "tree", w.names(out.RootURI), []string{
		"README/", "README/README.md", "_abstract/", "_abstract/_abstract.md", "note/", "note/note.md",
		"sub/", "sub/Makefile", "sub/conf.json", "sub/guide.rst", "sub/guide/", "sub/guide/guide.md", "sub/main.go", "sub/page/", "sub/page/page.md",
		"sub/t.csv", "sub/trailing", "v1.2.notes/", "v1.2.notes/v1.2.notes.md", "Über uns/", "Über uns/Über uns.md",
	})
	same(t, "unsupported", len(out.Meta.Unsupported), 1)
	same(t, "errors", out.Errors, []string{})
	for word, uri := range map[string]string{
		"moor": "viking://resources/docs/sub/guide/guide.md", "harbour": "viking://resources/docs/sub/page/page.md",
		"readsensor": "viking://resources/docs/sub/main.go",
	} {
		if !slices.Contains(w.found(word), uri) {
			t.Errorf("%q is found in %v, not in %s", word, w.found(word), uri)
		}
	}
	root := w.file(out.RootURI)
	if !strings.Contains(root.Overview, "sub/") || root.Abstract == "" {
		t.Errorf("the root's texts: %q\n%s", root.Abstract, root.Overview)
	}
	guide := w.file("viking://resources/docs/sub/guide")
	same(t, "abstract", guide.Abstract, "Guide: How to moor the buoy.")
	if !strings.Contains(strings.Join(out.Warnings, "\n"), `"docs/.abstract.md" is called`) {
		t.Errorf("the renaming is not said: %q", out.Warnings)
	}
}

// RES-02: an import that is repeated changes only what changed.
func TestRES02ImportAgain(t *testing.T) {
	t.Parallel()
	w := open(t)
	files := maps.Clone(project)
	to := resource.Request{To: "viking://resources/p"}
	first := w.put("docs.zip", zipOf(t, files), to)
	w.time = w.time.Add(time.Hour)
	before := w.stamps("viking://resources/p")
	again := w.put("docs.zip", zipOf(t, files), to)
	same(t, "unchanged", again.Meta.Unchanged, first.Meta.Created)
	same(t, "written", again.Meta.Entries+again.Meta.Removed, 0)
	same(t, "stamps", w.stamps("viking://resources/p"), before)

	files["docs/sub/guide.md"] = "# Guide\n\nNow an anchor is used.\n"
	files["docs/sub/new.md"] = "# New\n\nA capstan.\n"
	delete(files, "docs/note.txt")
	delete(files, "docs/sub/page.html")
	third := w.put("docs.zip", zipOf(t, files), to)
	same(t, "counts", []int{third.Meta.Created, third.Meta.Updated, third.Meta.Removed}, []int{1, 1, 2})
	same(t, "gone from search", len(w.found("harbour")), 0)
	same(t, "old text gone", len(w.found("moor")), 0)
	same(t, "new text", slices.Contains(w.found("capstan"), "viking://resources/p/sub/new/new.md"), true)
	if names := w.names("viking://resources/p"); slices.Contains(names, "note/") || slices.Contains(names, "sub/page/") {
		t.Errorf("folders of what is gone are left: %v", names)
	}
	if o := w.file("viking://resources/p/sub").Overview; strings.Contains(o, "page") || !strings.Contains(o, "new") {
		t.Errorf("the folder's overview is old:\n%s", o)
	}
	fresh := open(t)
	fresh.put("docs.zip", zipOf(t, files), to)
	same(t, "as if imported once", w.files("viking://resources/p"), fresh.files("viking://resources/p"))
}

// stamps are when nodes were changed.
func (w *world) stamps(under skald.URI) map[skald.URI]time.Time {
	w.Helper()
	out := map[skald.URI]time.Time{}
	w.check(w.store.View(w.Context(), func(tx skald.Tx) error {
		list, err := tx.Files(skald.FileQuery{Scopes: []skald.Scope{resources}, Under: under})
		for _, f := range list {
			out[f.URI] = f.Modified
		}
		return err
	}))
	return out
}

func TestNamesAndPlaces(t *testing.T) {
	t.Parallel()
	w := open(t)
	note := []byte("One note.\n")
	same(t, "first", w.put("note.txt", note, resource.Request{}).RootURI, "viking://resources/note")
	same(t, "second", w.put("note.txt", note, resource.Request{}).RootURI, "viking://resources/note_1")
	same(t, "source name", w.put("x.txt", note, resource.Request{SourceName: "My file.txt"}).RootURI, "viking://resources/My file")
	same(t, "parent", w.put("note.txt", note, resource.Request{Parent: "viking://resources/a/b", CreateParent: true}).RootURI, "viking://resources/a/b/note")
	same(t, "to", w.put("note.txt", note, resource.Request{To: "viking://resources/x/y/z/"}).RootURI, "viking://resources/x/y/z")
	same(t, "tree", w.names("viking://resources/x"), []string{"y/", "y/z/", "y/z/note.md"})
	_, err := w.add(resource.Request{Upload: w.upload("n.txt", note), Parent: "viking://resources/nope"})
	kind(t, "missing parent", err, skald.KindNotFound)
	_, err = w.add(resource.Request{Upload: w.upload("n.txt", note), To: "viking://resources/x/y/z/note.md"})
	kind(t, "a file stands there", err, skald.KindConflict)
	for _, to := range []string{"viking://user/alice/memories/x", "viking://agent/skills/x", "viking://resources", "viking://user/alice/sessions/s"} {
		_, err = w.add(resource.Request{Upload: w.upload("n.txt", note), To: to})
		kind(t, to, err, skald.KindInvalid)
	}
	_, err = w.add(resource.Request{Upload: w.upload("n.txt", note), To: "viking://user/bob/resources/x"})
	kind(t, "another user's", err, skald.KindPermission)
	same(t, "own", w.put("n.txt", note, resource.Request{To: "viking://~/resources/mine"}).RootURI, "viking://user/alice/resources/mine")
}

// What somebody else wrote below a root is neither overwritten nor removed.
func TestForeignFilesStay(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.check(w.store.Update(t.Context(), func(tx skald.Tx) error {
		return putFile(tx, "viking://resources/p/guide/mine.md", "mine")
	}))
	w.put("d.zip", zipOf(t, map[string]string{"guide.md": "# A\n\nText.\n", "b.md": "# B\n"}), resource.Request{To: "viking://resources/p"})
	w.put("d.zip", zipOf(t, map[string]string{"b.md": "# B\n"}), resource.Request{To: "viking://resources/p"})
	same(t, "tree", w.names("viking://resources/p"), []string{"b/", "b/b.md", "guide/", "guide/mine.md"})
}

func TestFilters(t *testing.T) {
	t.Parallel()
	w := open(t)
	files := map[string]string{"a.md": "# A", "b.go": "package b", "sub/c.md": "# C", "skip/d.md": "# D", "sub/e.tmp": "e"}
	w.put("d.zip", zipOf(t, files), resource.Request{To: "viking://resources/f1", IgnoreDirs: "skip", Exclude: "*.tmp,*.go"})
	same(t, "ignored", w.names("viking://resources/f1"), []string{"a/", "a/a.md", "sub/", "sub/c/", "sub/c/c.md"})
	w.put("d.zip", zipOf(t, files), resource.Request{To: "viking://resources/f2", Include: "sub/**", Flat: true})
	same(t, "included, flat", w.names("viking://resources/f2"), []string{"c/", "c/c.md", "e.tmp"})
	_, err := w.add(resource.Request{Upload: w.upload("d.zip", zipOf(t, files)), Include: "[a"})
	kind(t, "bad pattern", err, skald.KindInvalid)
}

func TestTags(t *testing.T) {
	t.Parallel()
	w := open(t)
	to := resource.Request{To: "viking://resources/t", Tags: []string{"team=sea"}}
	w.put("n.md", []byte("# N"), to)
	same(t, "set", w.file("viking://resources/t/n.md").Tags, []string{"team=sea"})
	to.Tags, to.AppendTags = []string{"year=2026"}, true
	w.put("n.md", []byte("# N"), to)
	same(t, "appended", w.file("viking://resources/t/n.md").Tags, []string{"team=sea", "year=2026"})
	to.Tags, to.AppendTags = []string{"a=b"}, false
	w.put("n.md", []byte("# N"), to)
	same(t, "replaced", w.file("viking://resources/t/n.md").Tags, []string{"a=b"})
	to.Tags = nil
	same(t, "no tags, no change", w.put("n.md", []byte("# N"), to).Meta.Unchanged, 1)
	same(t, "kept", w.file("viking://resources/t/n.md").Tags, []string{"a=b"})
	_, err := w.add(resource.Request{Upload: w.upload("n.md", nil), Tags: []string{"x"}})
	kind(t, "no pair", err, skald.KindInvalid)
}

func TestImportOfAPage(t *testing.T) {
	t.Parallel()
	w := open(t)
	pages := map[string]string{"/guide": "<html><head><title>Buoys</title></head><body><h1>Buoys</h1><p>They float on the water. See <a href='/x'>more</a>.</p></body></html>"}
	srv := httptest.NewServer(site(pages))
	defer srv.Close()
	out, err := w.add(resource.Request{Path: srv.URL + "/guide"})
	w.check(err)
	same(t, "tree", w.names(out.RootURI), []string{"guide.md"})
	text := w.files(out.RootURI)[out.RootURI.Join("guide.md")]
	if !strings.Contains(text, "They float") || !strings.Contains(text, srv.URL+"/x") {
		t.Errorf("text %q", text)
	}
	again, err := w.add(resource.Request{Path: srv.URL + "/guide"})
	w.check(err)
	same(t, "the same address is the same resource", again.RootURI, out.RootURI)
	same(t, "unchanged", again.Meta.Unchanged, 1)
	_, err = w.add(resource.Request{Path: srv.URL + "/missing"})
	kind(t, "404", err, skald.KindNotFound)
	if names := w.names("viking://resources"); slices.Contains(names, "missing/") {
		t.Error("a failed import leaves its folder")
	}
}

func TestStrictAndBrokenFiles(t *testing.T) {
	t.Parallel()
	w := open(t)
	files := map[string]string{"a.md": "# A", "bad.docx": "PK\x03\x04broken"}
	out := w.put("d.zip", zipOf(t, files), resource.Request{To: "viking://resources/d"})
	same(t, "the rest goes on", w.names("viking://resources/d"), []string{"a/", "a/a.md"})
	same(t, "said", len(out.Errors), 1)
	_, err := w.add(resource.Request{Upload: w.upload("d.zip", zipOf(t, files)), To: "viking://resources/e", Strict: true})
	kind(t, "strict", err, skald.KindInvalid)
	got, err := w.add(resource.Request{Upload: w.upload("bad.docx", []byte("PK\x03\x04broken"))})
	kind(t, "alone", err, skald.KindInvalid)
	same(t, "the file's fault", got.Parsing, true)
	// A file that broke keeps what it was.
	w.put("x.zip", zipOf(t, map[string]string{"a.md": "# A", "b.json": "{}"}), resource.Request{To: "viking://resources/k"})
	w.put("x.zip", zipOf(t, map[string]string{"a.md": "\x00\x01\x02\x03", "b.json": "{}"}), resource.Request{To: "viking://resources/k"})
	same(t, "kept", w.names("viking://resources/k"), []string{"a/", "a/a.md", "b.json"})
}

func TestUploads(t *testing.T) {
	t.Parallel()
	w := open(t)
	key := w.upload("note.txt", []byte("hello"))
	_, err := w.Add(t.Context(), bob, resource.Request{Upload: key})
	kind(t, "another user", err, skald.KindPermission)
	b, name, err := w.Uploaded(t.Context(), alice, key, 100)
	w.check(err)
	same(t, "read", string(b)+name, "hellonote.txt")
	_, err = w.add(resource.Request{Upload: key})
	w.check(err)
	_, err = w.add(resource.Request{Upload: key})
	kind(t, "twice", err, skald.KindPermission)
	late := w.upload("note.txt", []byte("hello"))
	w.time = w.time.Add(resource.UploadTTL + time.Minute)
	w.check(w.Sweep(t.Context()))
	_, err = w.add(resource.Request{Upload: late})
	kind(t, "late", err, skald.KindPermission)
	for _, bad := range []string{"../../etc/passwd", "upload_x", "", "upload_" + strings.Repeat("0", 32) + "/../x"} {
		_, err = w.add(resource.Request{Upload: bad, Path: ""})
		if err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// RES-03: every part of a long source file is found.
func TestRES03LongFile(t *testing.T) {
	t.Parallel()
	w := open(t)
	line := "// a comment that fills the file with words which are everywhere\n"
	half := strings.Repeat(line, 100_000/len(line))
	w.put("long.go", []byte("// firstquokka\n"+half+"// middlewombat\n"+half+"// lastnumbat\n"), resource.Request{To: "viking://resources/l"})
	for _, word := range []string{"firstquokka", "middlewombat", "lastnumbat"} {
		if !slices.Contains(w.found(word), "viking://resources/l/long.go") {
			t.Errorf("%s is found in %v", word, w.found(word))
		}
	}
}
