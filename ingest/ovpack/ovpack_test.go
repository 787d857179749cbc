package ovpack

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/record/recordtest"
	"github.com/skald-engine/skald/server/api"
)

func TestFolder(t *testing.T) {
	t.Parallel()
	recordtest.Golden(t, recordtest.Open(t, Open, "testdata/user"), "testdata", "testdata/folder.golden.json")
}

// TestPack: a pack yields what the folders do that were packed, in the layout of today and in that of early versions.
func TestPack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, version := range []string{"3", "1"} {
		golden := filepath.Join(dir, version+".golden.json")
		path := filepath.Join(dir, version, "user.ovpack")
		pack3(t, path, version)
		want, err := os.ReadFile("testdata/folder.golden.json")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, bytes.ReplaceAll(want, []byte("ROOT/user#"), []byte("ROOT/user.ovpack#")), 0o600); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, []byte("ROOT/user ("), []byte("ROOT/user.ovpack ("))
		text = bytes.ReplaceAll(text, []byte(`"ROOT/user"`), []byte(`"ROOT/user.ovpack"`))
		if err := os.WriteFile(golden, text, 0o600); err != nil {
			t.Fatal(err)
		}
		recordtest.Golden(t, recordtest.Open(t, Open, path), filepath.Dir(path), golden)
	}
}

// pack3 packs testdata/user as OpenViking does: version 3 puts the files under files/, version 1 right under the root with "_._" for a
// leading dot.
func pack3(t *testing.T, path, version string) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	write := func(name string, text []byte) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	err := filepath.WalkDir("testdata/user", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("testdata/user", p)
		name := "user/files/" + filepath.ToSlash(rel)
		if version == "1" {
			name = strings.ReplaceAll("user/"+filepath.ToSlash(rel), "/.", "/_._")
		}
		write(name, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	write("user/_ovpack/manifest.json", []byte(`{"format_version":3,"kind":"openviking.ovpack","root":{"name":"user","uri":"viking://user"}}`))
	write("user/_ovpack/index_records.jsonl", nil)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSessionFolder: a session's own folder, and its messages alone, are enough.
func TestSessionFolder(t *testing.T) {
	t.Parallel()
	dir := "testdata/user/alice/sessions/11111111-2222-4333-8444-555555555555"
	for path, want := range map[string]int{dir: 13, dir + "/messages.jsonl": 10} {
		messages := 0
		for c := range recordtest.Open(t, Open, path).Conversations(t.Context()) {
			for i := range c.Items {
				if i.Skipped != "" {
					continue
				}
				if messages++; c.Session.SessionID != filepath.Base(dir) {
					t.Errorf("%s: %+v", path, c.Session)
				}
			}
		}
		if messages != want {
			t.Errorf("%s: %d messages, not %d", path, messages, want)
		}
	}
}

// TestReadsBack: what was imported reads as it was through the OpenViking API.
func TestReadsBack(t *testing.T) {
	t.Parallel()
	var list []api.HostMessage
	for c := range recordtest.Open(t, Open, "testdata/user/alice/sessions").Conversations(t.Context()) {
		for i := range c.Items {
			if i.Skipped == "" && i.Entry.EntryID == "msg_2" || i.Entry.EntryID == "msg_2/1" {
				list = append(list, api.HostMessage{Seq: int64(len(list) + 1), Raw: i.Entry.Message})
			}
		}
	}
	got := api.FromHost("s", list)
	if len(got) != 1 || got[0].ID != "msg_2" || len(got[0].Parts) != 2 || string(got[0].Parts[1]["tool_output"]) != `"it answers"` {
		t.Errorf("%+v", got)
	}
}

func TestPlaces(t *testing.T) {
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(t.TempDir(), "ov.conf")
	t.Setenv("OPENVIKING_CONFIG_FILE", conf)
	if err := os.WriteFile(conf, []byte(`{"storage":{"workspace":"`+filepath.ToSlash(filepath.Join(dir, "none"))+`"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), nil, ingest.OpenOptions{}); skald.KindOf(err) != skald.KindNotFound {
		t.Errorf("no workspace: %v", err)
	}
	if _, err := Open(t.Context(), []string{"testdata/user/alice/resources"}, ingest.OpenOptions{}); skald.KindOf(err) != skald.KindNotFound {
		t.Errorf("nothing to import: %v", err)
	}
}

func FuzzMessages(f *testing.F) {
	files, _ := filepath.Glob("testdata/user/*/sessions/*/messages.jsonl")
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, []byte("x <!-- MEMORY_FIELDS {} -->"))
		for line := range strings.Lines(string(b)) {
			f.Add([]byte(line), []byte("<!-- MEMORY_FIELDS"))
		}
	}
	f.Fuzz(func(t *testing.T, messages, memory []byte) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "memories"), 0o700); err != nil {
			t.Fatal(err)
		}
		for name, b := range map[string][]byte{"messages.jsonl": messages, "memories/m.md": memory} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		recordtest.Drain(t, recordtest.Open(t, Open, dir))
	})
}
