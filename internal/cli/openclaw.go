package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/host/openclaw"
	"github.com/skald-engine/skald/internal/config"
)

// openclawFlags say which OpenClaw is meant, and what shall be done to it.
type openclawFlags struct {
	place                              openclaw.Location
	program, node, data                string
	as, from, mode, plugin, binary     string
	takeSlot, restart, noProof, dryRun bool
	yes, purge                         bool
}

func (s *shell) openclaw() *cobra.Command {
	c := &cobra.Command{
		Use: "openclaw", Short: "Put Skald into OpenClaw: install with proof, status, uninstall",
		Long: `OpenClaw calls Skald as its context engine, through a plugin. 'install' shows what it will change, keeps a copy, changes it and
proves with one turn that Skald was really called; 'uninstall' gives everything back.`,
	}
	c.AddCommand(s.openclawInstall(), s.openclawStatus(), s.openclawUninstall())
	return c
}

func (f *openclawFlags) where(c *cobra.Command) {
	c.Flags().StringVar(&f.place.State, "openclaw-state", "", "OpenClaw's state folder (default OPENCLAW_STATE_DIR, else ~/.openclaw)")
	c.Flags().StringVar(&f.place.Config, "openclaw-config", "", "OpenClaw's configuration file (default openclaw.json in the state folder)")
	c.Flags().StringVar(&f.program, "openclaw", "", "OpenClaw's program or package folder (default: PATH, then npm's global packages)")
	c.Flags().StringVar(&f.node, "node", "", "the node that runs OpenClaw (default: the one beside it, then PATH)")
	c.Flags().StringVar(&f.data, "data", "", "Skald's data folder; backups are kept there (default: the configuration's, else ~/.skald)")
}

func (s *shell) openclawInstall() *cobra.Command {
	var f openclawFlags
	c := &cobra.Command{
		Use: "install", Short: "Make Skald OpenClaw's context engine, and prove it with one turn", Args: arguments(),
		Long: `Look at OpenClaw, show what will be changed, keep a copy, change it, and prove with one short turn of OpenClaw's own model in a
throw-away session that Skald was really called. A second run changes nothing. Nothing of another plugin is taken without --take-slot.

Modes, when OpenClaw or a plugin of it remembers too:
  both     (default) their files, notes and tools stay; their recall before each reply goes off, so that no fact is there twice
  replace  Skald instead: memory plugin, active memory, dreaming and memory flush go off
  context  Skald keeps and assembles the conversation only; recall and memory tools are theirs

Exit code 6 when the proof failed: what was changed stays, and 'skald openclaw uninstall' takes it back.`,
		Example: "  skald openclaw install --dry-run\n  skald openclaw install\n  skald openclaw install --from openviking --mode replace",
		RunE:    func(c *cobra.Command, _ []string) error { return s.installOpenClaw(c.Context(), f) },
	}
	f.where(c)
	fl := c.Flags()
	fl.StringVar(&f.as, "as", "skald", "build of the plugin: skald, or openviking (takes an OpenViking plugin's configuration as it is)")
	fl.StringVar(&f.from, "from", "", "take over the configuration of this plugin (openviking), and switch it off")
	fl.StringVar(&f.mode, "mode", "", "how to live with OpenClaw's own memory: replace, context, both (default both)")
	fl.StringVar(&f.plugin, "plugin", "", "the plugin: its folder, an archive, or an npm name (default: beside this program)")
	fl.StringVar(&f.binary, "binary", "", "the skald that the plugin starts (default: this one)")
	fl.BoolVar(&f.takeSlot, "take-slot", false, "take the slot, or the id, from another plugin")
	fl.BoolVar(&f.restart, "restart", false, "restart a running gateway that does not reload by itself")
	fl.BoolVar(&f.noProof, "no-proof", false, "make no turn; 'skald openclaw status' shows later whether turns arrive")
	fl.BoolVar(&f.dryRun, "dry-run", false, "say what would be changed, and change nothing")
	fl.BoolVarP(&f.yes, "yes", "y", false, "ask nothing")
	return c
}

func (s *shell) openclawUninstall() *cobra.Command {
	var f openclawFlags
	c := &cobra.Command{
		Use: "uninstall", Short: "Take Skald out of OpenClaw; what was there before comes back", Args: arguments(),
		Long: `Give OpenClaw's configuration back as it was: byte for byte when nobody changed it since, else only Skald's changes are taken
back. What Skald has stored stays.`,
		Example: "  skald openclaw uninstall --dry-run\n  skald openclaw uninstall",
		RunE:    func(c *cobra.Command, _ []string) error { return s.uninstallOpenClaw(c.Context(), f) },
	}
	f.where(c)
	c.Flags().BoolVar(&f.purge, "purge-plugin", false, "have OpenClaw delete its copy of the plugin's files, too")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would be changed, and change nothing")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "ask nothing")
	return c
}

