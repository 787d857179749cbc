package record

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestArchiveNames: no member of a zip file can lead out of it.
func TestArchiveNames(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.zip")
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"../evil", "/evil", `a\..\evil`, "a/../evil", "folder/", "a/good.json", "C:/evil"} {
		if _, err := z.CreateHeader(&zip.FileHeader{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := Archive(t.Context(), "test", path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	if len(names) == 0 || names[0] != "a/good.json" || len(names) > 2 { // "C:/evil" is a harmless name where drives are unknown
		t.Errorf("%q", names)
	}
}

func TestMeter(t *testing.T) {
	t.Parallel()
	m := &Meter{In: bytes.NewReader(make([]byte, 1<<20)), Most: 1000}
	if n, err := io.Copy(io.Discard, io.MultiReader(m)); err == nil || n > 64<<10 {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	text := "\xef\xbb\xbfone\r\n\n" + string(bytes.Repeat([]byte("x"), 200_000)) + "\nlast without an end"
	var got []Line
	for l, err := range lines(bytes.NewReader([]byte(text)), 100_000) {
		if err != nil {
			t.Fatal(err)
		}
		l.Text = bytes.Clone(l.Text)
		got = append(got, l)
	}
	if len(got) != 3 || string(got[0].Text) != "one" || !got[1].TooLong || got[1].Number != 3 || got[1].Text != nil ||
		string(got[2].Text) != "last without an end" {
		t.Errorf("%+v", got)
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		``: `{}`, `null`: `{}`, `""`: `{}`, `{"a":1}`: `{"a":1}`, `"{\"a\":1}"`: `{"a":1}`, `"plain"`: `{"input":"plain"}`, `[1]`: `{"input":[1]}`,
		`{broken`: `{"input":"{broken"}`,
	} {
		if got := string(Arguments([]byte(in))); got != want {
			t.Errorf("Arguments(%s) = %s, not %s", in, got, want)
		}
	}
}

func TestTime(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int64{
		"2026-01-02T03:04:05.678Z": 1767323045678, "2026-01-02 03:04:05": 1767323045000, "2026-01-02T03:04:05.5": 1767323045500,
		"2026-01-02T04:04:05+01:00": 1767323045000, "yesterday": 0, "": 0,
	} {
		if got := Millis(Time(in)); got != want {
			t.Errorf("Time(%q) = %d, not %d", in, got, want)
		}
	}
}
