package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/host/claude"
	"github.com/skald-engine/skald/internal/hook"
)

// claudeFlags say where Claude Code's settings are meant, and how its hooks find Skald.
type claudeFlags struct {
	user                 bool
	project              string
	data, server, binary string
	dryRun, yes          bool
}

func (s *shell) claude() *cobra.Command {
	c := &cobra.Command{
		Use: "claude", Short: "Put Skald into Claude Code: capture, recall and MCP tools",
		Long: `Claude Code calls Skald through hooks: before a prompt it gets what earlier conversations say to it, at the end of a turn the
transcript is stored, after a compaction the session's summaries come back. Its MCP server lends the model memory_recall, memory_expand
and the other tools.`,
	}
	c.AddCommand(s.claudeInstall(), s.claudeStatus(), s.claudeUninstall(), s.claudeHook())
	return c
}

func (f *claudeFlags) place(c *cobra.Command) {
	c.Flags().BoolVar(&f.user, "user", false, "for all of your projects (the default)")
	c.Flags().StringVar(&f.project, "project", "", "for this folder only; what is written there is yours and not shared")
	c.Flags().StringVar(&f.data, "data", "", "the daemon's data folder (default: the configuration's, else ~/.skald)")
}

func (f *claudeFlags) change(c *cobra.Command) {
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would be changed, and change nothing")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "ask nothing")
}

func (s *shell) claudeInstall() *cobra.Command {
	var f claudeFlags
	c := &cobra.Command{
		Use: "install", Short: "Add hooks and MCP server to Claude Code's settings, with proof", Args: arguments(),
		Long: `Add Skald's hooks to Claude Code's settings and its MCP server to the state file. First the hooks are run on a throw-away
session in a throw-away data folder: what one session said has to come back in another. Then the files are backed up and changed; hooks
and servers of others stay as they are. 'skald claude uninstall' gives the files back byte for byte.

Sessions that run already take hooks up by themselves, the MCP server after a restart of Claude Code.`,
		Example: "  skald claude install --dry-run\n  skald claude install\n  skald claude install --project .",
		RunE:    func(c *cobra.Command, _ []string) error { return s.installClaude(c.Context(), f) },
	}
	f.place(c)
	f.change(c)
	c.Flags().StringVar(&f.server, "server", "", "the daemon's URL (default: where the configuration has it listen)")
	c.Flags().StringVar(&f.binary, "binary", "", "the program that is called (default: this one)")
	return c
}

func (s *shell) claudeUninstall() *cobra.Command {
	var f claudeFlags
	c := &cobra.Command{
		Use: "uninstall", Short: "Take Skald out of Claude Code's settings; what was there before comes back", Args: arguments(),
		Long: `Take Skald's hooks and MCP server out of Claude Code's settings. A file that nobody changed since the installation gets its
bytes back; from any other only Skald's entries are taken. The stored conversations stay.`,
		Example: "  skald claude uninstall --dry-run\n  skald claude uninstall",
		RunE:    func(c *cobra.Command, _ []string) error { return s.uninstallClaude(c.Context(), f) },
	}
	f.place(c)
	f.change(c)
	return c
}

// claudeReport is what an installation or its undoing did, or would do.
type claudeReport struct {
	DryRun bool `json:"dry_run"`
	claude.Plan
	Proof   []string `json:"proof,omitempty"` // what was tried, and worked
	Applied bool     `json:"applied"`
}

// location is where the settings are, with the data folder that keeps backups and records.
func (s *shell) location(f claudeFlags) (claude.Location, string, error) {
	if f.user && f.project != "" {
		return claude.Location{}, "", skald.Invalid("", "project", "--user and --project exclude each other")
	}
	data, err := f.folder()
	if err != nil {
		return claude.Location{}, "", err
	}
	if f.project != "" {
		l, err := claude.Project(f.project, s.env)
		return l, data, err
	}
	l, err := claude.User(s.env)
	return l, data, err
}

