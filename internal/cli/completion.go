package cli

import (
	"bytes"
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
)

// completionTime is how long a completion waits for the daemon: somebody sits before the line.
const completionTime = 300 * time.Millisecond

var completionShells = map[string]func(root *cobra.Command, w io.Writer) error{
	"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
	"zsh":        func(root *cobra.Command, w io.Writer) error { return root.GenZshCompletion(w) },
	"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
	"powershell": func(root *cobra.Command, w io.Writer) error { return root.GenPowerShellCompletionWithDesc(w) },
}

func (s *shell) completion() *cobra.Command {
	return &cobra.Command{
		Use: "completion SHELL", Short: "Print the completion script for bash, zsh, fish or powershell", Args: arguments("SHELL"),
		Long: `Print a script that completes commands, flags, and, while the daemon runs, session ids and viking:// URIs.

  bash:        skald completion bash > ~/.local/share/bash-completion/completions/skald
  zsh:         skald completion zsh > "${fpath[1]}/_skald"
  fish:        skald completion fish > ~/.config/fish/completions/skald.fish
  powershell:  skald completion powershell | Out-String | Invoke-Expression`,
		Example:   "  skald completion bash > ~/.local/share/bash-completion/completions/skald",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(c *cobra.Command, args []string) error {
			write, ok := completionShells[args[0]]
			if !ok {
				return skald.Invalid("", "SHELL", "%q is not one of bash, zsh, fish, powershell", args[0])
			}
			var script bytes.Buffer
			if err := write(c.Root(), &script); err != nil {
				return err
			}
			answer := struct {
				Shell  string `json:"shell"`
				Script string `json:"script"`
			}{args[0], script.String()}
			return s.print(answer, func(w io.Writer) { _, _ = script.WriteTo(w) })
		},
	}
}

// complete lets a shell complete what a command takes: session ids and URIs, asked of the running daemon.
func (s *shell) complete(c *cobra.Command) {
	if c.ValidArgsFunction == nil && len(c.ValidArgs) == 0 {
		switch {
		case takes(c, "SESSION"):
			c.ValidArgsFunction = first(s.sessionIDs)
		case takes(c, "URI"):
			c.ValidArgsFunction = first(s.uris)
		}
	}
	for name, list := range map[string]cobra.CompletionFunc{"session": s.sessionIDs, "scope": s.uris} {
		if c.Flags().Lookup(name) != nil {
			_ = c.RegisterFlagCompletionFunc(name, list)
		}
	}
	if !c.HasParent() {
		_ = c.RegisterFlagCompletionFunc("color", cobra.FixedCompletions([]string{"auto", "always", "never"}, cobra.ShellCompDirectiveNoFileComp))
	}
}

// first completes the first argument only.
func first(list cobra.CompletionFunc) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return list(c, args, typed)
	}
}

func (s *shell) sessionIDs(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	var ids []string
	s.askQuickly(c.Context(), func(ctx context.Context, p *place) error {
		all, err := p.ListSessions(ctx, p.id, 200)
		for _, i := range all {
			if strings.HasPrefix(i.ID, typed) {
				ids = append(ids, cobra.CompletionWithDesc(i.ID, i.Agent+", "+when(i.Updated)))
			}
		}
		return err
	})
	return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// uris completes one level of the tree.
func (s *shell) uris(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	const none = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	if len(typed) < len(skald.Root) {
		return []string{string(skald.Root)}, none
	}
	folder := typed[:strings.LastIndexByte(typed, '/')+1]
	var found []string
	s.askQuickly(c.Context(), func(ctx context.Context, p *place) error {
		files, err := p.List(ctx, p.id, folder, 1)
		for _, f := range files {
			if uri := folder + name(f); strings.HasPrefix(uri, typed) {
				found = append(found, uri)
			}
		}
		return err
	})
	return found, none
}

// askQuickly asks the running daemon, and takes silence for an answer: a completion never complains.
func (s *shell) askQuickly(ctx context.Context, do func(context.Context, *place) error) {
	if s.where.data != "" {
		return // opening a store for a completion would keep a daemon from it
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	_ = s.use(ctx, func(p *place) error { return do(ctx, p) })
}
