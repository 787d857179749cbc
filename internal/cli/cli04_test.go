package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// everyCommand says how to call each command of the program in a test: DATA is a data folder with the session s1, EMPTY a new folder.
// A new command stands here too.
var everyCommand = map[string][]string{
	"":                       {},
	"init":                   {"--yes", "--dry-run", "--data", "EMPTY"},
	"serve":                  {"--data", "EMPTY", "--listen", "127.0.0.1:0"},
	"status":                 {"--data", "DATA"},
	"version":                {},
	"doctor":                 {"--data", "DATA"},
	"replay":                 {"testdata/talk.jsonl"},
	"compare":                {"testdata/talk.jsonl", "--strategies", "viking,legacy"},
	"turns":                  {"s1", "--data", "DATA"},
	"context":                {"s1", "--data", "DATA"},
	"explain":                {"s1", "--data", "DATA"},
	"expand":                 {"viking://session/s1/turns/1-4", "--data", "DATA"},
	"search":                 {"port", "--data", "DATA"},
	"ls":                     {"--data", "DATA"},
	"tree":                   {"--data", "DATA"},
	"cat":                    {"viking://session/s1/turns/1", "--data", "DATA"},
	"sessions":               {"--data", "DATA"},
	"verify":                 {"--data", "DATA"},
	"commit":                 {"s1", "--wait", "--data", "DATA"},
	"forget":                 {"viking://session/s1/turns/1", "--dry-run", "--data", "DATA"},
	"delete":                 {"none", "--yes", "--data", "DATA"}, // the others need what is there
	"pack":                   {},
	"pack export":            {"viking://resources", "EMPTY", "--data", "DATA"},
	"pack backup":            {"EMPTY", "--data", "DATA"},
	"pack import":            {"testdata/talk.jsonl", "viking://resources", "--data", "DATA"}, // no pack
	"pack restore":           {"testdata/talk.jsonl", "--data", "DATA"},
	"jobs":                   {},
	"jobs list":              {"--all", "--data", "DATA"},
	"jobs retry":             {"99", "--data", "DATA"}, // there is none: the error is a document, too
	"jobs cancel":            {"99", "--data", "DATA"},
	"bench":                  {},
	"bench engine":           {"--data", "EMPTY", "--messages", "20"},
	"bench recall":           {"--data", "EMPTY", "--turns", "40"},
	"bench api":              {"--data", "EMPTY", "--entries", "20", "--span", "50ms"},
	"completion":             {"bash"},
	"man":                    {"EMPTY"},
	"bench evidence":         {"--data", "EMPTY"},
	"import":                 {"jsonl", "testdata/talk.jsonl", "--data", "EMPTY"},
	"resource":               {},
	"resource add":           {"testdata/talk.jsonl", "--data", "EMPTY"},
	"add-resource":           {"testdata/talk.jsonl", "--data", "EMPTY"},
	"resource list":          {"--data", "DATA"},
	"resource watch":         {},
	"resource watch list":    {"--data", "DATA"},
	"resource watch pause":   {"viking://resources/x", "--data", "DATA"}, // there is none
	"resource watch resume":  {"viking://resources/x", "--data", "DATA"},
	"resource watch trigger": {"viking://resources/x", "--data", "DATA"},
	"resource watch remove":  {"viking://resources/x", "--data", "DATA"},
	"trial":                  {"jsonl", "testdata/talk.jsonl"},
	"openclaw":               {},
	"openclaw install":       {"--dry-run", "--yes", "--openclaw-state", "STATE", "--data", "EMPTY"}, // OpenClaw itself may not be here
	"openclaw status":        {"--openclaw-state", "STATE", "--data", "EMPTY"},
	"openclaw uninstall":     {"--dry-run", "--yes", "--openclaw-state", "STATE", "--data", "EMPTY"},
	"claude":                 {},
	"claude install":         {"--dry-run", "--yes", "--data", "EMPTY"},
	"claude status":          {"--data", "EMPTY"},
	"claude uninstall":       {"--dry-run", "--yes", "--data", "EMPTY"},
	"claude hook":            {"SessionStart", "--data", "EMPTY"},
	"mcp":                    {"--data", "EMPTY"},
	"skill":                  {},
	"skill add":              {"testdata/skill", "--data", "DATA"},
	"skill list":             {"--data", "DATA"},
	"skill show":             {"none", "--data", "DATA"},
	"skill find":             {"moor", "--data", "DATA"},
	"skill validate":         {"testdata/skill"},
	"skill remove":           {"none", "--data", "DATA"},
	"help":                   {"turns"},

	"admin":                      {},
	"admin list-accounts":        {"--data", "DATA"},
	"admin create-account":       {"acme", "--admin", "ann", "--data", "DATA"},
	"admin delete-account":       {"none", "--data", "DATA"}, // there is none: the error is a document, too
	"admin set-account-settings": {"acme", "--agent-evolution", "--data", "DATA"},
	"admin list-users":           {"acme", "--data", "DATA"},
	"admin register-user":        {"acme", "bob", "--data", "DATA"},
	"admin remove-user":          {"acme", "nobody", "--data", "DATA"},
	"admin set-role":             {"acme", "ann", "admin", "--data", "DATA"},
	"admin regenerate-key":       {"acme", "ann", "--data", "DATA"},
}

