package skill

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"path"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/tree"
)

// Library keeps skills in a store: a user's own under viking://user/<user>/skills, those that an account's users share under
// viking://agent/skills.
type Library struct {
	Store  skald.Store
	Policy func() skald.Policy
	Now    func() time.Time
}

// Info describes a stored skill.
type Info struct {
	Name         string
	URI          skald.URI // its folder
	Description  string
	Tags         []string
	AllowedTools []string
	Version      string
	Source       json.RawMessage // where it came from, as its importer told; nil when unknown
	Updated      time.Time
}

// MainURI is the URI of the skill's SKILL.md.
func (i Info) MainURI() skald.URI { return i.URI.Join(Main) }

// card is what a skill's folder carries in File.Extra, so that a listing reads no SKILL.md.
type card struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Tags         []string        `json:"tags"`
	AllowedTools []string        `json:"allowed_tools"`
	Version      string          `json:"version,omitempty"`
	Source       json.RawMessage `json:"source,omitempty"`
}

// root is a folder that holds skills.
type root struct {
	scope skald.Scope
	uri   skald.URI
}

// roots are the identity's own root and the shared one.
func (l *Library) roots(id skald.Identity) []root {
	own := l.Policy().UserScope(id)
	shared := skald.Scope{Account: id.Account, Kind: skald.ScopeSkills}
	return []root{{own, own.RootURI().Join("skills")}, {shared, shared.RootURI()}}
}

// Roots lists the URIs of the roots that a target names: "" the identity's own and the shared one.
func (l *Library) Roots(id skald.Identity, target string) ([]skald.URI, error) {
	roots, err := l.chosen(id, target)
	var out []skald.URI
	for _, r := range roots {
		out = append(out, r.uri)
	}
	return out, err
}

// chosen are the roots that a target names: all of them when it is "". KindInvalid when it names no root of skills.
func (l *Library) chosen(id skald.Identity, target string) ([]root, error) {
	all := l.roots(id)
	if target == "" {
		return all, nil
	}
	uri, err := skald.ParseURI(target, id, l.Policy())
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		if r.uri == uri {
			return []root{r}, nil
		}
	}
	return nil, &skald.Error{Op: "skill", URI: string(uri), Field: "target_uri", Kind: skald.KindInvalid,
		Err: fmt.Errorf("skills lie under %s (yours) or %s (shared)", all[0].uri, all[1].uri)}
}

// Add stores skills under a root (target; "": the identity's own), each with all its files and in one transaction. A skill of the same name is
// replaced as a whole: no file of the former one stays. source is JSON about where they came from, or nil.
func (l *Library) Add(ctx context.Context, id skald.Identity, target string, list []Bundle, source json.RawMessage) ([]Info, error) {
	roots, err := l.chosen(id, target)
	if err != nil {
		return nil, err
	}
	var out []Info
	err = l.Store.Update(ctx, func(tx skald.Tx) error {
		out = nil // a transaction may be repeated
		for _, b := range list {
			info, err := l.put(tx, roots[0], b, source)
			if err != nil {
				return err
			}
			out = append(out, info)
		}
		return nil
	})
	return out, err
}

// Replace stores a skill in the place of the one of that name. KindNotFound when there is none, KindInvalid when b has another name.
func (l *Library) Replace(ctx context.Context, id skald.Identity, target, name string, b Bundle, source json.RawMessage) (info Info, err error) {
	if b.Name != name {
		return info, skald.Invalid("skill.replace", "name", "the path names the skill %q, its content %q", name, b.Name)
	}
	err = l.Store.Update(ctx, func(tx skald.Tx) error {
		r, _, err := l.find(tx, id, target, name)
		if err != nil {
			return err
		}
		info, err = l.put(tx, r, b, source)
		return err
	})
	return info, err
}

func (l *Library) put(tx skald.Tx, r root, b Bundle, source json.RawMessage) (Info, error) {
	now := l.Now()
	folder := r.uri.Join(b.Name)
	if _, err := tree.Delete(tx, r.scope, folder); err != nil {
		return Info{}, err
	}
	c := card{Name: b.Name, Description: b.Description, Tags: b.Tags, AllowedTools: b.AllowedTools, Version: b.Version, Source: source}
	extra, err := json.Marshal(c)
	if err != nil {
		return Info{}, skald.Invalid("skill", "source_metadata", "%w", err)
	}
	f := skald.File{Scope: r.scope, URI: folder, Dir: true, Modified: now, Abstract: abstract(b.Skill), Overview: overview(b), Extra: extra}
	if err := tree.Put(tx, f); err != nil {
		return Info{}, err
	}
	files := append([]File{{Path: Main, Data: []byte(b.Text)}}, b.Files...)
	for i, file := range files {
		f := skald.File{Scope: r.scope, URI: folder.Join(file.Path), Body: file.Data, Media: mime.TypeByExtension(path.Ext(file.Path)), Modified: now}
		if i == 0 {
			f.Abstract = b.Description
		}
		if err := tree.Put(tx, f); err != nil {
			return Info{}, err
		}
	}
	return infoOf(folder, c, now), nil
}

// abstract is the line that finds a skill: its name, what it is for, its tags.
func abstract(s Skill) string {
	line := s.Name + ": " + strings.Join(strings.Fields(s.Description), " ")
	if len(s.Tags) > 0 {
		line += " [" + strings.Join(s.Tags, ", ") + "]"
	}
	return line
}

