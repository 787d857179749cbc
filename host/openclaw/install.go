package openclaw

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/skald-engine/skald"
)

// Installer installs Skald into one OpenClaw and takes it out again.
type Installer struct {
	Options
	Backups string           // folder of the backups, <skald data>/openclaw-backup
	Now     func() time.Time // time.Now when nil
}

// Installation is what Install did, or would do.
type Installation struct {
	Plan
	Changed bool   `json:"changed"` // false: everything was there already
	Backup  string `json:"backup,omitempty"`

	before, after []byte // the configuration without Skald, and with it
	now           []byte
	file          BackupFile
	last          *Manifest
}

// Prepare works out what Install will do. It changes nothing. An earlier installation is taken as not there: the plan starts from the
// configuration that an uninstall would leave.
func (i *Installer) Prepare(ctx context.Context) (*Installation, error) {
	path, now, mode, err := readConfig(i.Location)
	if err != nil {
		return nil, err
	}
	in := &Installation{now: now, before: now, file: BackupFile{Path: path, Mode: mode}}
	if in.last, err = active(i.Backups, path); err != nil {
		return nil, err
	}
	if in.last != nil {
		if in.before, _, _, err = in.last.restore(now); err != nil {
			return nil, err
		}
	}
	if in.Plan, err = plan(i.Options, in.before); err != nil {
		return nil, err
	}
	in.Gateway = gatewayOf(ctx, now)
	if in.after, err = applyAll(in.before, in.Changes); err != nil {
		return nil, err
	}
	equal, err := sameButStamp(now, in.after)
	if err != nil {
		return nil, err
	}
	in.Changed = !equal || in.Plan.Plugin.stale() || in.last != nil && in.last.Plugin.Spec != in.Plan.Plugin.Spec
	return in, nil
}

// Install makes the changes of a prepared installation: backup, the host's own install command where the host shall keep a copy of the
// plugin, the configuration, and the host's judgement of it. What fails on the way is taken back.
func (i *Installer) Install(ctx context.Context, in *Installation) (err error) {
	if !in.Changed {
		if in.last != nil && in.last.State == prepared {
			return in.last.mark(installed) // it was interrupted after the change
		}
		return nil
	}
	if err := writable(); err != nil {
		return err
	}
	m := &Manifest{
		Time: i.now(), Location: i.Location, Plugin: in.Plan.Plugin, Mode: in.Mode, Binary: in.Binary, Program: in.Program, Changes: in.Changes,
		File: in.file,
	}
	if err := newBackup(i.Backups, m, in.before, in.after); err != nil {
		return err
	}
	in.Backup = m.dir
	if in.last != nil {
		if err := in.last.mark(replaced); err != nil {
			return err
		}
	}
	defer func() {
		if err != nil {
			err = i.takeBack(ctx, m, in, err)
		}
	}()
	if in.Plan.Plugin.Spec != "" {
		if _, err := i.Program.Run(ctx, i.env(), installArgs(in.Plan.Plugin)...); err != nil {
			return err
		}
	}
	if err := unchanged(in.file.Path, in.now); err != nil && in.Plan.Plugin.Spec == "" {
		return err
	}
	if err := in.Plan.Plugin.unpack(); err != nil {
		return err
	}
	if err := i.validate(ctx, in); err != nil {
		return err
	}
	if err := replace(in.file.Path, in.after, in.file.Mode); err != nil {
		return err
	}
	return m.mark(installed)
}

// validate has the host judge the new configuration before a running gateway can see it.
func (i *Installer) validate(ctx context.Context, in *Installation) error {
	path, drop, err := beside(in.file.Path, in.after)
	if err != nil {
		return err
	}
	defer drop()
	if _, err := i.Program.Run(ctx, Location{State: i.Location.State, Config: path}.env(), "config", "validate"); err != nil {
		return fmt.Errorf("OpenClaw does not accept the new configuration: %w", err)
	}
	return nil
}

// beside writes a copy into the folder of a file, so that what is included by a relative path is found. drop removes it.
func beside(path string, text []byte) (copied string, drop func(), err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".skald-*.json") // readable by its owner only
	if err != nil {
		return "", nil, err
	}
	drop = func() { _ = os.Remove(f.Name()) }
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		drop()
		return "", nil, err
	}
	return f.Name(), drop, nil
}

