package tree_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/memory"
	"github.com/skald-engine/skald/tree"
)

var (
	scope = skald.Scope{Account: "acme", Kind: skald.ScopeResources}
	now   = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
)

func TestLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"# Title\nmore":                  "Title",
		"---\ntitle: x\n---\n":           "title: x",
		"\n\n   \nfirst words\n":         "first words",
		"#!/bin/sh\n# what it does\n":    "what it does",
		"// Package x does y.\n":         "Package x does y.",
		"{\n  \"name\": \"x\"\n}":        "\"name\": \"x\"",
		"":                               "",
		"----\n====\n":                   "",
		"你好，世界":                          "你好，世界",
		strings.Repeat("é", 300) + "\nx": strings.Repeat("é", 199) + "…",
	} {
		if got := tree.Line(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func update(t *testing.T, s skald.Store, fn func(tx skald.Tx) error) {
	t.Helper()
	if err := s.Update(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, s skald.Store, f skald.File) {
	t.Helper()
	f.Scope, f.Modified = scope, now
	update(t, s, func(tx skald.Tx) error { return tree.Put(tx, f) })
}

// A change deep down makes one folder stale; the others follow only while their texts really change.
func TestRefreshGoesUpOnlyAsFarAsNeeded(t *testing.T) {
	t.Parallel()
	s := memory.New()
	defer s.Close()
	const deep = "viking://resources/a/b/c/d"
	put(t, s, skald.File{URI: deep + "/one.md", Body: []byte("# One")})
	settle := func() (rounds, folders int) {
		for {
			n := 0
			update(t, s, func(tx skald.Tx) (err error) { n, err = tree.Refresh(tx, nil, 1, now); return err })
			if n == 0 {
				return rounds, folders
			}
			rounds, folders = rounds+1, folders+n
		}
	}
	if _, n := settle(); n != 4 { // the deepest first: each once
		t.Errorf("%d folders were refreshed", n)
	}
	put(t, s, skald.File{URI: deep + "/one.md", Body: []byte("# One, changed")})
	if _, n := settle(); n != 1 { // d's overview names the line, its abstract does not
		t.Errorf("%d folders were refreshed after a change that stays below", n)
	}
	put(t, s, skald.File{URI: deep + "/readme.md", Body: []byte("# The readme")})
	if _, n := settle(); n != 2 { // d's abstract is the readme's line now, c's overview tells, c's abstract stays
		t.Errorf("%d folders were refreshed after a change of an abstract", n)
	}
	update(t, s, func(tx skald.Tx) error {
		d, err := tx.File(scope, deep)
		if err != nil || d.Abstract != "The readme (2 files, 0 folders)" || !strings.Contains(d.Overview, "- one.md: One, changed") {
			t.Errorf("%+v %v", d, err)
		}
		c, err := tx.File(scope, "viking://resources/a/b/c")
		if err != nil || !strings.Contains(c.Overview, "d/: The readme") {
			t.Errorf("%+v %v", c, err)
		}
		return err
	})
}

func TestAuthoredTextsStay(t *testing.T) {
	t.Parallel()
	words, none := "My own words", ""
	f := tree.Authored(skald.File{Scope: scope, URI: "viking://resources/x", Dir: true, Modified: now, Extra: []byte(`{"kept":1}`)},
		&words, nil)
	s := memory.New()
	defer s.Close()
	fresh := func(f skald.File) (out skald.File) {
		t.Helper()
		update(t, s, func(tx skald.Tx) (err error) {
			if err := tx.PutFile(skald.File{Scope: scope, URI: "viking://resources/x/y.md", Abstract: "Y", Modified: now}); err != nil {
				return err
			}
			out, _, err = tree.Fresh(tx, f)
			return err
		})
		return out
	}
	got := fresh(f)
	if got.Abstract != words || !strings.Contains(got.Overview, "y.md: Y") || string(got.Extra) != `{"kept":1,"made":["overview"]}` {
		t.Errorf("%+v %s", got, got.Extra)
	}
	got = fresh(tree.Authored(got, &none, &words))
	if got.Abstract != "x: 1 file, 0 folders: y.md" || got.Overview != words || string(got.Extra) != `{"kept":1,"made":["abstract"]}` {
		t.Errorf("%+v %s", got, got.Extra)
	}
}

func TestFilesAndFoldersDontMix(t *testing.T) {
	t.Parallel()
	s := memory.New()
	defer s.Close()
	put(t, s, skald.File{URI: "viking://resources/a/f.md", Body: []byte("x")})
	for _, f := range []skald.File{{URI: "viking://resources/a/f.md/x.md"}, {URI: "viking://resources/a"},
		{URI: "viking://resources/a/f.md", Dir: true}} {
		f.Scope, f.Modified = scope, now
		err := s.Update(context.Background(), func(tx skald.Tx) error { return tree.Put(tx, f) })
		if skald.KindOf(err) != skald.KindConflict {
			t.Errorf("%s: %v", f.URI, err)
		}
	}
}
