package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// A session is deleted only when somebody says so, and its receipt answers whoever asks for it later.
func TestDelete(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	data := filepath.Join(t.TempDir(), "data")
	skald := func(want int, args ...string) (stdout, stderr string) {
		t.Helper()
		code, stdout, stderr := call(t.Context(), append(args, "--data", data)...)
		if code != want {
			t.Fatalf("skald %v: exit %d, want %d: %s%s", args, code, want, stdout, stderr)
		}
		return stdout, stderr
	}
	skald(exitOK, "import", "jsonl", "testdata/talk.jsonl")
	stdout, _ := skald(exitOK, "sessions")
	id := strings.Fields(strings.Split(stdout, "\n")[1])[0]
	if _, stderr := skald(exitInvalid, "delete", id); !strings.Contains(stderr, "--yes") {
		t.Error(stderr)
	}
	skald(exitOK, "turns", id)
	if stdout, _ := skald(exitOK, "delete", id, "--yes"); !strings.Contains(stdout, "deleted "+id) {
		t.Error(stdout)
	}
	skald(exitNotFound, "delete", id, "--yes")
	for _, args := range [][]string{{"turns", id}, {"expand", "viking://session/" + id + "/turns/1"}, {"explain", id}} {
		if _, stderr := skald(exitNotFound, args...); !strings.Contains(stderr, "deleted on") {
			t.Errorf("skald %v: %s", args, stderr)
		}
	}
	skald(exitOK, "verify")
}