// maxOverview is how much of a SKILL.md stands in the overview, in bytes.
const maxOverview = 2000

// overview is the begin of what the skill says, and the list of its files.
func overview(b Bundle) string {
	text := cmp.Or(strings.TrimSpace(b.Body), b.Description)
	if len(text) > maxOverview {
		text = strings.ToValidUTF8(text[:maxOverview], "") + "…"
	}
	if len(b.Files) == 0 {
		return text
	}
	var names []string
	for _, f := range b.Files[:min(len(b.Files), 100)] {
		names = append(names, f.Path)
	}
	return text + "\n\nFiles: " + strings.Join(names, ", ")
}

func infoOf(folder skald.URI, c card, updated time.Time) Info {
	return Info{Name: c.Name, URI: folder, Description: c.Description, Tags: orEmpty(c.Tags), AllowedTools: orEmpty(c.AllowedTools),
		Version: c.Version, Source: c.Source, Updated: updated}
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// stored makes an Info of a stored folder. A folder that was made by other means than Add is described by its SKILL.md.
func stored(tx skald.Tx, f skald.File) (Info, error) {
	var c card
	if len(f.Extra) > 0 && json.Unmarshal(f.Extra, &c) == nil && c.Name != "" {
		return infoOf(f.URI, c, f.Modified), nil
	}
	main, err := tx.File(f.Scope, f.URI.Join(Main))
	if err != nil {
		return Info{}, err
	}
	s, err := read(string(main.Body))
	if err != nil { // a broken SKILL.md is listed all the same, so that it can be seen and removed
		return infoOf(f.URI, card{Name: f.URI.Name(), Description: "unreadable: " + err.Error()}, f.Modified), nil
	}
	return infoOf(f.URI, card{Name: f.URI.Name(), Description: s.Description, Tags: s.Tags, AllowedTools: s.AllowedTools, Version: s.Version}, f.Modified), nil
}

// List lists the skills under a root ("": all of the identity's), by root and name. limit is per root; 0: no limit.
func (l *Library) List(ctx context.Context, id skald.Identity, target string, limit int) (out []Info, err error) {
	roots, err := l.chosen(id, target)
	if err != nil {
		return nil, err
	}
	err = l.Store.View(ctx, func(tx skald.Tx) error {
		out = []Info{}
		for _, r := range roots {
			list, err := inRoot(tx, r)
			if err != nil {
				return err
			}
			if limit > 0 {
				list = list[:min(len(list), limit)]
			}
			out = append(out, list...)
		}
		return nil
	})
	return out, err
}

func inRoot(tx skald.Tx, r root) (out []Info, err error) {
	files, err := tx.Files(skald.FileQuery{Scopes: []skald.Scope{r.scope}, Under: r.uri, Direct: true})
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if !f.Dir {
			continue
		}
		switch info, err := stored(tx, f); {
		case err == nil:
			out = append(out, info)
		case skald.KindOf(err) != skald.KindNotFound: // a folder without SKILL.md is no skill
			return nil, err
		}
	}
	return out, nil
}

// find looks a skill up by name, in the identity's own root first.
func (l *Library) find(tx skald.Tx, id skald.Identity, target, name string) (root, skald.File, error) {
	if err := CheckName(name); err != nil {
		return root{}, skald.File{}, err
	}
	roots, err := l.chosen(id, target)
	if err != nil {
		return root{}, skald.File{}, err
	}
	for _, r := range roots {
		f, err := tx.File(r.scope, r.uri.Join(name))
		if err == nil && f.Dir {
			return r, f, nil
		}
		if err != nil && skald.KindOf(err) != skald.KindNotFound {
			return root{}, skald.File{}, err
		}
	}
	return root{}, skald.File{}, &skald.Error{Op: "skill", URI: string(roots[0].uri.Join(name)), Kind: skald.KindNotFound, Err: errNoSkill}
}

var errNoSkill = errors.New("there is no such skill")

// Details is a skill with its texts and files.
type Details struct {
	Info
	Abstract string
	Overview string
	Content  []byte       // SKILL.md
	Files    []skald.File // all nodes below the folder, without their content
}

// Get reads a skill.
func (l *Library) Get(ctx context.Context, id skald.Identity, target, name string) (d Details, err error) {
	err = l.Store.View(ctx, func(tx skald.Tx) error {
		r, folder, err := l.find(tx, id, target, name)
		if err != nil {
			return err
		}
		if d.Info, err = stored(tx, folder); err != nil {
			return err
		}
		d.Abstract, d.Overview = folder.Abstract, folder.Overview
		main, err := tx.File(r.scope, folder.URI.Join(Main))
		if err != nil {
			return err
		}
		d.Content = main.Body
		d.Files, err = tx.Files(skald.FileQuery{Scopes: []skald.Scope{r.scope}, Under: folder.URI})
		return err
	})
	return d, err
}

// Remove deletes a skill with all its files, and says how many nodes went.
func (l *Library) Remove(ctx context.Context, id skald.Identity, target, name string) (uri skald.URI, count int, err error) {
	err = l.Store.Update(ctx, func(tx skald.Tx) error {
		r, folder, err := l.find(tx, id, target, name)
		if err != nil {
			return err
		}
		uri = folder.URI
		count, err = tree.Delete(tx, r.scope, folder.URI)
		return err
	})
	return uri, count, err
}
