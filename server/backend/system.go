package backend

import (
	"context"
	"slices"
	"strings"
	"time"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/server/api"
)

// waitPoll is how often the queues are looked at when no job of this process ends: another process may work on them.
const waitPoll = 250 * time.Millisecond

// WaitIdle implements api.System.
func (b *Backend) WaitIdle(ctx context.Context, id skald.Identity) error {
	poll := time.NewTicker(waitPoll)
	defer poll.Stop()
	for {
		ended := b.engine.Ended()
		busy, err := b.busy(ctx, id)
		if err != nil || !busy {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ended:
		case <-poll.C:
		}
	}
}

// busy reports a job of the identity that runs or is due.
func (b *Backend) busy(ctx context.Context, id skald.Identity) (busy bool, err error) {
	now := b.engine.Now()
	err = b.store.View(ctx, func(tx skald.Tx) error {
		jobs, err := tx.Jobs(b.scopes(id), 0)
		busy = slices.ContainsFunc(jobs, func(j skald.Job) bool {
			return j.State == skald.JobReady && (j.Lease.After(now) || !j.RunAt.After(now))
		})
		return err
	})
	return busy, err
}

// queueNames are OpenViking's names for the kinds of jobs, in the order in which they are shown.
var queueNames = []struct{ kind, name string }{
	{archive.JobKind, "SessionCommit"}, {"add_resource", "AddResource"}, {"admin_reindex", "Reindex"}, {"user_delete", "UserDeletion"},
}

// Queues implements api.System. What is indexed is written with its index rows: nothing ever waits in that queue.
func (b *Backend) Queues(ctx context.Context, id skald.Identity) (out []api.Queue, err error) {
	now := b.engine.Now()
	err = b.store.View(ctx, func(tx skald.Tx) error {
		docs, err := documents(tx, b.scopes(id))
		if err != nil {
			return err
		}
		out = []api.Queue{{Name: "Embedding", Processed: int(docs), Total: int(docs)}}
		jobs, err := tx.Jobs(b.scopes(id), 0)
		for _, q := range queueNames {
			out = append(out, queueOf(q.name, q.kind, jobs, now))
		}
		return err
	})
	return out, err
}

func queueOf(name, kind string, jobs []skald.Job, now time.Time) api.Queue {
	q := api.Queue{Name: name}
	for _, j := range jobs {
		if j.Kind != kind {
			continue
		}
		q.Total++
		q.Requeued += j.Attempts
		switch status(j, now) {
		case api.TaskPending:
			q.Pending++
		case api.TaskRunning:
			q.Running++
		case api.TaskFailed:
			q.Processed, q.Errors, q.Messages = q.Processed+1, q.Errors+1, append(q.Messages, j.Error)
		default:
			q.Processed++
		}
	}
	return q
}

// documents counts what is indexed in the scopes.
func documents(tx skald.Tx, scopes []skald.Scope) (int64, error) {
	r, err := tx.Search(skald.SearchQuery{Scopes: scopes, Terms: []string{"a"}, Limit: 1})
	return r.Docs, err
}

// Figures implements api.System. Bytes and turns of the store are those of all its users; without them they say nothing about others.
func (b *Backend) Figures(ctx context.Context, id skald.Identity) (f api.Figures, err error) {
	st, err := b.engine.Status(ctx, id)
	if err != nil {
		return f, err
	}
	f = api.Figures{Account: id.Account, Store: st.Store, Sessions: st.Sessions, Skips: st.RecallSkips}
	for _, fault := range st.Faults {
		f.Faults = append(f.Faults, fault.Op)
	}
	now := b.engine.Now()
	err = b.store.View(ctx, func(tx skald.Tx) error {
		if f.Docs, err = documents(tx, b.scopes(id)); err != nil {
			return err
		}
		jobs, err := tx.Jobs(b.scopes(id), 0)
		for _, j := range jobs {
			if j.State == skald.JobReady && j.Lease.After(now) {
				f.Leases++
			}
		}
		return err
	})
	return f, err
}

// IndexRecords implements api.System: memories, files and archives, which OpenViking's index has a record of each.
func (b *Backend) IndexRecords(
	ctx context.Context, id skald.Identity, under string, after skald.URI, limit int,
) (out []api.IndexRecord, err error) {
	root := skald.Root
	if under != "" {
		if root, err = skald.ParseURI(under, id, b.engine.Policy()); err != nil {
			return nil, err
		}
	}
	err = b.store.View(ctx, func(tx skald.Tx) error {
		all, err := b.records(tx, id)
		for _, r := range all {
			if r.URI > after && within(r.URI, root) {
				out = append(out, r)
			}
		}
		return err
	})
	slices.SortFunc(out, func(a, b api.IndexRecord) int { return strings.Compare(string(a.URI), string(b.URI)) })
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out, err
}

func (b *Backend) records(tx skald.Tx, id skald.Identity) (out []api.IndexRecord, err error) {
	scopes := b.scopes(id)
	memories, err := tx.Memories(skald.MemoryQuery{Scopes: scopes})
	for _, m := range memories {
		out = append(out, api.IndexRecord{URI: m.URI, Type: "memory", Level: 2, Abstract: firstLine(m.Text), Updated: m.Updated})
	}
	if err != nil {
		return out, err
	}
	files, err := tx.Files(skald.FileQuery{Scopes: scopes})
	for _, f := range files {
		level := 2
		if f.Dir {
			level = 0
		}
		out = append(out, api.IndexRecord{URI: f.URI, Type: "resource", Level: level, Abstract: f.Abstract, Updated: f.Modified})
	}
	if err != nil {
		return out, err
	}
	sessions, err := tx.Sessions(skald.SessionQuery{Scopes: scopes[:1]})
	for _, s := range sessions {
		archives, err := tx.Archives(s.Ref, 1)
		if err != nil {
			return out, err
		}
		for _, a := range archives {
			out = append(out, api.IndexRecord{URI: s.Ref.ArchiveURI(a.Index), Type: "session", Level: 1, Abstract: a.Abstract, Updated: a.Updated})
		}
	}
	return out, err
}

// within reports a URI that is root or below it.
func within(uri, root skald.URI) bool {
	return root == skald.Root || uri == root || strings.HasPrefix(string(uri), strings.TrimSuffix(string(root), "/")+"/")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
