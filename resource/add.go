package resource

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/resource/fetch"
	"github.com/skald-engine/skald/resource/parse"
	"github.com/skald-engine/skald/tree"
)

const importKind = "resource.import"

// order is an import that was accepted: the record that its job works from.
type order struct {
	Request  Request        `json:"request"`
	Identity skald.Identity `json:"identity"`
	Scope    skald.Scope    `json:"scope"`
	Root     skald.URI      `json:"root"`
	Name     string         `json:"name"`   // of the uploaded file
	Source   string         `json:"source"` // as shown
	Reserved bool           `json:"reserved"`
}

// Accepted is an import that has begun.
type Accepted struct {
	Task   string
	Root   skald.URI
	Source string
	Watch  string // id of the watch that repeats it, or ""
}

// Add accepts an import and returns before it is done: its job does it. What can be refused is refused here, before anything changes:
// a path of the server (KindPermission), an address that is not public (KindPermission), an upload that is not the caller's
// (KindPermission), a parent that is missing (KindNotFound), a target that is a file (KindConflict).
func (s *Service) Add(ctx context.Context, id skald.Identity, r Request) (Accepted, error) {
	if _, err := r.check(); err != nil {
		return Accepted{}, err
	}
	if r.Interval > 0 && s.o.NoWatch {
		return Accepted{}, errNoWatch()
	}
	var address fetch.Address
	if r.Path != "" {
		var err error
		if address, err = fetch.Parse(r.Path, r.AddType); err != nil {
			return Accepted{}, err
		}
		if err := s.fetch.Guard.Check(ctx, address.URL); err != nil {
			return Accepted{}, err
		}
	}
	var a Accepted
	err := s.store.Update(ctx, func(tx skald.Tx) (err error) {
		a, err = s.accept(tx, id, r, address)
		return err
	})
	if err == nil {
		s.o.Wake()
	}
	return a, err
}

// accept reserves the root, takes the upload, and queues the job, in one transaction.
func (s *Service) accept(tx skald.Tx, id skald.Identity, r Request, address fetch.Address) (Accepted, error) {
	user := s.o.Policy.UserScope(id)
	key, err := newKey()
	if err != nil {
		return Accepted{}, err
	}
	o := order{Request: r, Identity: id}
	name := ""
	if r.Upload != "" {
		u, err := s.upload(tx, user, r.Upload)
		if err != nil {
			return Accepted{}, err
		}
		o.Name = nameOf(r.SourceName, u.Name)
		o.Source, name = o.Name, o.Name
	} else {
		o.Source, name = address.Shown(), address.Name
		if r.SourceName != "" {
			name = r.SourceName
		}
	}
	if o.Root, o.Scope, err = s.root(tx, id, r, name, o.Source, address.URL != nil); err != nil {
		return Accepted{}, err
	}
	if o.Reserved, err = s.reserve(tx, o); err != nil {
		return Accepted{}, err
	}
	if r.Upload != "" {
		if _, err := s.take(tx, user, r.Upload, key); err != nil {
			return Accepted{}, err
		}
	}
	a := Accepted{Root: o.Root, Source: o.Source}
	if r.Interval > 0 {
		if a.Watch, err = s.watch(tx, user, o); err != nil {
			return Accepted{}, err
		}
	}
	a.Task, err = s.enqueue(tx, user, key, o)
	return a, err
}

