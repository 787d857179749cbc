package files

import (
	"cmp"
	"maps"
	"slices"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/tree/pack"
	"github.com/skald-engine/skald/tree/view"
)

// record is what a pack holds of a session: the messages of its archives, and the open ones.
type record struct {
	id    skald.Identity
	name  string
	parts []part
}

type part struct {
	archive int // 0: the open messages, which come last
	entry   pack.Entry
}

// session keeps a session's messages for later; its summaries are made anew of them.
func (x *importing) session(p view.Place, uri skald.URI, e pack.Entry) error {
	if e.Dir || uri.Name() != "messages.jsonl" || len(p.Path) < 3 {
		return nil
	}
	one := part{entry: e}
	switch {
	case len(p.Path) == 5 && p.Path[2] == "history":
		index, ok := skald.ParseArchiveID(p.Path[3])
		if !ok {
			return nil
		}
		one.archive = index
	case len(p.Path) != 3:
		return nil
	}
	name := p.Path[1]
	if !skald.SafeID(name) {
		return skald.Invalid("pack.import", "pack", "%q is no id of a session", name)
	}
	key := skald.SessionRef{Scope: p.Scope, ID: name}.URI()
	if x.sessions[key] == nil {
		id := x.id
		id.User, id.Agent = p.Scope.User, cmp.Or(p.Scope.Agent, id.Agent)
		x.sessions[key] = &record{id: id, name: skald.SessionID(name, "")}
	}
	x.sessions[key].parts = append(x.sessions[key].parts, one)
	return nil
}

// restoreSessions stores the messages of the sessions, an archive after the other. A message that is stored already stores nothing, so
// that a restore which was cut off can be repeated.
func (x *importing) restoreSessions() error {
	for _, key := range slices.Sorted(maps.Keys(x.sessions)) {
		if err := x.restoreSession(x.sessions[key]); err != nil {
			return err
		}
	}
	return nil
}

func (x *importing) restoreSession(s *record) error {
	slices.SortFunc(s.parts, func(a, b part) int {
		return cmp.Compare(cmp.Or(a.archive, 1<<30), cmp.Or(b.archive, 1<<30))
	})
	for _, p := range s.parts {
		entries, err := x.entries(p.entry)
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			continue
		}
		before, err := x.files.sessions.AddMessages(x.ctx, s.id, s.name, entries[:0])
		if err != nil {
			return err
		}
		after, err := x.files.sessions.AddMessages(x.ctx, s.id, s.name, entries)
		if err != nil {
			return err
		}
		if p.archive == 0 || after.Total == before.Total { // open ones, or stored before
			continue
		}
		if _, err := x.files.sessions.ArchiveSession(x.ctx, s.id, s.name, api.CommitOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func (x *importing) entries(e pack.Entry) (out []skald.Entry, err error) {
	body, err := e.Read()
	if err != nil {
		return nil, err
	}
	list, err := api.ParseLines(x.ctx, body)
	for _, m := range list {
		one, hostErr := api.ToHost(m, time.Time{})
		if hostErr != nil {
			return nil, hostErr
		}
		out = append(out, one...)
	}
	return out, err
}
