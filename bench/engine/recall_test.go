package enginebench

import (
	"os"
	"path/filepath"
	"testing"
)

// A folder is loaded again unless it was loaded to the end with as many turns.
func TestLoaded(t *testing.T) {
	t.Parallel()
	o := RecallOptions{Data: t.TempDir(), Turns: 40}
	if o.loaded() {
		t.Error("an empty folder is loaded")
	}
	if err := os.WriteFile(filepath.Join(o.Data, done), []byte("40\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !o.loaded() {
		t.Error("the folder of a run before is not taken")
	}
	if o.Turns = 41; o.loaded() {
		t.Error("the folder holds fewer turns")
	}
}
