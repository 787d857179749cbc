// Package cli is the command line: one file per command. A command reads its flags, asks a skald.Inspector or skald.Engine, in process
// (--data) or at a daemon (--server), and prints; what it prints is worked out elsewhere.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
)

// shell is one run of the program: where it reads and writes, and the flags that every command has.
type shell struct {
	in       io.Reader
	out, err io.Writer
	env      func(name string) string // of the environment; "" when not set
	look     func(stream any) screen

	json, quiet bool
	color       colorMode
	where       where
}

// newShell is a shell on the program's own input and environment.
func newShell(stdout, stderr io.Writer) *shell {
	return &shell{in: os.Stdin, out: stdout, err: stderr, env: os.Getenv, look: lookAt, color: colorAuto}
}

// Main runs the program and returns its exit code (see exit.go).
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return newShell(stdout, stderr).run(ctx, args)
}

func (s *shell) run(ctx context.Context, args []string) int {
	root := s.root()
	root.SetArgs(args)
	root.SetOut(s.out)
	root.SetErr(s.err)
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
		Long: `Skald keeps everything an agent's conversations hold, and puts the right part of it before the model. It needs no key, no model and
no database.

First:
  skald trial                see on your own conversations what it would bring; changes nothing
  skald init                 set it up: where data lives, what is installed here, what to bring in
  skald openclaw install     put it into OpenClaw, with proof, and undone by uninstall
  skald import SOURCE        bring in the conversations that you have

The other commands look into the same data: at the running daemon (--server, the default), or in a data folder that no daemon
holds (--data).`,
		Example:      "  skald init\n  skald serve\n  skald search \"which port does the database use\"",
		SilenceUsage: true, SilenceErrors: true, DisableAutoGenTag: true,
	}
	root.SetFlagErrorFunc(flagError)
	f := root.PersistentFlags()
	f.BoolVar(&s.json, "json", false, "print one JSON document, and errors as JSON on standard error")
	f.BoolVarP(&s.quiet, "quiet", "q", false, "no notes and no progress on standard error, errors only")
	f.Var(&s.color, "color", "colours: auto (on a terminal), always, never")
	root.AddCommand(
		s.serve(), s.status(), s.version(), s.doctor(), s.replay(), s.compare(), s.turns(), s.context(), s.explain(), s.expand(), s.search(),
		s.ls(), s.tree(), s.cat(), s.sessions(), s.verify(), s.commit(), s.bench(), s.importing(), s.resource(), s.addResource(), s.trial(),
		s.init(), s.jobs(), s.delete(), s.forget(), s.pack(), s.skill(), s.completion(), s.man(), exitCodes(), s.admin(), s.claude(), s.mcp(), s.openclaw(),
	)
	s.arrange(root)
	return root
}

// arguments checks the number of a command's arguments and names what is missing.
func arguments(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		usage := fmt.Sprintf("the command is `%s`", c.UseLine())
		switch {
		case len(args) < len(names):
			return skald.Invalid("", names[len(args)], "%w", &hint{"is missing", usage})
		case len(args) > len(names):
			return skald.Invalid("", "arguments", "%w", &hint{fmt.Sprintf("%q is one too many", args[len(names)]), usage})
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
