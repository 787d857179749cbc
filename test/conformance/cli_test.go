package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/skald-engine/skald/test/openviking"
)

// atHome are the commands of ov without a server's side, or for a person at a terminal.
var atHome = map[string]string{
	"config": "its own files", "language": "its own files", "version": "its own", "tui": "for a person at a terminal",
	"chat": "talks with a bot that is another program", "system crypto": "makes keys locally",
}

// ov is the real command with a home of its own.
type ov struct {
	bin, home string
}

func newOV(t *testing.T, s target) ov {
	t.Helper()
	o := ov{bin: filepath.Join(openviking.Venv(t), "bin", "ov"), home: t.TempDir()}
	conf, err := json.Marshal(map[string]any{"url": s.url, "api_key": s.user, "root_api_key": s.root, "echo_command": false})
	if err != nil {
		t.Fatal(err)
	}
	o.put(t, "ovcli.conf", string(conf))
	o.put(t, "note.md", "# Swifts\n\nSwifts sleep in the air.\n")
	o.put(t, "docs/one.md", "One.\n")
	o.put(t, "docs/two.txt", "Two.\n")
	o.put(t, "skill/SKILL.md", "---\nname: bird-names\ndescription: Names birds.\n---\n\n# Bird names\n\nLook closely.\n")
	if code, _, said := o.run(t, "language", "en"); code != 0 {
		t.Fatalf("ov language: %s", said)
	}
	return o
}

func (o ov) put(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(o.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (o ov) run(t *testing.T, args ...string) (code int, stdout []byte, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), o.bin, args...)
	cmd.Env = append(os.Environ(), "HOME="+o.home, "OPENVIKING_CLI_CONFIG_FILE="+filepath.Join(o.home, "ovcli.conf"))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode(), out.Bytes(), errs.String()
	} else if err != nil {
		t.Fatal(err)
	}
	return 0, out.Bytes(), errs.String()
}

var (
	topCommand = regexp.MustCompile(`(?m)^│ ([a-z][a-z-]*) {2,}`)
	subCommand = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*)(?: |$)`)
)

// commands are the commands that ov's own help tells, with their subcommands.
func (o ov) commands(t *testing.T) (list []string) {
	t.Helper()
	_, help, _ := o.run(t, "--help")
	var walk func(path, above string)
	walk = func(path, above string) {
		if atHome[path] != "" {
			return
		}
		_, text, _ := o.run(t, append(strings.Fields(path), "--help")...)
		below := subcommands(string(text))
		if len(below) == 0 || string(text) == above { // some commands show the help of their group
			list = append(list, path)
			return
		}
		for _, name := range below {
			walk(path+" "+name, string(text))
		}
	}
	for _, m := range topCommand.FindAllStringSubmatch(string(help), -1) {
		walk(m[1], "")
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func subcommands(help string) (names []string) {
	_, block, ok := strings.Cut(help, "\nSubcommands\n")
	if !ok {
		_, block, ok = strings.Cut(help, "\nCommands:\n")
	}
	if !ok {
		return nil
	}
	block, _, _ = strings.Cut(block, "\n\n")
	for _, m := range subCommand.FindAllStringSubmatch(block, -1) {
		if m[1] != "help" {
			names = append(names, m[1])
		}
	}
	return names
}

// invocation is a line of testdata/cli.txt.
type invocation struct {
	args string
	code int
	keep [2]string
}

func readInvocations(t *testing.T) (list []invocation) {
	t.Helper()
	b, err := os.ReadFile("testdata/cli.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		args, answer, ok := strings.Cut(line, " => ")
		code, option, _ := strings.Cut(answer, " ; keep ")
		name, path, _ := strings.Cut(option, "=")
		n, err := strconv.Atoi(code)
		if !ok || err != nil {
			t.Fatalf("cli.txt: %q is not `arguments => exit code`", line)
		}
		list = append(list, invocation{args, n, [2]string{name, path}})
	}
	return list
}

// outcome is what an invocation did.
type outcome struct {
	invocation
	code int
	body any
	said string
}

// play runs the table, with every command that ov has.
func play(t *testing.T, s target) (list []outcome) {
	t.Helper()
	o := newOV(t, s)
	kept := map[string]string{"DIR": o.home}
	played := readInvocations(t)
	for _, name := range o.commands(t) {
		if !slices.ContainsFunc(played, func(i invocation) bool { return i.args == name || strings.HasPrefix(i.args, name+" ") }) {
			t.Errorf("ov has a command %q that no line of cli.txt calls", name)
		}
	}
	for _, i := range played {
		args := i.args
		for name, value := range kept {
			args = strings.ReplaceAll(args, "$"+name, value)
		}
		code, out, said := o.run(t, append([]string{"-o", "json"}, strings.Fields(args)...)...)
		r := outcome{invocation: i, code: code, said: said}
		if json.Unmarshal(out, &r.body) != nil {
			_ = json.Unmarshal([]byte(said), &r.body)
		}
		if i.keep[0] != "" {
			kept[i.keep[0]] = fmt.Sprint(reply{body: r.body}.at(i.keep[1]))
		}
		list = append(list, r)
	}
	return list
}

func (o outcome) judge(want any) []string {
	if o.code != o.invocation.code {
		return []string{fmt.Sprintf("exit code: want %d, have %d", o.invocation.code, o.code)}
	}
	return Differences("$", want, Shape(o.body))
}

// TestCLIOnOpenViking: the expectations are what ov says with the real server.
func TestCLIOnOpenViking(t *testing.T) {
	expected := readExpectations(t, "testdata/cli.json")
	if *update {
		expected.steps = map[string]any{}
	}
	for _, o := range play(t, realTarget(t)) {
		if *update {
			have := Shape(o.body)
			if before, there := expected.steps[o.args]; there {
				have = merge(before, have)
			}
			expected.steps[o.args] = have
		}
		if list := o.judge(expected.steps[o.args]); len(list) > 0 {
			t.Errorf("ov %s: %q %s", o.args, list, o.said)
		}
	}
	if *update {
		expected.write(t)
	}
}

// TestCLIOnSkald: every command of ov that asks a server works with Skald, or the difference is explained.
func TestCLIOnSkald(t *testing.T) {
	openviking.Venv(t)
	expected, rules := readExpectations(t, "testdata/cli.json"), readRules(t, "cli")
	for _, o := range play(t, skaldTarget(t)) {
		if unservedCLI(o) {
			t.Logf("ov %s: 501", o.args)
			continue
		}
		if list := explain(rules, o.args, o.judge(expected.steps[o.args])); len(list) > 0 {
			t.Errorf("ov %s: %q %s", o.args, list, o.said)
		}
	}
	stale(t, rules)
}

func unservedCLI(o outcome) bool {
	b, _ := json.Marshal(o.body)
	return strings.Contains(string(b)+o.said, "UNIMPLEMENTED")
}
