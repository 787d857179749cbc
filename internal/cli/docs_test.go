package cli

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "rewrite docs/cli.md")

const (
	docsPath  = "../../docs/cli.md"
	docsBegin = "<!-- commands: made by `go test ./internal/cli -run TestDocs -update` -->\n"
	docsEnd   = "<!-- end of commands -->\n"
)

// TestDocsListEveryCommand: docs/cli.md has each command with its line and its examples, as the program has them.
func TestDocsListEveryCommand(t *testing.T) {
	page, err := os.ReadFile(docsPath)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), docsBegin)
	_, after, ok2 := strings.Cut(rest, docsEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has lost its marks", docsPath)
	}
	want := before + docsBegin + commandsPage() + docsEnd + after
	if want == string(page) {
		return
	}
	if !*update {
		t.Fatalf("%s is behind the commands: run `go test ./internal/cli -run TestDocs -update`", docsPath)
	}
	if err := os.WriteFile(docsPath, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func commandsPage() string {
	var b strings.Builder
	root := newShell(nil, nil).root()
	for _, g := range groups {
		fmt.Fprintf(&b, "\n### %s\n\n| command | what | example |\n|---|---|---|\n", g.title)
		for _, c := range inOrder(root, &cobra.Group{ID: g.title}) {
			walk(c, func(c *cobra.Command) {
				if !c.Hidden && !c.HasSubCommands() {
					fmt.Fprintf(&b, "| `%s` | %s | `%s` |\n", strings.TrimSuffix(c.UseLine(), " [flags]"), c.Short, firstLine(c.Example))
				}
			})
		}
	}
	return b.String() + "\n"
}

func firstLine(text string) string {
	l, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.ReplaceAll(l, "|", `\|`)
}

// TestEveryCommandIsExplained: a command stands in a group of the root help, says in a line what it does, and shows how it is called.
func TestEveryCommandIsExplained(t *testing.T) {
	t.Parallel()
	root := newShell(nil, nil).root()
	walk(root, func(c *cobra.Command) {
		if c.Hidden || !c.Runnable() {
			return
		}
		if c.Parent() == root && c.GroupID == "" {
			t.Errorf("`%s` is in no group (groups in group.go)", c.CommandPath())
		}
		if c.Short == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("`%s` wants a line without a full stop: %q", c.CommandPath(), c.Short)
		}
		if !strings.Contains(c.Example, c.CommandPath()) && c != root && !c.HasSubCommands() {
			t.Errorf("`%s` has no example that calls it", c.CommandPath())
		}
	})
}