// installer puts the flags together. The host's program is needed for an installation only.
func (s *shell) installer(ctx context.Context, f openclawFlags, needed bool) (*openclaw.Installer, error) {
	l, ok := openclaw.Find(f.place)
	if !ok && l.State == "" {
		return nil, skald.E("", skald.KindNotFound, "there is no home folder in which OpenClaw could be: name its folder with --openclaw-state")
	}
	if !ok {
		return nil, skald.E("", skald.KindNotFound, "no OpenClaw configuration in %s: set OpenClaw up first (`openclaw onboard`), or "+
			"name its folder with --openclaw-state", l.State)
	}
	l = absolute(l)
	data := f.data
	if data == "" {
		data = dataFolder()
	}
	data, err := filepath.Abs(data)
	if err != nil {
		return nil, err
	}
	if f.as == "" {
		f.as = "skald"
	}
	if err := oneOf("as", f.as, openclaw.IDs...); err != nil {
		return nil, err
	}
	i := &openclaw.Installer{Options: openclaw.Options{Location: l, ID: f.as, From: f.from, Plugin: f.plugin, TakeSlot: f.takeSlot},
		Backups: openclaw.BackupFolder(data)}
	i.Unpack = openclaw.PluginFolder(data)
	if i.Mode, err = openclaw.ParseMode(f.mode); err != nil {
		return nil, err
	}
	if i.Binary, err = program(f.binary); err != nil {
		return nil, err
	}
	i.DataDir, i.Port = s.daemonOf(data)
	i.Program, err = openclaw.Locate(ctx, f.program, f.node)
	if program, node := openclaw.Remembered(i.Backups, l); err != nil && f.program == "" && program != "" {
		i.Program, err = openclaw.Locate(ctx, program, node)
	}
	if err != nil && needed {
		return nil, err
	}
	return i, nil
}

func absolute(l openclaw.Location) openclaw.Location {
	for _, path := range []*string{&l.State, &l.Config} {
		if abs, err := filepath.Abs(*path); err == nil {
			*path = abs
		}
	}
	return l
}

// daemonOf is what the plugin has to be told of the data folder and the port: nothing where its own defaults fit.
func (s *shell) daemonOf(data string) (string, int) {
	standard := config.Default()
	if standard.Finish() == nil && standard.Data == data {
		data = ""
	}
	c, err := where{}.settings()
	if err != nil {
		return data, 0 // a file that cannot be read is another command's matter
	}
	_, own, errOwn := net.SplitHostPort(c.Listen)
	_, usual, errUsual := net.SplitHostPort(standard.Listen)
	port, err := strconv.Atoi(own)
	if errOwn != nil || errUsual != nil || err != nil || own == usual {
		return data, 0
	}
	return data, port
}

// openclawReport is what an installation did, or would do.
type openclawReport struct {
	DryRun bool `json:"dry_run"`
	*openclaw.Installation
	Proof     *openclaw.Proof `json:"proof,omitempty"`
	Applied   bool            `json:"applied"`
	Restarted bool            `json:"restarted"`
	Next      []string        `json:"next"`
}

func (s *shell) installOpenClaw(ctx context.Context, f openclawFlags) error {
	i, err := s.installer(ctx, f, true)
	if err != nil {
		return err
	}
	r := openclawReport{DryRun: f.dryRun, Next: []string{}}
	if r.Installation, err = i.Prepare(ctx); err != nil {
		return err
	}
	if f.dryRun {
		return s.print(r, func(w io.Writer) { showInstall(w, r) })
	}
	if r.Changed && s.interactive() && !f.yes {
		s.tell(func(w io.Writer) { showInstallPlan(w, r) })
		about := "A copy is kept; `skald openclaw uninstall` goes back to it."
		if yes, err := s.asker().confirm(ctx, "Change OpenClaw's configuration?", about, true); err != nil || !yes {
			return err
		}
	}
	if r.Changed {
		s.note("OpenClaw checks the new configuration …")
	}
	if err := i.Install(ctx, r.Installation); err != nil {
		return err
	}
	r.Applied = r.Changed
	if err := s.finishOpenClaw(ctx, f, i, &r); err != nil {
		return err
	}
	if err := s.print(r, func(w io.Writer) { showInstall(w, r) }); err != nil || r.Proof == nil || r.Proof.OK {
		return err
	}
	return errCheck
}

// finishOpenClaw restarts what has to be, and proves.
func (s *shell) finishOpenClaw(ctx context.Context, f openclawFlags, i *openclaw.Installer, r *openclawReport) error {
	switch {
	case r.Changed && r.Gateway.Running && !r.Gateway.Reloads && f.restart:
		if _, err := i.Program.Run(ctx, nil, "gateway", "restart"); err != nil {
			return err
		}
		r.Restarted = true
	case r.Changed:
		r.Next = append(r.Next, r.Gateway.Next())
	}
	if !f.noProof {
		s.note("one short turn of OpenClaw's model, in a throw-away session (up to a minute or two) …")
		p, err := i.Prove(ctx, witness)
		if err != nil {
			return fmt.Errorf("the proof could not be made: %w (the installation stays; `skald openclaw uninstall` takes it back)", err)
		}
		if r.Proof = &p; !p.OK {
			r.Next = append(r.Next, "`skald openclaw uninstall` takes everything back")
			return nil
		}
	}
	if r.Applied {
		r.Next = append(r.Next, "`skald import openclaw` brings in the conversations that you have",
			"`skald openclaw status` shows whether turns arrive")
	}
	return nil
}

func (s *shell) uninstallOpenClaw(ctx context.Context, f openclawFlags) error {
	i, err := s.installer(ctx, f, false)
	if err != nil {
		return err
	}
	removal, err := i.PrepareRemoval(ctx, f.purge)
	if err != nil {
		return err
	}
	r := removalReport{DryRun: f.dryRun, Removal: removal, Data: filepath.Dir(i.Backups)}
	if !f.dryRun {
		if s.interactive() && !f.yes {
			s.tell(func(w io.Writer) { showRemoval(w, r) })
			if yes, err := s.asker().confirm(ctx, "Take Skald out of OpenClaw?", "What Skald has stored stays.", true); err != nil || !yes {
				return err
			}
		}
		if err := i.Uninstall(ctx, removal, f.purge); err != nil {
			return err
		}
		r.Applied = true
	}
	return s.print(r, func(w io.Writer) { showRemoval(w, r) })
}

// removalReport is what an uninstallation did, or would do.
type removalReport struct {
	DryRun bool `json:"dry_run"`
	*openclaw.Removal
	Data    string `json:"data"` // where what Skald has stored stays
	Applied bool   `json:"applied"`
}
