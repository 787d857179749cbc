package view_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/store/memory"
	"github.com/skald-engine/skald/tree"
	"github.com/skald-engine/skald/tree/view"
)

var (
	ann = skald.Identity{Account: "acme", User: "ann", Agent: "main"}
	own = skald.Policy{}.UserScope(ann)
	now = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
)

func look(t *testing.T, id skald.Identity, write func(skald.Tx) error, read func(view.View)) {
	t.Helper()
	s := memory.New()
	defer s.Close()
	if err := s.Update(context.Background(), write); err != nil {
		t.Fatal(err)
	}
	if err := s.View(context.Background(), func(tx skald.Tx) error {
		read(view.View{Tx: tx, ID: id})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func children(t *testing.T, v view.View, uri skald.URI) (out []string) {
	t.Helper()
	list, err := v.Children(uri)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range list {
		out = append(out, string(n.URI)[len(uri):])
	}
	return out
}

func same[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// Folders of memories are stepped over, not read: names that sort between a folder and what is in it don't confuse.
func TestMemoryFolders(t *testing.T) {
	t.Parallel()
	root := own.RootURI().Join("memories")
	names := []string{"a.md", "a/1.md", "a/2.md", "a-b/1.md", "a.b/c/1.md", "b.md", "profile.md"}
	look(t, ann, func(tx skald.Tx) error {
		for _, n := range names {
			if err := tx.PutMemory(skald.Memory{Scope: own, URI: root.Join(n), Text: n, Created: now, Updated: now}); err != nil {
				return err
			}
		}
		return nil
	}, func(v view.View) {
		same(t, "memories", children(t, v, root), []string{"/a", "/a-b", "/a.b", "/a.md", "/b.md", "/profile.md"})
		same(t, "below", children(t, v, root.Join("a")), []string{"/1.md", "/2.md"})
		same(t, "space", children(t, v, own.RootURI()), []string{"/memories"})
		if n, err := v.Stat(root.Join("a.b", "c")); err != nil || !n.Dir || n.Kind != view.Memory {
			t.Errorf("%+v %v", n, err)
		}
		if _, err := v.Stat(root.Join("a.b", "d")); skald.KindOf(err) != skald.KindNotFound {
			t.Error(err)
		}
		if b, err := v.Body(root.Join("a", "2.md")); string(b) != "a/2.md" {
			t.Errorf("%q %v", b, err)
		}
	})
}

// A folder larger than a page is listed whole and in order, what is no file among its files included.
func TestPages(t *testing.T) {
	t.Parallel()
	root := own.RootURI()
	look(t, ann, func(tx skald.Tx) error {
		for i := range 1200 {
			f := skald.File{Scope: own, URI: root.Join(fmt.Sprintf("m%04d", i*2)), Body: []byte("x"), Modified: now}
			if err := tx.PutFile(f); err != nil {
				return err
			}
		}
		return tx.PutMemory(skald.Memory{Scope: own, URI: root.Join("memories", "profile.md"), Text: "x", Created: now, Updated: now})
	}, func(v view.View) {
		list := children(t, v, root)
		if len(list) != 1201 || !slices.IsSorted(list) || list[1200] != "/memories" {
			t.Errorf("%d, sorted %v, last %s", len(list), slices.IsSorted(list), list[len(list)-1])
		}
		n := 0
		enough := skald.E("", skald.KindInternal, "enough")
		err := v.Walk(root, 3, func(view.Node) error {
			if n++; n == 3 {
				return enough
			}
			return nil
		})
		if err != error(enough) || n != 3 {
			t.Errorf("%d %v", n, err)
		}
	})
}

// Who acts on behalf of a peer sees that peer's folder alone.
func TestPeers(t *testing.T) {
	t.Parallel()
	root := own.RootURI().Join("peers")
	as := ann
	as.Peer = "bo"
	write := func(tx skald.Tx) error {
		for _, p := range []string{"bo", "cy"} {
			f := skald.File{Scope: own, URI: root.Join(p, "resources", "x.md"), Body: []byte(p), Modified: now}
			if err := tree.Put(tx, f); err != nil {
				return err
			}
			m := skald.Memory{Scope: own, URI: root.Join(p, "memories", "events", "y.md"), Text: p, Created: now, Updated: now}
			if err := tx.PutMemory(m); err != nil {
				return err
			}
		}
		return nil
	}
	look(t, ann, write, func(v view.View) {
		same(t, "the user", children(t, v, root), []string{"/bo", "/cy"})
		same(t, "both kinds", children(t, v, root.Join("bo")), []string{"/memories", "/resources"})
	})
	look(t, as, write, func(v view.View) { same(t, "for a peer", children(t, v, root), []string{"/bo"}) })
}

func TestScopes(t *testing.T) {
	t.Parallel()
	look(t, ann, func(skald.Tx) error { return nil }, func(v view.View) {
		same(t, "root", children(t, v, skald.Root), []string{"agent", "resources", "user"})
		same(t, "agents", children(t, v, "viking://agent"), []string{"/main", "/skills"})
		same(t, "empty", children(t, v, "viking://user/ann/sessions"), []string(nil))
		if _, err := v.Stat("viking://user/bob"); skald.KindOf(err) != skald.KindNotFound {
			t.Error(err)
		}
		for uri, want := range map[skald.URI]string{"viking://user/ann/memories/x": "memory", "viking://user/ann/skills/x": "skill",
			"viking://agent/skills": "skill", "viking://user/ann/peers/bo/memories/x": "memory", "viking://resources/memories": "resource",
			"viking://user/ann": "resource", "viking://agent/main/memories/cases/x.md": "memory"} {
			if got := view.ContextType(uri); got != want {
				t.Errorf("%s is %s, want %s", uri, got, want)
			}
		}
	})
}