// mayFail are commands whose call above may be answered with an error.
var mayFail = map[string]bool{"resource watch pause": true, "resource watch resume": true, "resource watch trigger": true, "resource watch remove": true,
	"pack import": true, "pack restore": true, "delete": true, "skill show": true, "skill remove": true, "jobs retry": true, "jobs cancel": true, "admin delete-account": true, "admin remove-user": true,
	"bench evidence":   true,
	"openclaw install": true, "openclaw status": true, "openclaw uninstall": true}

// maySayNothing are commands that speak another program's protocol, with whom nobody speaks here.
var maySayNothing = map[string]bool{"claude hook": true, "mcp": true}

// TestCLI04EveryCommandPrintsOneDocument: with --json and the log at debug, standard output is one JSON document, whatever the
// command, and nothing but an error leaves it empty.
func TestCLI04EveryCommandPrintsOneDocument(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("SKALD_CONFIG", "")
	t.Setenv("SKALD_DATA", "")
	data := filepath.Join(home, "data")
	if code, _, stderr := call(t.Context(), "replay", "testdata/talk.jsonl", "--session", "s1", "--data", data); code != 0 {
		t.Fatal(stderr)
	}
	t.Setenv("SKALD_LOG_LEVEL", "debug")
	var paths []string
	walk(newShell(nil, nil).root(), func(c *cobra.Command) {
		if c.Runnable() {
			paths = append(paths, strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), "skald"), " "))
		}
	})
	for _, path := range paths {
		args, ok := everyCommand[path]
		if !ok {
			t.Errorf("`skald %s` does not stand in everyCommand: say how to call it", path)
			continue
		}
		t.Run("skald "+path, func(t *testing.T) { oneDocument(t, path, data, args) })
	}
}

func oneDocument(t *testing.T, path, data string, args []string) {
	line := strings.Fields(path)
	for _, a := range args {
		switch a {
		case "DATA":
			a = data
		case "EMPTY":
			a = filepath.Join(t.TempDir(), "empty")
		case "STATE":
			a = t.TempDir()
			if err := os.WriteFile(filepath.Join(a, "openclaw.json"), []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		line = append(line, a)
	}
	code, stdout, stderr := callOnce(t, path, append(line, "--json"))
	switch {
	case mayFail[path] && code != 0 && stdout == "":
		lines := strings.Split(strings.TrimSpace(stderr), "\n")
		if !json.Valid([]byte(lines[len(lines)-1])) {
			t.Errorf("the error is not a document: %s", stderr)
		}
	case code != 0 && code != exitCheck:
		t.Errorf("exit %d: %s", code, stderr)
	case maySayNothing[path] && stdout == "":
	case !json.Valid([]byte(stdout)):
		t.Errorf("standard output is not one document: %q", stdout)
	}
}

// call runs the program in this process, on streams that are no terminal.
func call(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = Main(ctx, args, &out, &err)
	return code, out.String(), err.String()
}

// callOnce is call; the daemon is stopped as soon as it has said something.
func callOnce(t *testing.T, path string, args []string) (code int, stdout, stderr string) {
	if path != "serve" {
		return call(t.Context(), args...)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var err bytes.Buffer
	out := &until{stop: stop}
	code = Main(ctx, args, out, &err)
	return code, out.String(), err.String()
}

// until ends something at the first line written to it.
type until struct {
	bytes.Buffer
	stop func()
}

func (u *until) Write(b []byte) (int, error) {
	if bytes.ContainsRune(b, '\n') {
		defer u.stop()
	}
	return u.Buffer.Write(b)
}