// nameOf is what the caller calls an upload; where that has no extension, with the upload's.
func nameOf(given, uploaded string) string {
	given = path.Base(strings.ReplaceAll(strings.TrimSpace(given), `\`, "/"))
	if given == "" || given == "." || given == "/" {
		return uploaded
	}
	if path.Ext(given) == "" {
		return given + path.Ext(uploaded)
	}
	return given
}

// enqueue stores the order and its job.
func (s *Service) enqueue(tx skald.Tx, user skald.Scope, key string, o order) (task string, err error) {
	now := s.now()
	if err := tx.PutRecord(skald.Record{Scope: user, Kind: importKind, ID: key, Body: asJSON(o), Updated: now}); err != nil {
		return "", err
	}
	// The session's id keeps two imports of one root apart: the queue runs one job of a session at a time.
	j := skald.Job{Key: key, Kind: JobKind, Session: skald.SessionRef{Scope: user, ID: "import-" + fetch.Mark(string(o.Root))},
		State: skald.JobReady, Created: now, Updated: now, RunAt: now}
	j = j.WithNote(skald.JobNote{Resource: string(o.Root), Stage: "queued", Meta: metaOf(o)})
	if err := tx.PutJob(j); err != nil {
		return "", err
	}
	jobs, err := tx.Jobs([]skald.Scope{user}, 0)
	for _, stored := range jobs {
		if stored.Key == key {
			return strconv.FormatInt(stored.ID, 10), nil
		}
	}
	if err == nil {
		err = skald.E("resource.add", skald.KindInternal, "the job was not stored")
	}
	return "", err
}

func metaOf(o order) json.RawMessage { return asJSON(map[string]string{"source_path": o.Source}) }

func newKey() (string, error) {
	var b [12]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", skald.E("resource.add", skald.KindInternal, "%w", err)
	}
	return "resource/" + hex.EncodeToString(b[:]), nil
}

// root says where an import goes.
func (s *Service) root(tx skald.Tx, id skald.Identity, r Request, name, source string, again bool) (skald.URI, skald.Scope, error) {
	if r.To != "" {
		return s.target(id, r.To, "to")
	}
	parent, scope, err := s.parent(tx, id, r)
	if err != nil {
		return "", scope, err
	}
	base := fetch.CleanName(name)
	if stem := strings.TrimSuffix(base, path.Ext(base)); r.Upload != "" && stem != "" {
		base = fetch.CleanName(stem)
	}
	if folder, ok := parse.Media(name); ok && r.Parent == "" {
		parent = parent.Join(folder, s.now().Format("2006"), s.now().Format("01"), s.now().Format("02"))
	}
	for n := 0; ; n++ {
		uri := parent.Join(base)
		if n > 0 {
			uri = parent.Join(fmt.Sprintf("%s_%d", base, n))
		}
		f, err := tx.File(scope, uri)
		switch {
		case skald.KindOf(err) == skald.KindNotFound:
			return uri, scope, nil
		case err != nil:
			return "", scope, err
		case again && f.Dir && markOf(f).Source == source: // the same address once more brings the same resource up to date
			return uri, scope, nil
		}
	}
}

// target parses a URI that is written to: resources of the account or of the user.
func (s *Service) target(id skald.Identity, raw, field string) (skald.URI, skald.Scope, error) {
	uri, err := skald.ParseURI(raw, id, s.o.Policy)
	if err != nil {
		return "", skald.Scope{}, err
	}
	scope, err := tree.ScopeOf(s.o.Policy, id, uri)
	if err != nil {
		return "", scope, err
	}
	if !id.Sees(uri) {
		return "", scope, &skald.Error{Op: "resource.add", URI: string(uri), Field: field, Kind: skald.KindPermission, Err: fmt.Errorf("another peer's space")}
	}
	home := s.o.Policy.UserScope(id).RootURI()
	inside := func(root skald.URI) bool { return strings.HasPrefix(string(uri), string(root)+"/") }
	ok := inside("viking://resources") || inside(home.Join("resources")) ||
		inside(home.Join("peers")) && strings.Contains(string(uri[len(home.Join("peers")):]), "/resources/")
	if field == "parent" {
		ok = ok || uri == "viking://resources" || uri == home.Join("resources")
	}
	if !ok {
		return "", scope, skald.Invalid("resource.add", field, "%s is no place for a resource: it must lie below viking://resources or %s",
			uri, home.Join("resources"))
	}
	return uri, scope, nil
}

func (s *Service) parent(tx skald.Tx, id skald.Identity, r Request) (skald.URI, skald.Scope, error) {
	if r.Parent == "" {
		return "viking://resources", skald.Scope{Account: id.Account, Kind: skald.ScopeResources}, nil
	}
	uri, scope, err := s.target(id, r.Parent, "parent")
	if err != nil || uri == scope.RootURI() || r.CreateParent || uri == s.o.Policy.UserScope(id).RootURI().Join("resources") {
		return uri, scope, err
	}
	f, err := tx.File(scope, uri)
	switch {
	case skald.KindOf(err) == skald.KindNotFound:
		return "", scope, &skald.Error{Op: "resource.add", URI: string(uri), Field: "parent", Kind: skald.KindNotFound,
			Err: fmt.Errorf("not found: create_parent makes it")}
	case err == nil && !f.Dir:
		return "", scope, skald.Invalid("resource.add", "parent", "%s is a file", uri)
	}
	return uri, scope, err
}

// reserve makes the root's folder, so that a second import of the same name gets another one.
func (s *Service) reserve(tx skald.Tx, o order) (bool, error) {
	f, err := tx.File(o.Scope, o.Root)
	switch {
	case err == nil && !f.Dir:
		return false, &skald.Error{Op: "resource.add", URI: string(o.Root), Field: "to", Kind: skald.KindConflict, Err: fmt.Errorf("is a file; a resource is a folder")}
	case err == nil:
		return false, nil
	case skald.KindOf(err) != skald.KindNotFound:
		return false, err
	}
	f = skald.File{Scope: o.Scope, URI: o.Root, Dir: true, Modified: s.now(), Source: o.Source, Extra: asJSON(mark{Root: o.Root, Source: o.Source})}
	return true, tree.Put(tx, f)
}

// Wait returns what an import did once it has ended. KindDeadline when ctx ends first: the import goes on. KindUnavailable: it failed, and
// is tried again later. Any other error is why it failed for good.
func (s *Service) Wait(ctx context.Context, id skald.Identity, task string) (Outcome, error) {
	n, err := strconv.ParseInt(task, 10, 64)
	if err != nil {
		return Outcome{}, skald.NotFound("resource.wait", task)
	}
	tick := time.NewTicker(15 * time.Millisecond)
	defer tick.Stop()
	for {
		out, ended, err := s.outcome(ctx, id, n)
		if ctx.Err() != nil {
			return out, skald.E("resource.wait", skald.KindDeadline, "the import goes on as task %s", task)
		}
		if err != nil || ended {
			if ended {
				err = joinSweep(err, s.Sweep(context.WithoutCancel(ctx)))
			}
			return out, err
		}
		select {
		case <-ctx.Done():
			return Outcome{}, skald.E("resource.wait", skald.KindDeadline, "the import goes on as task %s", task)
		case <-tick.C:
		}
	}
}

// joinSweep keeps the import's own error as the one that counts.
func joinSweep(own, sweep error) error {
	if own != nil {
		return own
	}
	return sweep
}

// outcome reads how an import stands.
func (s *Service) outcome(ctx context.Context, id skald.Identity, task int64) (out Outcome, ended bool, err error) {
	var j skald.Job
	err = s.store.View(ctx, func(tx skald.Tx) (err error) {
		j, err = tx.Job(task)
		if err == nil && j.Session.Scope != s.o.Policy.UserScope(id) {
			err = skald.NotFound("resource.wait", strconv.FormatInt(task, 10))
		}
		return err
	})
	if err != nil {
		return out, false, err
	}
	_ = json.Unmarshal(j.Note().Result, &out) // none yet
	switch {
	case j.State == skald.JobDone:
		return out, true, nil
	case j.State == skald.JobFailed:
		kind := out.Kind
		if kind == "" {
			kind = skald.KindInternal
		}
		text := out.Message
		if text == "" {
			text = j.Error
		}
		return out, true, &skald.Error{Op: "resource.import", Field: fieldOf(out), Kind: kind, Err: fmt.Errorf("%s", text)}
	case j.Attempts > 0 && out.Message != "":
		return out, false, skald.E("resource.import", skald.KindUnavailable, "%s (task %d tries again later)", out.Message, task)
	}
	return out, false, nil
}

func fieldOf(o Outcome) string {
	if o.Parsing {
		return ""
	}
	return "path"
}
