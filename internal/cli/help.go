package cli

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (s *shell) help(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND...]", Short: "Print the help of a command; `help exit-codes` lists the exit codes",
		Example:               "  skald help turns\n  skald help exit-codes",
		DisableFlagsInUseLine: true,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			of, _, _ := root.Find(args)
			return subcommands(of), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			of := root
			for _, name := range args {
				next := child(of, name)
				if next == nil {
					return noSuchCommand(of, []string{name})
				}
				of = next
			}
			return s.showHelp(of)
		},
	}
}

func exitCodes() *cobra.Command {
	return &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: exitHelp}
}

func subcommands(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

// showHelp prints a command's help on standard output.
func (s *shell) showHelp(c *cobra.Command) error {
	var text bytes.Buffer
	writeHelp(&text, c)
	answer := struct {
		Command string `json:"command"`
		Help    string `json:"help"`
	}{c.CommandPath(), text.String()}
	return s.print(answer, func(w io.Writer) { writeHelp(w, c) })
}

func writeHelp(w io.Writer, c *cobra.Command) {
	about := c.Long
	if about == "" {
		about = c.Short + "."
	}
	fmt.Fprintln(w, reflow(about, columns(w, 0, 100)))
	if c.Runnable() {
		section(w, "Usage", "  "+c.UseLine()+"\n")
	}
	writeCommands(w, c)
	if c.Example != "" {
		section(w, "Examples", strings.TrimRight(c.Example, "\n")+"\n")
	}
	own, where := splitFlags(c.LocalNonPersistentFlags())
	width := columns(w, 0, 120)
	section(w, "Flags", own.FlagUsagesWrapped(width))
	section(w, "Which data", where.FlagUsagesWrapped(width))
	every := c.InheritedFlags()
	if !c.HasParent() {
		every = c.PersistentFlags()
	}
	section(w, "Every command", every.FlagUsagesWrapped(width))
	switch {
	case !c.HasParent():
		fmt.Fprintf(w, "\n%s\n", exitHelp)
	case c.Runnable():
		fmt.Fprintln(w, "\nExit codes: `skald help exit-codes`")
	}
}

// reflow fills paragraphs to the width; those with indented lines stay as they are.
func reflow(text string, width int) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		if !strings.Contains("\n"+p, "\n ") {
			paragraphs[i] = hang(strings.ReplaceAll(p, "\n", " "), width, 0)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

func section(w io.Writer, title, body string) {
	if body != "" {
		fmt.Fprintf(w, "\n%s\n%s", paint(w, bold, title+":"), strings.TrimPrefix(body, "\n"))
	}
}

// writeCommands lists the commands below c, the root's in their groups.
func writeCommands(w io.Writer, c *cobra.Command) {
	for _, g := range c.Groups() {
		writeGroup(w, g.Title, inOrder(c, g))
	}
	var rest []*cobra.Command
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.GroupID == "" {
			rest = append(rest, sub)
		}
	}
	writeGroup(w, "Commands", rest)
}

func writeGroup(w io.Writer, title string, list []*cobra.Command) {
	if len(list) == 0 {
		return
	}
	section(w, title, "\n")
	rows := make([][]string, len(list))
	for i, c := range list {
		rows[i] = []string{"  " + c.Name(), c.Short}
	}
	table(w, rows)
}

// inOrder lists the commands of a group as the group has them.
func inOrder(c *cobra.Command, g *cobra.Group) (list []*cobra.Command) {
	for _, known := range groups {
		if known.title != g.ID {
			continue
		}
		for _, name := range known.commands {
			if sub := child(c, name); sub != nil && (sub.IsAvailableCommand() || name == "help") {
				list = append(list, sub)
			}
		}
	}
	return list
}

// whereNames are the flags that say which data a command means.
var whereNames = []string{"data", "server", "key", "account", "user", "agent", "config"}

// splitFlags parts a command's own flags from those that say which data it means.
func splitFlags(all *pflag.FlagSet) (own, where *pflag.FlagSet) {
	own, where = pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	both := all.Lookup("data") != nil && all.Lookup("server") != nil
	all.VisitAll(func(f *pflag.Flag) {
		if both && slices.Contains(whereNames, f.Name) {
			where.AddFlag(f)
			return
		}
		own.AddFlag(f)
	})
	return own, where
}
