package fetch_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skald-engine/skald/resource/fetch"
)

// What is packed here is what an import takes: links lead nowhere, and what every import leaves out is not sent.
func TestPack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.md", "sub/b.go", ".git/config", "node_modules/x/y.js", "sub/.DS_Store"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.md")); err != nil {
		t.Skip("no symbolic links here")
	}
	var b bytes.Buffer
	if err := fetch.Pack(&b, dir); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "p.zip")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := unzip(t, file)
	if err != nil {
		t.Fatal(err)
	}
	if got := paths(s); !slices.Equal(got, []string{"a.md", "sub/b.go"}) {
		t.Errorf("packed %q", got)
	}
}
