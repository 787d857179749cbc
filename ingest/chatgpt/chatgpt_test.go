package chatgpt

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/record/recordtest"
)

func TestGolden(t *testing.T) {
	t.Parallel()
	recordtest.Golden(t, recordtest.Open(t, Open, "testdata/export"), "testdata", "testdata/golden.json")
}

// TestZip: the zip file yields what its unpacked folder does.
func TestZip(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "export")
	pack(t, path, "testdata/export")
	want, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join(dir, "golden.json")
	if err := os.WriteFile(golden, want, 0o600); err != nil {
		t.Fatal(err)
	}
	recordtest.Golden(t, recordtest.Open(t, Open, path), dir, golden)
}

// pack makes a zip file of a folder.
func pack(t *testing.T, path, dir string) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		w, err := z.Create(filepath.Base(f))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestZipBomb: a member that unpacks to much more than any export is given up.
func TestZipBomb(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bomb.zip")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	w, err := z.Create("conversations.json")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(w, `[{"title":"`)
	blank := bytes.Repeat([]byte("a"), 1<<20)
	for range 16 {
		if _, err := w.Write(blank); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprint(w, `"}]`)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	messages, skipped := recordtest.Drain(t, recordtest.Open(t, Open, path))
	if messages != 0 || skipped != 1 {
		t.Errorf("%d messages, %d skipped", messages, skipped)
	}
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	notZip := filepath.Join(t.TempDir(), "x.zip")
	if err := os.WriteFile(notZip, []byte("no zip"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		paths []string
		kind  skald.Kind
	}{
		{nil, skald.KindNotFound},
		{[]string{"testdata/none"}, skald.KindNotFound},
		{[]string{t.TempDir()}, skald.KindNotFound},
		{[]string{notZip}, skald.KindInvalid},
	} {
		if _, err := Open(t.Context(), c.paths, ingest.OpenOptions{}); skald.KindOf(err) != c.kind {
			t.Errorf("%v: %v", c.paths, err)
		}
	}
}

// TestLazy: an export is never in the memory as a whole.
func TestLazy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "conversations.json")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	const count, text = 40, 300_000 // 12 MB
	body := strings.Repeat("port 5544 ", text/10)
	io.WriteString(f, "[")
	for n := range count {
		if n > 0 {
			io.WriteString(f, ",")
		}
		fmt.Fprintf(f, `{"id":"c%d","current_node":"a","mapping":{"a":{"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":[%q]}}}}}`,
			n, body)
	}
	io.WriteString(f, "]")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	messages := 0
	var most uint64
	for c, err := range recordtest.Open(t, Open, path).Conversations(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for range c.Items {
			messages++
		}
		if messages%10 == 0 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
	if messages != count {
		t.Errorf("%d messages", messages)
	}
	if most > 8<<20 {
		t.Errorf("%d bytes are held while an export of 12 MB is read", most)
	}
}

func FuzzConversations(f *testing.F) {
	b, err := os.ReadFile("testdata/export/conversations.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	var list []json.RawMessage
	if err := json.Unmarshal(b, &list); err != nil {
		f.Fatal(err)
	}
	for _, c := range list {
		f.Add([]byte("[" + string(c) + "]"))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "conversations.json")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		recordtest.Drain(t, recordtest.Open(t, Open, path))
	})
}