// takeBack restores what was there before a failed installation.
func (i *Installer) takeBack(ctx context.Context, m *Manifest, in *Installation, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if in.Plan.Plugin.Spec != "" {
		_, _ = i.Program.Run(ctx, i.env(), uninstallArgs(m.Plugin.ID, true)...) // it may not have got that far
	}
	back := in.now
	if in.last != nil && in.last.Plugin.Spec == "" {
		if err := in.last.mark(installed); err != nil {
			return fmt.Errorf("%w; and the earlier installation could not be noted again: %w", cause, err)
		}
	}
	if err := replace(in.file.Path, back, in.file.Mode); err != nil {
		return fmt.Errorf("%w; and %s could not be restored (%w): its copy is in %s", cause, in.file.Path, err, m.dir)
	}
	if err := m.mark(undone); err != nil {
		return fmt.Errorf("%w; and the backup could not be closed: %w", cause, err)
	}
	return fmt.Errorf("%w; everything is as it was before", cause)
}

// unchanged fails when somebody wrote the file since it was read.
func unchanged(path string, text []byte) error {
	now, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, text) {
		return skald.E("", skald.KindConflict, "%s was changed by somebody else in this moment: try again", path)
	}
	return nil
}

func (i *Installer) now() time.Time {
	if i.Now == nil {
		return time.Now()
	}
	return i.Now()
}

// env points the host's commands at the files that this is about.
func (i *Installer) env() []string { return i.Location.env() }

func (l Location) env() []string {
	return []string{"OPENCLAW_STATE_DIR=" + l.State, "OPENCLAW_CONFIG_PATH=" + l.Config}
}

// Removal is what Uninstall did, or would do.
type Removal struct {
	Config   string   `json:"config"`
	Exact    bool     `json:"exact"`   // the very bytes that were there before
	Changes  []Change `json:"changes"` // what is taken back
	Kept     []Change `json:"kept"`    // what somebody changed since, and stays
	Commands []string `json:"commands"`
	Plugin   Plugin   `json:"plugin"`
	Gateway  Gateway  `json:"gateway"`
	Backup   string   `json:"backup"`

	text     []byte
	now      []byte
	manifest *Manifest
}

// PrepareRemoval works out what Uninstall will do. It changes nothing. KindNotFound: there is nothing to take back.
func (i *Installer) PrepareRemoval(ctx context.Context, purge bool) (*Removal, error) {
	path, now, _, err := readConfig(i.Location)
	if err != nil {
		return nil, err
	}
	m, err := active(i.Backups, path)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, skald.E("", skald.KindNotFound, "nothing to take back: %s holds no backup of %s; was it installed by hand, or with "+
			"another --data?", i.Backups, path)
	}
	r := &Removal{
		Config: path, Changes: m.Changes, Plugin: m.Plugin, Backup: m.dir, Commands: []string{}, Kept: []Change{}, now: now, manifest: m,
	}
	var kept []Change
	if r.text, r.Exact, kept, err = m.restore(now); err != nil {
		return nil, err
	}
	r.Kept = append(r.Kept, kept...)
	if m.Plugin.Spec != "" {
		r.Commands = append(r.Commands, (&Program{}).Command(uninstallArgs(m.Plugin.ID, purge)...))
	}
	r.Gateway = gatewayOf(ctx, now)
	return r, nil
}

func uninstallArgs(id string, purge bool) []string {
	args := []string{"plugins", "uninstall", id, "--force"}
	if !purge {
		args = append(args, "--keep-files")
	}
	return args
}

// Uninstall takes an installation back. Skald's own data stay.
func (i *Installer) Uninstall(ctx context.Context, r *Removal, purge bool) error {
	if err := writable(); err != nil {
		return err
	}
	if err := unchanged(r.Config, r.now); err != nil {
		return err
	}
	if r.Plugin.Spec != "" { // first: the host's command changes the configuration, too
		if i.Program == nil {
			return skald.E("", skald.KindNotFound, "the host keeps a copy of the plugin, and no OpenClaw was found to remove it: "+
				"name it with --openclaw")
		}
		if _, err := i.Program.Run(ctx, i.env(), uninstallArgs(r.Plugin.ID, purge)...); err != nil {
			return err
		}
	}
	if err := replace(r.Config, r.text, r.manifest.File.Mode); err != nil {
		return err
	}
	if err := r.Plugin.remove(); err != nil {
		return err
	}
	return r.manifest.mark(undone)
}

// PluginFolder is where the plugin that the binary carries is unpacked in a data folder.
func PluginFolder(data string) string { return filepath.Join(data, "openclaw-plugin") }

// BackupFolder is where the backups lie in a data folder.
func BackupFolder(data string) string { return filepath.Join(data, "openclaw-backup") }
