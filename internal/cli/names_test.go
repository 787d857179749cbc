package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"
)

// TestCLI03OddFileNames: names in any script and with any sign work; a name that is no text is refused by name, never stored as another.
func TestCLI03OddFileNames(t *testing.T) {
	t.Parallel()
	talk, err := os.ReadFile("testdata/talk.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"报告 2024.md", "cafe\u0301.jsonl", "#?%.jsonl", "bad\xffname.jsonl"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, talk, 0o600); err != nil {
			if errors.Is(err, syscall.EILSEQ) || errors.Is(err, syscall.EINVAL) {
				continue // this system has no such names
			}
			t.Fatal(err)
		}
		for _, command := range [][]string{{"replay"}, {"import", "jsonl"}} {
			data := filepath.Join(t.TempDir(), "data")
			code, stdout, stderr := call(t.Context(), append(command, path, "--data", data, "--json")...)
			if utf8.ValidString(name) {
				checkTaken(t, code, stdout, stderr, data)
				continue
			}
			if code == 0 || !strings.Contains(stderr, `bad\\xffname`) || strings.ContainsRune(stderr, utf8.RuneError) {
				t.Errorf("%v %q: exit %d, %s%s", command, name, code, stdout, stderr)
			}
		}
	}
}

func checkTaken(t *testing.T, code int, stdout, stderr, data string) {
	t.Helper()
	if code != 0 || !json.Valid([]byte(stdout)) || strings.ContainsRune(stdout, utf8.RuneError) {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	if _, stdout, _ := call(t.Context(), "status", "--data", data, "--json"); !strings.Contains(stdout, `"turns":`) || strings.Contains(stdout, `"turns":0`) {
		t.Errorf("nothing was stored: %s", stdout)
	}
}

// TestCLI03FolderWithOddNames: in a folder the file whose name is no text is named and left out, and the rest goes in.
func TestCLI03FolderWithOddNames(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), filepath.Join(t.TempDir(), "data")
	for i, name := range []string{"报告 2024.jsonl", "cafe\u0301.jsonl", "#?%.jsonl", "bad\xffname.jsonl"} {
		text := fmt.Sprintf(`{"role":"user","content":"Note number %d."}`, i)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Skipf("this system has no such names: %v", err)
		}
	}
	code, stdout, stderr := call(t.Context(), "import", "jsonl", dir, "--data", data, "--json")
	var r struct {
		Imported, Skipped int
		Skips             []struct{ Where, Reason string }
	}
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || code != 0 {
		t.Fatalf("exit %d, %v: %s%s", code, err, stdout, stderr)
	}
	if r.Imported != 3 || r.Skipped != 1 || !strings.Contains(r.Skips[0].Where, `bad\xffname`) || strings.ContainsRune(stdout, utf8.RuneError) {
		t.Errorf("%s", stdout)
	}
	if _, stdout, _ := call(t.Context(), "sessions", "--data", data, "--json"); strings.Count(stdout, `"session_id"`) != 3 {
		t.Errorf("sessions: %s", stdout)
	}
}
