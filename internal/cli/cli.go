// Package cli is the command line: one file per command. A command reads its flags, asks a skald.Inspector or skald.Engine, in process
// (--data) or at a daemon (--server), and prints; what it prints is worked out elsewhere.
package cli

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
)

// shell is one run of the program: where it writes, and the flags that every command has.
type shell struct {
	out, err io.Writer
	json     bool
	where    where
}

// Main runs the program and returns its exit code (see exit.go).
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s := &shell{out: stdout, err: stderr}
	root := s.root()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	s.json = s.json || slices.Contains(args, "--json") // the flag may stand behind the one at fault
	return s.fail(command, err)
}

func (s *shell) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "skald COMMAND",
		Short: "A context engine and context database for AI agents",
		Long: `Skald keeps everything an agent's conversations hold, and puts the right part of it before the model.

Start with 'skald serve': it needs no key, no model and no database. The other commands look into the same data, at the
running daemon (--server, the default) or in a data folder that no daemon holds (--data).

` + exitHelp,
		SilenceUsage: true, SilenceErrors: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return skald.Invalid("", "command", "%q is not a command: `skald --help` lists them", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return skald.Invalid("", "flags", "%w", err) })
	root.PersistentFlags().BoolVar(&s.json, "json", false, "print one JSON document, and errors as JSON on standard error")
	root.AddCommand(
		s.serve(), s.status(), s.version(), s.doctor(), s.replay(), s.turns(), s.context(), s.explain(), s.expand(), s.search(),
		s.ls(), s.tree(), s.cat(), s.sessions(), s.verify(), s.commit(), s.bench(),
	)
	return root
}

// arguments checks the number of a command's arguments and names what is missing.
func arguments(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return skald.Invalid("", names[len(args)], "is missing; the command is `%s`", c.UseLine())
		case len(args) > len(names):
			return skald.Invalid("", "arguments", "%q is one too many; the command is `%s`", args[len(names)], c.UseLine())
		}
		for i, a := range args {
			if a == "" {
				return skald.Invalid("", names[i], "is empty")
			}
		}
		return nil
	}
}

// optional allows one argument or none.
func optional(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return arguments(name)(c, args)
	}
}

// within checks a number given by flag.
func within(name string, v, low, high int64) error {
	if v < low || v > high {
		return skald.Invalid("", name, "%d is out of range: %s", v, fmt.Sprintf("from %d to %d", low, high))
	}
	return nil
}
