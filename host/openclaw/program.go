package openclaw

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/skald-engine/skald"
)

// Program is the host's command line.
type Program struct {
	Path    string   `json:"path"`
	Version string   `json:"version"`
	Node    string   `json:"node,omitempty"` // what runs it, when it is a script
	run     []string // the program and its first arguments
}

// Locate finds the host's program: what was given (an executable, openclaw.mjs, or the package's folder), PATH, npm's global folder.
// node runs openclaw.mjs; "": the node beside the program, else the one of PATH.
func Locate(ctx context.Context, given, node string) (*Program, error) {
	path, err := find(ctx, given)
	if err != nil {
		return nil, err
	}
	p := &Program{Path: path, run: []string{path}}
	if script := scriptOf(path); script != "" {
		if node == "" {
			node = nodeFor(path)
		}
		if node == "" {
			return nil, skald.E("", skald.KindNotFound, "%s needs Node, and no node is on the PATH: name one with --node", script)
		}
		p.Node, p.run = node, []string{node, script}
		p.Version = packageVersion(filepath.Dir(script))
	}
	if p.Version == "" {
		out, err := p.Run(ctx, nil, "--version")
		if err != nil {
			return nil, err
		}
		p.Version = versionIn(string(out))
	}
	return p, nil
}

func find(ctx context.Context, given string) (string, error) {
	if given != "" {
		if info, err := os.Stat(given); err == nil && info.IsDir() {
			given = filepath.Join(given, "openclaw.mjs")
		}
		if _, err := os.Stat(given); err != nil {
			return "", skald.Invalid("", "openclaw", "%w", err)
		}
		return filepath.Abs(given)
	}
	if path, err := exec.LookPath("openclaw"); err == nil {
		return filepath.Abs(path)
	}
	if out, err := exec.CommandContext(ctx, "npm", "root", "-g").Output(); err == nil {
		path := filepath.Join(strings.TrimSpace(string(out)), "openclaw", "openclaw.mjs")
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", skald.E("", skald.KindNotFound, "no OpenClaw found: `openclaw` is neither on the PATH nor among npm's global packages; "+
		"name it with --openclaw")
}

// scriptOf is the openclaw.mjs behind a path, "" when it is something else that can be run.
func scriptOf(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if strings.HasSuffix(path, ".mjs") || strings.HasSuffix(path, ".js") {
		return path
	}
	return ""
}

// nodeFor prefers the node in the folder of the program: npm puts the link to a global package beside the node it belongs to.
func nodeFor(path string) string {
	beside := filepath.Join(filepath.Dir(path), "node")
	if info, err := os.Stat(beside); err == nil && !info.IsDir() {
		return beside
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return ""
	}
	return node
}

func packageVersion(dir string) string {
	var p struct {
		Version string `json:"version"`
	}
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil || json.Unmarshal(text, &p) != nil {
		return ""
	}
	return p.Version
}

var versionPattern = regexp.MustCompile(`\d+\.\d+\.\d+(-[\w.]+)?`)

func versionIn(text string) string { return versionPattern.FindString(text) }

// Command is a command of the host as a person would type it.
func (p *Program) Command(args ...string) string { return "openclaw " + strings.Join(args, " ") }

// Run runs a command of the host with more environment, and returns what it printed on standard output. The error holds the last lines
// of what it said.
func (p *Program) Run(ctx context.Context, env []string, args ...string) ([]byte, error) {
	out, _, err := p.talk(ctx, env, args...)
	return out, err
}

// talk is Run that returns standard error, too.
func (p *Program) talk(ctx context.Context, env []string, args ...string) (out, said []byte, err error) {
	cmd := exec.CommandContext(ctx, p.run[0], append(p.run[1:len(p.run):len(p.run)], args...)...)
	cmd.Env = append(os.Environ(), append([]string{"NO_COLOR=1", "OPENCLAW_NO_AUTO_UPDATE=1"}, env...)...)
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	out, said = stdout.Bytes(), stderr.Bytes()
	switch {
	case err == nil:
		return out, said, nil
	case ctx.Err() != nil:
		return out, said, skald.E("", skald.KindDeadline, "`%s` did not end in time", p.Command(args[0]))
	}
	end := lastLines(stderr.String() + "\n" + stdout.String())
	return out, said, skald.E("", skald.KindUnavailable, "`%s` failed (%w): %s", p.Command(args...), err, end)
}

// lastLines is the end of a program's output, on one line.
func lastLines(text string) string {
	const most = 400
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = "… " + strings.ToValidUTF8(text[len(text)-most:], "")
	}
	return text
}
