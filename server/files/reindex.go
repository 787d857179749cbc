package files

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/memory"
	"github.com/skald-engine/skald/server/api"
	"github.com/skald-engine/skald/tree"
	"github.com/skald-engine/skald/tree/view"
)

// ReindexKind is the kind of the job that reindexes. Its note carries the query and how far it is.
const ReindexKind = "admin_reindex"

// indexPage is how many nodes one transaction indexes.
const indexPage = 100

// reindexing is a reindexing under way: what its job keeps between two transactions.
type reindexing struct {
	Identity skald.Identity   `json:"identity"`
	Peer     string           `json:"peer,omitempty"` // of the identity, whose own form leaves both out
	Policy   *skald.Policy    `json:"policy,omitempty"`
	Query    api.ReindexQuery `json:"query"`
	After    skald.URI        `json:"after"` // done up to here, in order of URI
	Found    api.Reindexed    `json:"found"`
}

// Reindex implements api.Files.
func (f *Files) Reindex(ctx context.Context, id skald.Identity, q api.ReindexQuery) (api.Reindexed, error) {
	r := reindexing{Identity: id, Query: q}
	err := f.reindex(ctx, &r, func() error { return nil })
	return r.Found, err
}

// reindex works page by page; keep is called after each.
func (f *Files) reindex(ctx context.Context, r *reindexing, keep func() error) error {
	started := time.Now()
	n, err := f.Stat(ctx, r.Identity, r.Query.URI)
	if err != nil {
		return err
	}
	list, err := f.indexed(ctx, r, n.URI)
	if err != nil {
		return err
	}
	r.Found.URI, r.Found.Mode, r.Found.ObjectType, r.Found.Warnings = n.URI, r.Query.Mode, api.ObjectType(n), []string{}
	for len(list) > 0 {
		page := list[:min(len(list), indexPage)]
		list = list[len(page):]
		before := r.Found
		err := f.store.Update(ctx, func(tx skald.Tx) error {
			r.Found = before
			return f.indexPage(f.view(tx, r.Identity), r, page)
		})
		if err != nil {
			return err
		}
		r.After = page[len(page)-1]
		if err := keep(); err != nil {
			return err
		}
	}
	if r.Query.Mode == api.ReindexSemantic {
		if err := f.Settle(ctx, r.Identity); err != nil {
			return err
		}
	}
	r.Found.Status, r.Found.Duration = "completed", r.Found.Duration+time.Since(started).Milliseconds()
	return nil
}

// indexed lists the URIs that are still to be indexed.
func (f *Files) indexed(ctx context.Context, r *reindexing, uri skald.URI) (list []skald.URI, err error) {
	err = f.store.View(ctx, func(tx skald.Tx) error {
		list = nil
		nodes, err := f.nodes(f.view(tx, r.Identity), uri, r.Query.Recursive)
		passed := r.After == ""
		for _, n := range nodes {
			if passed {
				list = append(list, n.URI)
			}
			passed = passed || n.URI == r.After
		}
		if err == nil && !passed { // what it had reached is gone: once more from the start
			r.After, r.Found = "", api.Reindexed{}
			for _, n := range nodes {
				list = append(list, n.URI)
			}
		}
		return err
	})
	return list, err
}

func (f *Files) indexPage(v view.View, r *reindexing, page []skald.URI) error {
	for _, uri := range page {
		n, err := v.Stat(uri)
		if skald.KindOf(err) == skald.KindNotFound {
			continue // deleted meanwhile
		}
		if err != nil {
			return err
		}
		if err := f.indexNode(v, r, n); err != nil {
			return err
		}
	}
	return nil
}

func (f *Files) indexNode(v view.View, r *reindexing, n view.Node) error {
	if n.Kind == view.Space || n.Kind == view.Memory && n.Dir {
		return nil
	}
	r.Found.Scanned++
	switch {
	case n.Kind == view.Session:
		r.Found.Unsupported++
		return nil
	case r.Query.Mode == api.ReindexPrune: // one transaction holds a thing and its documents: there are no orphans
		return nil
	}
	r.Found.Rebuilt++
	if tags := Tags(r.Query.Tags); len(tags) > 0 {
		n.Tags = tagged(n.Tags, tags, r.Query.TagAppend)
		if _, err := setTags(v, n, n.Tags); err != nil {
			return err
		}
	}
	if n.Memory != nil {
		m := *n.Memory
		m.Tags = n.Tags
		return memory.Index(v.Tx, m)
	}
	x, err := v.Tx.File(n.Scope, n.URI)
	if err != nil {
		return err
	}
	if x.Dir && r.Query.Mode == api.ReindexSemantic {
		if err := tree.Stale(v.Tx, x.Scope, x.URI, f.engine.Now()); err != nil {
			return err
		}
	}
	return tree.Index(v.Tx, x)
}

// ReindexLater implements api.Files. The engine must have been given Worker for this kind.
func (f *Files) ReindexLater(ctx context.Context, id skald.Identity, q api.ReindexQuery) (task string, n view.Node, err error) {
	if n, err = f.Stat(ctx, id, q.URI); err != nil {
		return "", n, err
	}
	key := ReindexKind + "|" + rand.Text()
	meta, err := json.Marshal(reindexing{Identity: id, Peer: id.Peer, Policy: id.Policy, Query: q})
	if err != nil {
		return "", n, skald.E("files.reindex", skald.KindInternal, "%w", err)
	}
	note, err := json.Marshal(skald.JobNote{Resource: string(n.URI), Meta: meta})
	if err != nil {
		return "", n, skald.E("files.reindex", skald.KindInternal, "%w", err)
	}
	now := f.engine.Now()
	scope := f.engine.Policy().UserScope(id)
	j := skald.Job{Key: key, Kind: ReindexKind, Session: skald.SessionRef{Scope: scope}, State: skald.JobReady, Created: now, Updated: now,
		RunAt: now, Result: string(note)}
	err = f.store.Update(ctx, func(tx skald.Tx) error {
		if err := tx.PutJob(j); err != nil {
			return err
		}
		jobs, err := tx.Jobs([]skald.Scope{scope}, 0)
		if i := slices.IndexFunc(jobs, func(j skald.Job) bool { return j.Key == key }); i >= 0 {
			task = strconv.FormatInt(jobs[i].ID, 10)
		}
		return err
	})
	f.engine.Wake()
	return task, n, err
}

// Worker does reindexing jobs.
func (f *Files) Worker() skald.Worker { return reindexer{f} }

type reindexer struct{ files *Files }

// Work implements skald.Worker: it goes on behind the last page that is done.
func (w reindexer) Work(ctx context.Context, j skald.Job, progress func(skald.JobNote) error) (skald.JobNote, error) {
	note := j.Note()
	var r reindexing
	if err := json.Unmarshal(note.Meta, &r); err != nil {
		return note, skald.E("files.reindex", skald.KindInvalid, "the job's note is not readable: %w", err)
	}
	r.Identity.Peer, r.Identity.Policy = r.Peer, r.Policy
	note.Stage = "indexing"
	err := w.files.reindex(ctx, &r, func() (err error) {
		if note.Meta, err = json.Marshal(r); err != nil {
			return err
		}
		return progress(note)
	})
	if err != nil {
		return note, err
	}
	note.Stage = ""
	note.Result, err = json.Marshal(r.Found)
	return note, err
}
