package view

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/tree"
)

// The files of sessions and archives.
const (
	messagesFile   = "messages.jsonl"
	historyFolder  = "history"
	diffFile       = "memory_diff.json"
	checkpointFile = "checkpoint.json"
)

func (v View) session(p Place) (skald.Session, error) {
	return v.Tx.Session(skald.SessionRef{Scope: p.Scope, ID: p.Path[1]})
}

func sessionNode(s skald.Session) Node {
	n := folder(Session, s.Ref.Scope, s.Ref.URI(), s.Updated)
	n.Created = s.Created
	return n
}

// sessions lists what stands right below a folder of a user's sessions.
func (v View) sessions(p Place, uri skald.URI) ([]Node, error) {
	if p.Scope.Kind != skald.ScopeUser || len(p.Path) > 0 && p.Path[0] != "sessions" {
		return nil, nil
	}
	switch len(p.Path) {
	case 0:
		list, err := v.Tx.Sessions(skald.SessionQuery{Scopes: []skald.Scope{p.Scope}, Limit: 1})
		if err != nil || len(list) == 0 {
			return nil, err
		}
		return []Node{folder(Session, p.Scope, uri.Join("sessions"), list[0].Updated)}, nil
	case 1:
		list, err := v.Tx.Sessions(skald.SessionQuery{Scopes: []skald.Scope{p.Scope}})
		out := make([]Node, len(list))
		for i, s := range list {
			out[i] = sessionNode(s)
		}
		return out, err
	}
	s, err := v.session(p)
	switch {
	case skald.KindOf(err) == skald.KindNotFound: // files that stand where the session was
		return nil, nil
	case err != nil:
		return nil, err
	case len(p.Path) == 2:
		return sessionFiles(s), nil
	case p.Path[2] == historyFolder && len(p.Path) == 3:
		return v.archives(s)
	case p.Path[2] == historyFolder && len(p.Path) == 4:
		a, err := v.archive(s, p.Path[3])
		return archiveFiles(a), err
	}
	return nil, nil
}

func sessionFiles(s skald.Session) []Node {
	out := []Node{file(Session, s.Ref.Scope, s.Ref.URI().Join(messagesFile), 0, s.Updated)} // every turn would be read for its size
	out[0].Abstract = fmt.Sprintf("%d turns", s.LastSeq)
	if s.Archives > 0 {
		out = append(out, folder(Session, s.Ref.Scope, s.Ref.URI().Join(historyFolder), s.LastCommit))
	}
	return out
}

func (v View) archives(s skald.Session) ([]Node, error) {
	list, err := v.Tx.Archives(s.Ref, 1)
	out := make([]Node, len(list))
	for i, a := range list {
		out[i] = archiveNode(a)
	}
	return out, err
}

func archiveNode(a skald.Archive) Node {
	n := folder(Session, a.Session.Scope, a.Session.ArchiveURI(a.Index), a.Updated)
	n.Abstract, n.Created = a.Abstract, a.Created
	return n
}

func (v View) archive(s skald.Session, name string) (skald.Archive, error) {
	index, ok := skald.ParseArchiveID(name)
	if !ok || skald.ArchiveID(index) != name {
		return skald.Archive{}, skald.NotFound("stat", string(s.Ref.URI().Join(historyFolder, name)))
	}
	return v.Tx.Archive(s.Ref, index)
}

func archiveFiles(a skald.Archive) []Node {
	if a.Index == 0 {
		return nil
	}
	dir, scope := a.Session.ArchiveURI(a.Index), a.Session.Scope
	out := []Node{
		file(Session, scope, dir.Join(tree.AbstractName), len(a.Abstract), a.Updated),
		file(Session, scope, dir.Join(messagesFile), 0, a.Created),
		file(Session, scope, dir.Join(tree.OverviewName), len(archive.Text(a)), a.Updated),
	}
	out[1].Abstract = fmt.Sprintf("turns %d to %d", a.From, a.To)
	if a.Diff != "" {
		out = append(out, file(Session, scope, dir.Join(diffFile), len(a.Diff), a.Updated))
	}
	return out
}

