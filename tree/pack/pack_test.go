package pack_test

import (
	"bytes"
	"testing"

	"github.com/skald-engine/skald/tree/pack"
)

var limits = pack.Limits{Files: 100, File: 1 << 20, Total: 1 << 22}

func write(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := pack.NewWriter(&b, pack.Root{Name: "x", Scope: "resources", URI: "viking://resources/x"})
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range files {
		if err := w.File(name, []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a b.md": "one", "d\u2028e.md": "two", "<ü>.md": "", "bin": "\x00\xff"}
	b := write(t, files)
	p, err := pack.Open(bytes.NewReader(b), int64(len(b)), limits)
	if err != nil {
		t.Fatal(err)
	}
	if p.Root.URI != "viking://resources/x" || p.Root.Whole() || len(p.Entries) != len(files) {
		t.Errorf("%+v", p)
	}
	for _, e := range p.Entries {
		if body, err := e.Read(); err != nil || string(body) != files[e.Path] {
			t.Errorf("%s: %q %v", e.Path, body, err)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	b := write(t, map[string]string{"a": "12345678", "b": "12345678"})
	for what, l := range map[string]pack.Limits{"files": {Files: 3, File: 100, Total: 1 << 20}, "file": {Files: 100, File: 7, Total: 1 << 20},
		"total": {Files: 100, File: 100, Total: 15}} {
		if _, err := pack.Open(bytes.NewReader(b), int64(len(b)), l); err == nil {
			t.Errorf("%s is no limit", what)
		}
	}
}

// FuzzOpen: whatever the bytes, reading ends without a panic and never yields a path that leads outside.
func FuzzOpen(f *testing.F) {
	f.Add(write(f, map[string]string{"a/b.md": "text", ".abstract.md": "x"}))
	f.Add([]byte("PK\x05\x06"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := pack.Open(bytes.NewReader(b), int64(len(b)), limits)
		if err != nil {
			return
		}
		for _, e := range p.Entries {
			if bytes.Contains([]byte("/"+e.Path+"/"), []byte("/../")) || e.Path[0] == '/' {
				t.Errorf("%q leads outside", e.Path)
			}
			if !e.Dir {
				_, _ = e.Read()
			}
		}
	})
}
