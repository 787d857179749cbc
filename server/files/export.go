package files

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/tree"
	"github.com/skald-engine/skald/tree/pack"
	"github.com/skald-engine/skald/tree/view"
)

// Export implements api.Files. Only a folder can be packed.
func (f *Files) Export(ctx context.Context, id skald.Identity, raw string, w io.Writer) error {
	return f.look(ctx, id, raw, func(v view.View, uri skald.URI) error {
		n, err := v.Stat(uri)
		switch {
		case err != nil:
			return err
		case uri == skald.Root:
			return invalid(uri, "is everything: make a backup")
		case !n.Dir:
			return invalid(uri, "is a file: only a folder is exported")
		}
		scope, _, _ := strings.Cut(strings.TrimPrefix(string(uri), string(skald.Root)), "/")
		p, err := pack.NewWriter(w, pack.Root{Name: n.Name, Scope: scope, URI: uri})
		if err != nil {
			return err
		}
		x := exporting{View: v, ctx: ctx, pack: p, root: uri}
		if err := x.folder(n); err != nil {
			return err
		}
		return p.Close()
	})
}

// Backup implements api.Files: the account's shared resources and skills, and the spaces of all its users and agents.
func (f *Files) Backup(ctx context.Context, id skald.Identity, w io.Writer) error {
	return f.store.View(ctx, func(tx skald.Tx) error {
		p, err := pack.NewWriter(w, pack.Backup())
		if err != nil {
			return err
		}
		scopes, err := tx.Scopes(id.Account)
		if err != nil {
			return err
		}
		dirs := map[skald.URI]bool{}
		for _, s := range scopes {
			apart := skald.Policy{
				IsolateUserScopeByAgent: s.Kind == skald.ScopeUser && s.Agent != "",
				IsolateAgentScopeByUser: s.Kind == skald.ScopeAgent && s.User != "",
			}
			v := view.View{Tx: tx, Policy: apart, ID: skald.Identity{Account: id.Account, User: s.User, Agent: s.Agent}}
			x := exporting{View: v, ctx: ctx, pack: p, root: skald.Root}
			if err := x.scope(s, dirs); err != nil {
				return err
			}
		}
		return p.Close()
	})
}

// exporting is one pack under way.
type exporting struct {
	view.View
	ctx  context.Context
	pack *pack.Writer
	root skald.URI
}

func (x exporting) path(uri skald.URI) string {
	return strings.TrimPrefix(strings.TrimPrefix(string(uri), string(x.root)), "/")
}

// scope packs all of a scope. dirs are the folders above it that are in the pack already.
func (x exporting) scope(s skald.Scope, dirs map[skald.URI]bool) error {
	root := s.RootURI()
	var above []skald.URI
	for uri := root; uri != skald.Root; uri = uri.Parent() {
		above = append(above, uri)
	}
	for _, uri := range slices.Backward(above) {
		if dirs[uri] {
			continue
		}
		dirs[uri] = true
		if err := x.pack.Dir(x.path(uri)); err != nil {
			return err
		}
	}
	n, err := x.Stat(root)
	if err != nil {
		return err
	}
	return x.folder(n)
}

func (x exporting) folder(n view.Node) error {
	return x.Walk(n.URI, maxDepth, func(n view.Node) error {
		switch {
		case x.ctx.Err() != nil:
			return x.ctx.Err()
		case n.Dir:
			return x.dir(n)
		}
		return x.file(n)
	})
}

func (x exporting) dir(n view.Node) error {
	if err := x.pack.Dir(x.path(n.URI)); err != nil {
		return err
	}
	switch n.Kind {
	case view.Folder:
		return x.texts(n)
	case view.Session:
		return x.bookkeeping(n)
	}
	return nil
}

