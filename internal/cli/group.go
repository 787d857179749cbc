package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// groups is how the root help lists the commands. A test wants every command in one of them.
var groups = []struct {
	title    string
	commands []string
}{
	{"Start", []string{"init", "serve", "status", "doctor"}},
	{"Hosts", []string{"openclaw", "claude", "mcp"}},
	{"Bring in", []string{"import", "resource", "add-resource", "skill", "replay"}},
	{"Look", []string{"search", "sessions", "turns", "context", "explain", "expand", "ls", "tree", "cat"}},
	{"Tend", []string{"commit", "jobs", "forget", "delete", "pack", "verify", "admin"}},
	{"Measure", []string{"trial", "compare", "bench"}},
	{"This program", []string{"version", "completion", "help"}},
}

// arrange gives all commands what they have in common: their group, their help, completion of what they take, and an answer to a
// mistyped name.
func (s *shell) arrange(root *cobra.Command) {
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { _ = s.showHelp(c) })
	root.SetUsageFunc(s.showHelp)
	root.SetHelpCommand(s.help(root))
	root.InitDefaultHelpCmd()
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, name := range g.commands {
			if c := child(root, name); c != nil {
				c.GroupID = g.title
			}
		}
	}
	walk(root, func(c *cobra.Command) {
		c.SuggestionsMinimumDistance = 2
		if c.HasSubCommands() {
			c.Args = noSuchCommand
			c.RunE = func(c *cobra.Command, _ []string) error { return s.showHelp(c) }
		}
		s.complete(c)
	})
}

// walk visits a command and all below it.
func walk(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		walk(sub, visit)
	}
}

func child(c *cobra.Command, name string) *cobra.Command {
	for _, sub := range c.Commands() {
		if sub.Name() == name {
			return sub
		}
	}
	return nil
}

// takes reports whether a command's arguments are of a kind: SESSION, URI.
func takes(c *cobra.Command, what string) bool {
	return strings.Contains(strings.TrimPrefix(c.Use, c.Name()), what)
}
