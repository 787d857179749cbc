package cli

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skald-engine/skald/internal/hook"
)

// claudeHook is called by Claude Code. It ends with exit code 0 whatever happens, wrong usage too: code 2 would block the agent.
func (s *shell) claudeHook() *cobra.Command {
	return &cobra.Command{
		Use: "hook EVENT", Short: "What Claude Code calls; reads a hook's JSON on standard input", Hidden: true,
		Long: `Run one hook of Claude Code: the hook's JSON comes on standard input, and standard output has what Claude Code reads, or nothing. It
always ends with exit code 0, within 2 seconds; what went wrong is in claude-hooks.log in the data folder.`,
		DisableFlagParsing: true, // a flag that is not known must not end in an exit code
		ValidArgs:          hook.Events,
		RunE: func(c *cobra.Command, args []string) error {
			o, problem := s.hookOptions(args)
			if problem != "" {
				hook.Usage(o.Data, o.Event, problem)
				return nil
			}
			hook.Main(c.Context(), s.in, s.out, o)
			return nil
		},
	}
}

// hookOptions reads the command line. A problem is noted rather than returned as an error.
func (s *shell) hookOptions(args []string) (o hook.Options, problem string) {
	var w where
	f := pflag.NewFlagSet("hook", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&w.data, "data", "", "")
	f.StringVar(&w.server, "server", "", "")
	f.Bool("json", false, "")
	usage := f.Parse(args)
	c, err := w.settings()
	o.Recall = 2 * time.Duration(c.RecallMillis) * time.Millisecond // what the daemon's recall may take, and the way there and back
	if o.Data = c.Data; err != nil {
		o.Data = dataFolder()
		return o, err.Error()
	}
	o.Server = w.address(c)
	if o.Identity, err = w.identity(c); err != nil {
		return o, err.Error()
	}
	if f.NArg() > 0 {
		o.Event = f.Arg(0)
	}
	switch {
	case usage != nil:
		return o, usage.Error()
	case f.NArg() != 1 || !slices.Contains(hook.Events, o.Event):
		return o, fmt.Sprintf("the hook is called with %q, not with the name of an event that it knows", f.Args())
	}
	return o, ""
}
