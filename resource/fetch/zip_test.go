package fetch_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/resource/fetch"
)

type member struct {
	name  string
	body  string
	mode  fs.FileMode
	claim uint64 // the size that its head claims, where that is not the body's
}

func archiveOf(t *testing.T, members ...member) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate}
		if m.mode != 0 {
			h.SetMode(m.mode)
		}
		create := z.CreateHeader
		if m.claim > 0 {
			h.UncompressedSize64, h.CompressedSize64, create = m.claim, uint64(len(m.body)), z.CreateRaw
		}
		w, err := create(h)
		if err == nil {
			_, err = w.Write([]byte(m.body))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "a.zip")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

var small = fetch.Limits{Download: 1 << 30, Total: 64 << 20, Files: 1000, Depth: 32, Ratio: 100}

func unzip(t *testing.T, file string) (*fetch.Source, error) {
	t.Helper()
	temp := t.TempDir()
	s, err := fetch.Fetcher{Limits: small, Temp: temp}.FromFile(file, "stuff.zip", fetch.Filter{})
	if err != nil {
		if left, _ := os.ReadDir(temp); len(left) > 0 {
			t.Errorf("temporary files are left: %v", left)
		}
		return nil, err
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, nil
}

func paths(s *fetch.Source) (out []string) {
	for _, f := range s.Files {
		out = append(out, f.Path)
	}
	return out
}

// SEC-01: an archive that is an attack is refused as a whole.
func TestSEC01HostileArchives(t *testing.T) {
	t.Parallel()
	bomb := []member{{name: "a.txt", body: "x", claim: 20 << 20}, {name: "b.txt", body: "x", claim: 20 << 20}}
	big := append(slices.Clone(bomb), member{name: "c.txt", body: "x", claim: 40 << 20})
	many := []member{}
	for i := range 2500 {
		many = append(many, member{name: fmt.Sprintf("%d.txt", i)})
	}
	for what, members := range map[string][]member{
		"up": {{name: "../x"}}, "absolute": {{name: "/abs/x"}}, "drive": {{name: `C:\x`}}, "inside": {{name: "a/../../x"}},
		"backslashes": {{name: `..\..\x`}}, "link": {{name: "link", body: "/etc", mode: fs.ModeSymlink | 0o777}},
		"device": {{name: "dev", mode: fs.ModeDevice | 0o600}}, "ratio": bomb, "total": big, "count": many,
		"late": {{name: "ok.txt", body: "fine"}, {name: "z/../../x"}},
	} {
		_, err := unzip(t, archiveOf(t, members...))
		wantKind(t, what, err, skald.KindInvalid)
	}
}

// API-03: a cut-off archive is the client's fault.
func TestAPI03CutArchive(t *testing.T) {
	t.Parallel()
	file := archiveOf(t, member{name: "a.txt", body: "words"})
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b[:len(b)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = unzip(t, file)
	wantKind(t, "cut", err, skald.KindInvalid)
}

// A member that is longer than its head says is not read to its end.
func TestLyingMember(t *testing.T) {
	t.Parallel()
	file := archiveOf(t, member{name: "a.txt", body: strings.Repeat("words ", 1000)})
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(b, []byte("PK\x01\x02")) // the central directory
	copy(b[at+24:], []byte{10, 0, 0, 0})           // the size without packing
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := unzip(t, file)
	if err == nil {
		_, err = s.Files[0].Read(1 << 20)
	}
	wantKind(t, "a lying size", err, skald.KindInvalid)
}

func TestOddArchives(t *testing.T) {
	t.Parallel()
	s, err := unzip(t, archiveOf(t, member{name: "top/./a//b.txt", body: "b"}, member{name: "top/"}, member{name: "top/what?.txt"}, member{name: "top/what*.txt"},
		member{name: "top/\xd6\xd0\xce\xc4.txt"}, member{name: "__MACOSX/top/._a"}, member{name: "top/" + strings.Repeat("d/", 40) + "deep.txt"}))
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "top" {
		t.Errorf("the source is called %q", s.Name)
	}
	want := []string{"a/b.txt", "what_.txt", "what__" + fetch.Mark("top/what*.txt") + ".txt", "中文.txt"}
	if got := paths(s); !slices.Equal(got, want) && !slices.Equal(got, []string{want[0], "what_.txt", "what__" + fetch.Mark("top/what?.txt") + ".txt", want[3]}) {
		t.Errorf("files %q", got)
	}
	said := strings.Join(s.Warnings, "\n")
	if !strings.Contains(said, "folders deep") || !strings.Contains(said, "what*") {
		t.Errorf("warnings %q", said)
	}
}
