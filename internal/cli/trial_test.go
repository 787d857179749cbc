package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// An interrupted trial leaves no temporary folder and no half page.
func TestInterruptedTrialLeavesNothing(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted from outside there")
	}
	dir, temp := t.TempDir(), t.TempDir()
	var talk bytes.Buffer
	for i := range 5000 { // far more than is played before the interruption
		fmt.Fprintf(&talk, "{\"role\":%q,\"content\":\"heron number %d\",\"timestamp\":%d}\n", []string{"user", "assistant"}[i%2], i, 1772410000000+i)
	}
	if err := os.WriteFile(filepath.Join(dir, "talk.jsonl"), talk.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, "trial", "jsonl", "talk.jsonl", "--out", "page.html")
	c.Dir, c.Env = dir, append(os.Environ(), "TMPDIR="+temp, "HOME="+dir)
	var said bytes.Buffer
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "both stores", func() bool {
		stores, _ := filepath.Glob(filepath.Join(temp, "skald-trial-*", "*", "skald.db"))
		return len(stores) == 2
	})
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 1 || !bytes.Contains(said.Bytes(), []byte("interrupted")) {
		t.Errorf("exit code %d, %s", code, said.String())
	}
	for _, folder := range []string{temp, dir} {
		left, _ := filepath.Glob(filepath.Join(folder, "*"))
		if want := map[string]int{temp: 0, dir: 1}[folder]; len(left) != want {
			t.Errorf("left over: %v", left)
		}
	}
}

// await polls until something is there.
func await(t *testing.T, what string, there func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !there(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
