package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestAdminRoundTrip: an account and its users in a data folder, from the first key to the last byte.
func TestAdminRoundTrip(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("SKALD_CONFIG", "")
	data := filepath.Join(t.TempDir(), "data")
	if code, _, stderr := call(t.Context(), "replay", "testdata/talk.jsonl", "--session", "s1", "--data", data, "--account", "acme", "--user", "bob"); code != 0 {
		t.Fatal(stderr)
	}
	run := func(want int, args ...string) string {
		t.Helper()
		code, stdout, stderr := call(t.Context(), append(append([]string{"admin"}, args...), "--data", data)...)
		if code != want {
			t.Fatalf("admin %s: exit %d, want %d: %s", strings.Join(args, " "), code, want, stderr)
		}
		return stdout
	}
	run(exitInvalid, "create-account", "acme")
	run(0, "create-account", "acme", "--admin", "ann")
	var bob struct {
		Key string `json:"user_key"`
	}
	if err := json.Unmarshal([]byte(run(0, "register-user", "acme", "bob", "--json")), &bob); err != nil || strings.Count(bob.Key, ".") != 2 {
		t.Fatalf("%q %v", bob.Key, err)
	}
	run(exitInvalid, "register-user", "acme", "carl", "--role", "root")
	run(0, "set-role", "acme", "bob", "admin")
	users := run(0, "list-users", "acme")
	if !strings.Contains(users, "bob") || !strings.Contains(users, "admin") || strings.Contains(users, bob.Key) {
		t.Errorf("users:\n%s", users)
	}
	if again := run(0, "regenerate-key", "acme", "bob"); strings.Contains(again, bob.Key) || strings.Contains(run(0, "list-users", "acme"), bob.Key) {
		t.Error("the old key is shown")
	}
	if shown := run(0, "set-account-settings", "acme", "--isolate-agent-scope-by-user"); !strings.Contains(shown, "by user true") {
		t.Errorf("settings: %s", shown)
	}
	run(0, "remove-user", "acme", "bob")
	code, left, _ := call(t.Context(), "sessions", "--data", data, "--account", "acme", "--user", "bob", "--json")
	if code != 0 || strings.TrimSpace(left) != "[]" {
		t.Errorf("bob's sessions are left: %s", left)
	}
	if accounts := run(0, "list-accounts"); !strings.Contains(accounts, "acme") {
		t.Errorf("accounts:\n%s", accounts)
	}
	run(0, "delete-account", "acme")
	if accounts := run(0, "list-accounts"); strings.Contains(accounts, "acme") {
		t.Errorf("accounts:\n%s", accounts)
	}
}
