package claude

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skald-engine/skald"
)

// Change is what becomes of one file. Before is nil when there is no file, After when it goes.
type Change struct {
	Path   string   `json:"path"`
	What   []string `json:"what"` // in words
	Before []byte   `json:"-"`
	After  []byte   `json:"-"`

	original []byte // what an uninstall gives back
}

func (c Change) needed() bool {
	return !bytes.Equal(c.Before, c.After) || (c.Before == nil) != (c.After == nil)
}

// Plan is what an installation or its undoing would do. Notes tell what to know beforehand.
type Plan struct {
	Location Location `json:"location"`
	Command  Command  `json:"command"`
	Changes  []Change `json:"changes"`
	Notes    []string `json:"notes"`

	folder string // of the record
	undo   bool
}

// Nothing reports that all is as it should be already.
func (p Plan) Nothing() bool { return len(p.Changes) == 0 }

// Install plans to add hooks and server. store is the folder in Skald's data folder where backups and records go. It fails with
// KindInvalid when a file is not what Claude Code would read, or when the name of the server is taken.
func Install(l Location, c Command, store string) (Plan, error) {
	p := Plan{Location: l, Command: c, folder: recordFolder(store, l), Changes: []Change{}, Notes: []string{}}
	settings, err := p.edit(l.Settings, stripSettings, func(o object) (object, error) { return addHooks(o, c) })
	if err != nil {
		return p, err
	}
	servers, err := p.edit(l.Servers, p.stripState, func(o object) (object, error) { return addServer(o, l, c) })
	if err != nil {
		return p, err
	}
	settings.What = []string{"hooks " + names(c.Events) + " call " + c.Binary}
	servers.What = []string{"MCP server " + ServerName + " starts " + c.Binary + " mcp"}
	p.keep(settings, servers)
	p.remark(settings.Before)
	return p, nil
}

// Uninstall plans to take out what an installation put in: a file that nobody changed since gets its bytes back, from another one ours
// are taken and the rest stays.
func Uninstall(l Location, store string) (Plan, error) {
	p := Plan{Location: l, folder: recordFolder(store, l), Changes: []Change{}, Notes: []string{}, undo: true}
	for _, part := range []struct {
		path, what string
		strip      func(object) (object, error)
	}{{l.Settings, "Skald's hooks go", stripSettings}, {l.Servers, "the MCP server " + ServerName + " goes", p.stripState}} {
		c, err := p.edit(part.path, part.strip, func(o object) (object, error) { return o, nil })
		if err != nil {
			return p, err
		}
		c.What = []string{part.what}
		p.keep(c)
	}
	return p, nil
}

func stripSettings(o object) (object, error) {
	o, _, err := stripHooks(o)
	return o, err
}

func (p Plan) stripState(o object) (object, error) { return stripServer(o, p.Location) }

// edit works out one file: strip gives what it is without Skald, add what it is with it.
func (p Plan) edit(path string, strip, add func(object) (object, error)) (Change, error) {
	c := Change{Path: path}
	var err error
	if c.Before, err = os.ReadFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, &skald.Error{Op: "claude", URI: path, Kind: skald.KindPermission, Err: err}
	}
	wrong := func(err error) error {
		return &skald.Error{Op: "claude", URI: path, Kind: skald.KindInvalid, Err: err}
	}
	now, err := parseObject(c.Before)
	if err != nil {
		return c, wrong(err)
	}
	stripped, err := strip(now)
	if err != nil {
		return c, wrong(err)
	}
	c.original = p.without(c, now, stripped)
	base, err := parseObject(c.original)
	if err != nil {
		return c, wrong(err)
	}
	after, err := add(base)
	switch {
	case err != nil:
		return c, wrong(err)
	case bytes.Equal(after.raw(), base.raw()):
		c.After = c.original
	case bytes.Equal(after.raw(), now.raw()):
		c.After = c.Before // installed already, in whatever layout
	default:
		c.After = after.file(c.original)
	}
	return c, nil
}

// without is the file as it would be had Skald never been there: the backup when nobody has changed the file since the installation.
func (p Plan) without(c Change, now, stripped object) []byte {
	if old, ok := readRecord(p.folder).of(c.Path); ok && old.After == sum(c.Before) {
		if backup, err := old.backup(p.folder); err == nil {
			return backup
		}
	}
	switch {
	case bytes.Equal(now.raw(), stripped.raw()):
		return c.Before
	case len(stripped) == 0 && p.madeFile(c.Path):
		return nil
	}
	return stripped.file(c.Before)
}

// madeFile reports that the file was not there before the installation.
func (p Plan) madeFile(path string) bool {
	old, ok := readRecord(p.folder).of(path)
	return ok && old.Backup == ""
}

func (p *Plan) keep(list ...Change) {
	for _, c := range list {
		if c.needed() {
			p.Changes = append(p.Changes, c)
		}
	}
}

// remark notes what a person should know of their settings.
func (p *Plan) remark(raw []byte) {
	settings, err := parseObject(raw)
	if err != nil {
		return
	}
	if string(settings.get("disableAllHooks")) == "true" {
		p.Notes = append(p.Notes, "disableAllHooks is set in "+p.Location.Settings+": hooks do not run until it is taken out")
	}
	if _, others, err := stripHooks(settings); err == nil && others > 0 {
		p.Notes = append(p.Notes, plural(others, "hook")+" of others stay as they are")
	}
}

// recordFolder is where the record of one location stands.
func recordFolder(store string, l Location) string {
	h := sha256.Sum256([]byte(l.Settings + "\x00" + l.Project))
	return filepath.Join(store, "claude", hex.EncodeToString(h[:6]))
}

// sum is the hash by which a file is known again; "" of no file.
func sum(b []byte) string {
	if b == nil {
		return ""
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