// folder is the daemon's data folder.
func (f claudeFlags) folder() (string, error) {
	if f.data == "" {
		return dataFolder(), nil
	}
	return filepath.Abs(f.data)
}

func (s *shell) installClaude(ctx context.Context, f claudeFlags) error {
	l, data, err := s.location(f)
	if err != nil {
		return err
	}
	command := claude.Command{Server: f.server, Events: hook.Events}
	if f.data != "" {
		command.Data = data
	}
	if command.Binary, err = program(f.binary); err != nil {
		return err
	}
	r := claudeReport{DryRun: f.dryRun}
	if r.Plan, err = claude.Install(l, command, data); err != nil {
		return err
	}
	if f.dryRun {
		return s.print(r, func(w io.Writer) { showClaude(w, r) })
	}
	if yes, err := s.agreed(ctx, f, r.Plan, "Change these files?"); err != nil || !yes {
		return err
	}
	s.note("trying the hooks on a throw-away session …")
	if r.Proof, err = proveClaude(ctx, command); err != nil {
		return fmt.Errorf("the hooks do not work here, and nothing was changed: %w", err)
	}
	if err := r.Apply(time.Now()); err != nil {
		return err
	}
	r.Applied = true
	return s.print(r, func(w io.Writer) { showClaude(w, r) })
}

func (s *shell) uninstallClaude(ctx context.Context, f claudeFlags) error {
	l, data, err := s.location(f)
	if err != nil {
		return err
	}
	r := claudeReport{DryRun: f.dryRun}
	if r.Plan, err = claude.Uninstall(l, data); err != nil {
		return err
	}
	if !f.dryRun {
		if yes, err := s.agreed(ctx, f, r.Plan, "Change these files back?"); err != nil || !yes {
			return err
		}
		if err := r.Apply(time.Now()); err != nil {
			return err
		}
		r.Applied = true
	}
	return s.print(r, func(w io.Writer) { showClaude(w, r) })
}

// agreed shows a plan to the person at the terminal and asks. Where nobody sits, the command itself is the wish.
func (s *shell) agreed(ctx context.Context, f claudeFlags, p claude.Plan, question string) (bool, error) {
	if f.yes || p.Nothing() || !s.interactive() {
		return true, nil
	}
	s.tell(func(w io.Writer) { showPlanned(w, p) })
	return s.asker().confirm(ctx, question, "Backups are kept in Skald's data folder.", true)
}

// program is the absolute path by which this program is called: the one on the PATH where that leads here, since it outlives an upgrade.
func program(given string) (string, error) {
	if given != "" {
		path, err := filepath.Abs(given)
		if err == nil {
			_, err = exec.LookPath(path)
		}
		if err != nil {
			return "", skald.Invalid("", "binary", "%q is not a program: %w", given, err)
		}
		return path, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if onPath, err := exec.LookPath("skald"); err == nil && filepath.IsAbs(onPath) && sameFile(onPath, self) {
		return onPath, nil
	}
	return self, nil
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

func showPlanned(w io.Writer, p claude.Plan) {
	for _, c := range p.Changes {
		fmt.Fprintln(w, c.Path)
		for _, what := range c.What {
			fmt.Fprintf(w, "  %s\n", what)
		}
	}
	for _, n := range p.Notes {
		fmt.Fprintf(w, "%s %s\n", paint(w, yellow, "note"), n)
	}
}

func showClaude(w io.Writer, r claudeReport) {
	showPlanned(w, r.Plan)
	for _, p := range r.Proof {
		fmt.Fprintf(w, "%s %s\n", paint(w, green, "proved"), p)
	}
	switch {
	case r.Nothing():
		fmt.Fprintln(w, "nothing to change")
	case r.DryRun:
		fmt.Fprintln(w, "nothing was changed: this was a dry run")
	default:
		fmt.Fprintln(w, "done; `skald claude status` looks at it")
	}
}