// bookkeeping adds what OpenViking's server looks for in the folders of sessions and archives.
func (x exporting) bookkeeping(n view.Node) error {
	p, _ := x.Place(n.URI)
	switch {
	case len(p.Path) == 4 && n.Abstract != "":
		return x.pack.File(x.path(n.URI.Join(".done")), []byte("{}"))
	case len(p.Path) != 2:
		return nil
	}
	s, err := x.Tx.Session(skald.SessionRef{Scope: p.Scope, ID: p.Path[1]})
	if err != nil {
		return err
	}
	meta, err := json.Marshal(map[string]any{
		"session_id": s.Ref.ID, "created_at": s.Created, "updated_at": s.Updated, "commit_count": s.Archives,
		"created_by_account_id": p.Scope.Account, "created_by_user_id": p.Scope.User, "message_count": s.LastSeq - s.OpenFrom + 1,
	})
	if err != nil {
		return skald.E("files.export", skald.KindInternal, "%w", err)
	}
	return x.pack.File(x.path(n.URI.Join(".meta.json")), meta)
}

func (x exporting) texts(n view.Node) error {
	for level, text := range []string{n.Abstract, n.Overview} {
		if text == "" {
			continue
		}
		r := pack.Record{Kind: "directory", Level: level, Path: x.path(n.URI), Text: text}
		r.Scalars = pack.Scalars{Abstract: n.Abstract, Type: n.ContextType(), Tags: strings.Join(n.Tags, ";")}
		if err := x.pack.Record(r); err != nil {
			return err
		}
	}
	return nil
}

func (x exporting) file(n view.Node) error {
	body, err := x.body(n)
	if err != nil {
		return err
	}
	if err := x.pack.File(x.path(n.URI), body); err != nil || n.Kind == view.Text || n.Kind == view.Session {
		return err
	}
	r := pack.Record{Kind: "file", Level: 2, Path: x.path(n.URI), Text: tree.Text(skald.File{Body: body})}
	r.Scalars = pack.Scalars{Abstract: n.Abstract, Type: n.ContextType(), Name: n.Name, Tags: strings.Join(n.Tags, ";")}
	return x.pack.Record(r)
}

// body is a file as OpenViking keeps it: a memory with its fields at the end, messages in its own form.
func (x exporting) body(n view.Node) ([]byte, error) {
	switch {
	case n.Memory != nil:
		return withFields(*n.Memory)
	case n.Kind == view.Session && n.Name == "messages.jsonl":
		return x.messages(n)
	}
	return x.Body(n.URI)
}

// fields stand in a comment at the end of OpenViking's memories.
type fields struct {
	Type    string   `json:"memory_type,omitempty"`
	Version int      `json:"version"`
	Created string   `json:"created_at,omitempty"`
	Updated string   `json:"updated_at,omitempty"`
	Tags    []string `json:"tags,omitempty"`
}

const (
	fieldsStart = "<!-- MEMORY_FIELDS"
	fieldsEnd   = "-->"
)

func withFields(m skald.Memory) ([]byte, error) {
	b, err := json.MarshalIndent(fields{Type: string(m.Type), Version: 1, Created: m.Created.UTC().Format(time.RFC3339Nano),
		Updated: m.Updated.UTC().Format(time.RFC3339Nano), Tags: m.Tags}, "", "  ")
	return []byte(m.Text + "\n\n" + fieldsStart + "\n" + string(b) + "\n" + fieldsEnd), err
}

// messages are the turns behind a messages.jsonl, without the forgotten ones; of a session's own file, those that no archive covers.
func (x exporting) messages(n view.Node) ([]byte, error) {
	p, _ := x.Place(n.URI)
	ref := skald.SessionRef{Scope: p.Scope, ID: p.Path[1]}
	s, err := x.Tx.Session(ref)
	if err != nil {
		return nil, err
	}
	from, to := s.OpenFrom, s.LastSeq
	if len(p.Path) > 3 {
		index, _ := skald.ParseArchiveID(p.Path[3])
		a, err := x.Tx.Archive(ref, index)
		if err != nil {
			return nil, err
		}
		from, to = a.From, a.To
	}
	var list []api.HostMessage
	for ; from <= to; from += turnPage {
		turns, err := x.Tx.Turns(ref, skald.TurnQuery{From: from, To: min(to, from+turnPage-1)})
		if err != nil {
			return nil, err
		}
		for _, t := range turns {
			if !t.Forgotten && !t.Purged {
				list = append(list, api.HostMessage{Seq: t.Seq, Time: t.Time, Raw: t.Raw})
			}
		}
	}
	return api.Lines(ref.ID, list)
}