func (v View) statSession(p Place, uri skald.URI) (Node, error) {
	missing := skald.NotFound("stat", string(uri))
	if len(p.Path) == 1 {
		return folder(Session, p.Scope, uri, time.Time{}), nil
	}
	s, err := v.session(p)
	if err != nil {
		return Node{}, err
	}
	rest := p.Path[2:]
	switch {
	case len(rest) == 0:
		return sessionNode(s), nil
	case len(rest) == 1:
		return pick(sessionFiles(s), uri)
	case rest[0] == historyFolder && len(rest) <= 3:
		return v.statArchive(s, uri, rest[1:])
	case rest[0] == "turns":
		return v.statTurns(s, uri)
	}
	return Node{}, missing
}

func (v View) statArchive(s skald.Session, uri skald.URI, path []string) (Node, error) {
	a, err := v.archive(s, path[0])
	if err != nil {
		return Node{}, err
	}
	if len(path) == 1 {
		return archiveNode(a), nil
	}
	if path[1] == checkpointFile { // known by name, listed by none
		return file(Session, s.Ref.Scope, uri, 0, a.Updated), nil
	}
	return pick(archiveFiles(a), uri)
}

func pick(list []Node, uri skald.URI) (Node, error) {
	for _, n := range list {
		if n.URI == uri {
			return n, nil
		}
	}
	return Node{}, skald.NotFound("stat", string(uri))
}

// statTurns describes a run of turns as one file.
func (v View) statTurns(s skald.Session, uri skald.URI) (Node, error) {
	t, err := uri.Resolve(s.Ref.Scope.Account)
	if err != nil || t.From == 0 || t.To > s.LastSeq {
		return Node{}, skald.NotFound("stat", string(uri))
	}
	turns, err := v.Tx.Turns(s.Ref, skald.TurnQuery{From: t.From, To: t.To})
	if err != nil || len(turns) == 0 {
		return Node{}, err
	}
	size := 0
	for _, t := range turns {
		size += len(t.Raw) + 1
	}
	newest := slices.MaxFunc(turns, func(a, b skald.Turn) int { return a.Time.Compare(b.Time) })
	return file(Session, s.Ref.Scope, uri, size, newest.Time), nil
}

// readSession reads what lies in a session, by its canonical URI.
func (v View) readSession(uri skald.URI) (string, error) {
	name, whole := strings.CutSuffix(string(uri), "/"+messagesFile)
	t, err := skald.URI(name).Resolve(v.ID.Account)
	if err != nil {
		return "", err
	}
	ref := skald.SessionRef{Scope: t.Scope, ID: t.Session}
	if t.Archive == 0 {
		return v.turns(ref, t.From, t.To)
	}
	a, err := v.Tx.Archive(ref, t.Archive)
	if err != nil {
		return "", err
	}
	switch {
	case whole:
		return v.turns(ref, a.From, a.To)
	case t.File == "abstract":
		return a.Abstract, nil
	case t.File == "memory_diff":
		return a.Diff, nil
	case t.File == "checkpoint":
		return v.checkpoint(ref, a.Index)
	}
	return archive.Text(a), nil
}

// turns joins the host's own messages, one a line.
func (v View) turns(ref skald.SessionRef, from, to int64) (string, error) {
	if _, err := v.Tx.Session(ref); err != nil {
		return "", err
	}
	turns, err := v.Tx.Turns(ref, skald.TurnQuery{From: from, To: to})
	var b strings.Builder
	for _, t := range turns {
		b.Write(t.Raw)
		b.WriteByte('\n')
	}
	return b.String(), err
}

func (v View) checkpoint(ref skald.SessionRef, index int) (string, error) {
	list, err := v.Tx.Checkpoints(ref)
	for _, c := range list {
		if c.ArchiveIndex == index {
			text, err := json.MarshalIndent(c, "", "  ")
			return string(text), err
		}
	}
	if err == nil {
		err = skald.NotFound("read", string(ref.ArchiveURI(index).Join(checkpointFile)))
	}
	return "", err
}
