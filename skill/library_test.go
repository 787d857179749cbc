package skill_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"hash/crc32"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/skill"
	"github.com/skald-engine/skald/store/memory"
)

var (
	ann = skald.Identity{Account: "acme", User: "ann", Agent: "main"}
	bob = skald.Identity{Account: "acme", User: "bob", Agent: "main"}
	eve = skald.Identity{Account: "other", User: "ann", Agent: "main"}
)

func library(t *testing.T) (*skill.Library, skald.Store) {
	t.Helper()
	store := memory.New()
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	return &skill.Library{Store: store, Policy: func() skald.Policy { return skald.Policy{} }, Now: func() time.Time { return now }}, store
}

func md(name, description string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\ntags: [fish]\nallowed-tools: Read\n---\n\n# %s\n\nUse the net.\n", name, description, name)
}

type member struct {
	name, body string
	mode       fs.FileMode
}

func archive(t *testing.T, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate}
		h.SetMode(m.mode | 0o644)
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = f.Write([]byte(m.body))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unpack(t *testing.T, data []byte) []skill.Bundle {
	t.Helper()
	list, err := skill.Unpack(data)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func paths(d skill.Details) (out []string) {
	for _, f := range d.Files {
		if !f.Dir {
			out = append(out, strings.TrimPrefix(string(f.URI), string(d.URI)+"/"))
		}
	}
	return out
}

// TestReplaceLeavesNothing follows a skill from nothing over two versions to nothing (SKL-01).
func TestReplaceLeavesNothing(t *testing.T) {
	t.Parallel()
	l, _ := library(t)
	ctx := t.Context()
	if list, err := l.List(ctx, ann, "", 0); err != nil || list == nil || len(list) != 0 {
		t.Fatalf("an empty list is no error: %v, %v", list, err)
	}
	binary := string([]byte{0, 1, 0xff})
	first := unpack(t, archive(t, member{name: "a/SKILL.md", body: md("a", "counts herring")}, member{name: "a/x.txt", body: "xylophone"}, member{name: "a/deep/y.bin", body: binary}))
	if _, err := l.Add(ctx, ann, "", first, nil); err != nil {
		t.Fatal(err)
	}
	d, err := l.Get(ctx, ann, "", "a")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"SKILL.md", "deep/y.bin", "x.txt"}, paths(d)); diff != "" {
		t.Error(diff)
	}
	if string(d.Content) != md("a", "counts herring") {
		t.Errorf("SKILL.md came back as %q", d.Content)
	}
	second := unpack(t, archive(t, member{name: "SKILL.md", body: md("a", "counts cod")}, member{name: "z.txt", body: "zither"}))
	if _, err := l.Replace(ctx, ann, "", "a", second[0], nil); err != nil {
		t.Fatal(err)
	}
	d, err = l.Get(ctx, ann, "", "a")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"SKILL.md", "z.txt"}, paths(d)); diff != "" {
		t.Error(diff)
	}
	for query, want := range map[string]int{"herring": 0, "xylophone": 0, "cod": 1, "zither": 1} {
		if got := names(find(t, l, ann, query)); len(got) != want {
			t.Errorf("%s: %v", query, got)
		}
	}
	if _, count, err := l.Remove(ctx, ann, "", "a"); err != nil || count < 3 {
		t.Errorf("%d nodes went: %v", count, err)
	}
	if list, _ := l.List(ctx, ann, "", 0); len(list) != 0 {
		t.Errorf("listed after the removal: %v", list)
	}
	if got := find(t, l, ann, "cod zither"); len(got) != 0 {
		t.Errorf("found after the removal: %v", got)
	}
	for what, err := range map[string]error{"get": second1(l.Get(ctx, ann, "", "a")), "replace": second1(l.Replace(ctx, ann, "", "a", second[0], nil)),
		"bad name": second1(l.Get(ctx, ann, "", "../b"))} {
		want := skald.KindNotFound
		if what == "bad name" {
			want = skald.KindInvalid
		}
		if skald.KindOf(err) != want {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func second1[T any](_ T, err error) error { return err }

func find(t *testing.T, l *skill.Library, id skald.Identity, query string) []skill.Found {
	t.Helper()
	found, err := l.Find(t.Context(), id, skill.Query{Text: query, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func names(found []skill.Found) (out []string) {
	for _, f := range found {
		out = append(out, string(f.URI))
	}
	return out
}

// TestUsersApart keeps two users' skills of one name apart, shares those of the account, and nothing beyond it (I9).
func TestUsersApart(t *testing.T) {
	t.Parallel()
	l, _ := library(t)
	add := func(id skald.Identity, target, name, description string) {
		t.Helper()
		if _, err := l.Add(t.Context(), id, target, unpack(t, []byte(md(name, description))), nil); err != nil {
			t.Fatal(err)
		}
	}
	add(ann, "", "same", "counts herring")
	add(bob, "", "same", "counts mackerel")
	add(bob, "viking://agent/skills", "shared", "counts herring for all")
	add(eve, "", "same", "counts sharks")
	for _, c := range []struct {
		id   skald.Identity
		want []string
	}{
		{ann, []string{"viking://user/ann/skills/same", "viking://agent/skills/shared"}},
		{bob, []string{"viking://user/bob/skills/same", "viking://agent/skills/shared"}},
		{eve, []string{"viking://user/ann/skills/same"}},
	} {
		list, err := l.List(t.Context(), c.id, "", 0)
		var got []string
		for _, i := range list {
			got = append(got, string(i.URI))
		}
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%v: %v %s", c.id, err, diff)
		}
	}
	if diff := cmp.Diff([]string{"viking://agent/skills/shared", "viking://user/ann/skills/same"}, slices.Sorted(slices.Values(names(find(t, l, ann, "counts herring"))))); diff != "" {
		t.Error(diff)
	}
	if got := names(find(t, l, eve, "herring mackerel")); len(got) != 0 {
		t.Errorf("a foreign account finds %v", got)
	}
	if _, err := l.Add(t.Context(), ann, "viking://user/bob/skills", unpack(t, []byte(md("x", "d"))), nil); skald.KindOf(err) != skald.KindPermission {
		t.Errorf("into a foreign root: %v", err)
	}
	for _, target := range []string{"viking://resources/x", "viking://user/ann/skills/same", "viking://user/ann/memories"} {
		if _, err := l.Add(t.Context(), ann, target, unpack(t, []byte(md("x", "d"))), nil); skald.KindOf(err) != skald.KindInvalid {
			t.Errorf("into %s: %v", target, err)
		}
	}
	if _, _, err := l.Remove(t.Context(), bob, "", "same"); err != nil {
		t.Fatal(err)
	}
	if d, err := l.Get(t.Context(), ann, "", "same"); err != nil || d.Description != "counts herring" {
		t.Errorf("ann's skill went with bob's: %v", err)
	}
}

// TestFindEachOnce finds a skill with many files once, and no more than asked for.
func TestFindEachOnce(t *testing.T) {
	t.Parallel()
	l, _ := library(t)
	members := []member{{name: "SKILL.md", body: md("big", "repairs barometers")}}
	for i := range 30 {
		members = append(members, member{name: fmt.Sprintf("ref/%02d.md", i), body: strings.Repeat("barometer needle\n", 50)})
	}
	list := append(unpack(t, archive(t, members...)), unpack(t, []byte(md("small", "cleans a barometer")))...)
	if _, err := l.Add(t.Context(), ann, "", list, nil); err != nil {
		t.Fatal(err)
	}
	if got := find(t, l, ann, "barometer"); len(got) != 2 {
		t.Errorf("found %v", names(got))
	}
	one, err := l.Find(t.Context(), ann, skill.Query{Text: "barometer", Limit: 1})
	if err != nil || len(one) != 1 || one[0].Score <= 0 || one[0].Text == "" {
		t.Errorf("%v: %+v", err, one)
	}
	abstracts, err := l.Find(t.Context(), ann, skill.Query{Text: "barometer", Limit: 5, Levels: []int{0}})
	if err != nil || len(abstracts) == 0 || abstracts[0].Level != 0 {
		t.Errorf("%v: %+v", err, abstracts)
	}
}

// TestArchives refuses what leads out of a skill's folder or is no skill, and takes what people really pack.
func TestArchives(t *testing.T) {
	t.Parallel()
	main := member{name: "SKILL.md", body: md("a", "d")}
	for name, data := range map[string][]byte{
		"no SKILL.md":     archive(t, member{name: "README.md", body: "x"}),
		"up":              archive(t, main, member{name: "../x", body: "x"}),
		"up in between":   archive(t, main, member{name: "a/../../x", body: "x"}),
		"absolute":        archive(t, main, member{name: "/abs/x", body: "x"}),
		"drive":           archive(t, main, member{name: `C:\x`, body: "x"}),
		"backslash":       archive(t, main, member{name: `a\..\..\x`, body: "x"}),
		"link":            archive(t, main, member{name: "etc", body: "/etc", mode: fs.ModeSymlink}),
		"control":         archive(t, main, member{name: "a\x01b", body: "x"}),
		"percent":         archive(t, main, member{name: "a%2e%2e", body: "x"}),
		"twice":           archive(t, main, member{name: "x ", body: "1"}, member{name: "x", body: "2"}),
		"file and folder": archive(t, main, member{name: "x", body: "1"}, member{name: "x/y", body: "2"}),
		"same name":       archive(t, member{name: "a/SKILL.md", body: md("a", "d")}, member{name: "b/SKILL.md", body: md("a", "d")}),
		"broken":          []byte("PK\x03\x04 broken"),
		"bomb":            bomb(t),
		"too many":        archive(t, append([]member{main}, many(skill.MaxFiles+1)...)...),
		"no text":         {0xff, 0xfe, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := skill.Unpack(data); skald.KindOf(err) != skald.KindInvalid {
				t.Errorf("%v", err)
			}
		})
	}
	list := unpack(t, archive(t,
		member{name: "repo/README.md", body: "left out"}, member{name: "repo/one/skill.md", body: md("one", "d")},
		member{name: "repo/one/ümläut.dotted.name.md", body: "u"}, member{name: "repo/one/.DS_Store", body: "m"}, member{name: "repo/one/.abstract.md", body: "derived"},
		member{name: "repo/one/inner/SKILL.md", body: md("inner", "belongs to one")}, member{name: "__MACOSX/repo/one/SKILL.md", body: "m"},
		member{name: "repo/two/SKILL.md", body: md("two", "d")}, member{name: "repo/two/script name .sh", body: "s"}))
	var got []string
	for _, b := range list {
		for _, f := range b.Files {
			got = append(got, b.Dir+" "+b.Name+" "+f.Path)
		}
	}
	want := []string{"repo/one one inner/SKILL.md", "repo/one one ümläut.dotted.name.md", "repo/two two script name .sh"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// bomb is an archive of few bytes that unpacks to more than is allowed.
func bomb(t *testing.T) []byte {
	t.Helper()
	zeros := make([]byte, 1<<20)
	var packed, b bytes.Buffer
	f, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err == nil {
		_, err = f.Write(zeros)
	}
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(&b)
	for i := range (skill.MaxBytes+skill.MaxMain)>>20 + 1 {
		m, err := w.CreateRaw(&zip.FileHeader{Name: fmt.Sprintf("zeros/%d", i), Method: zip.Deflate, CRC32: crc32.ChecksumIEEE(zeros),
			CompressedSize64: uint64(packed.Len()), UncompressedSize64: uint64(len(zeros))})
		if err == nil {
			_, err = m.Write(packed.Bytes())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func many(n int) (out []member) {
	for i := range n {
		out = append(out, member{name: fmt.Sprintf("f%d", i)})
	}
	return out
}

// TestAllOrNothing stores none of an archive's skills when the transaction fails.
func TestAllOrNothing(t *testing.T) {
	t.Parallel()
	l, _ := library(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Add(ctx, ann, "", unpack(t, []byte(md("a", "d"))), nil); err == nil {
		t.Fatal("a cancelled write succeeded")
	}
	if list, err := l.List(t.Context(), ann, "", 0); err != nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
}
