package openclaw

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/skald-engine/skald"
)

func TestUnpack(t *testing.T) {
	t.Parallel()
	for _, id := range Builds {
		dir := filepath.Join(t.TempDir(), "a", id)
		for range 2 { // again over what is there
			if err := Unpack(id, dir); err != nil {
				t.Fatal(err)
			}
		}
		raw, err := os.ReadFile(filepath.Join(dir, "openclaw.plugin.json"))
		if err != nil {
			t.Fatal(err)
		}
		var manifest struct{ ID, Version string }
		if err := json.Unmarshal(raw, &manifest); err != nil || manifest.ID != id || manifest.Version == "" {
			t.Errorf("manifest of %s: %+v, %v", id, manifest, err)
		}
		files, err := fs.Glob(os.DirFS(dir), "*")
		if err != nil || len(files) != 3 {
			t.Errorf("%s holds %v, %v", id, files, err)
		}
	}
	var e *skald.Error
	if err := Unpack("other", t.TempDir()); !errors.As(err, &e) || e.Field != "build" {
		t.Errorf("an unknown build gives %v", err)
	}
}
