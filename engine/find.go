package engine

import (
	"context"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/recall"
)

const defaultFindLimit = 10

// Find implements skald.Inspector.
func (e *Engine) Find(ctx context.Context, id skald.Identity, q skald.FindQuery) (skald.FindResult, error) {
	if q.Limit < 0 || q.Limit > 1000 {
		return skald.FindResult{}, skald.Invalid("find", "limit", "%d is not between 0 and 1000", q.Limit)
	}
	asking := skald.Session{Audience: skald.AudienceDirect}
	var result recall.Result
	err := e.store.View(ctx, func(tx skald.Tx) (err error) {
		if q.Session != "" {
			switch s, err := e.find(tx, id, q.Session); skald.KindOf(err) {
			case "":
				asking = s
			case skald.KindNotFound:
				asking.Audience = audience(q.Session) // not stored yet: judged by its key
			default:
				return err
			}
		}
		result, err = e.search(ctx, tx, id, e.opts.Policy, asking, q)
		return err
	})
	return skald.FindResult{Hits: result.Trace.Items, Trace: result.Trace}, err
}

// search is recall without what is visible already: for people, tools and clients.
func (e *Engine) search(ctx context.Context, tx skald.Tx, id skald.Identity, policy skald.Policy, asking skald.Session, q skald.FindQuery) (recall.Result, error) {
	now := e.Now()
	if q.Now > 0 {
		now = time.UnixMilli(q.Now).UTC()
	}
	limit := q.Limit
	if limit == 0 {
		limit = defaultFindLimit
	}
	r := recall.Request{
		Query: q.Query, Scopes: policy.Readable(id), Agent: id.Agent, Session: asking.Ref, Audience: asking.Audience,
		Owner: asking.Audience == skald.AudienceDirect, Kinds: q.Kinds, Budget: limit * 400, Limit: limit, Threshold: q.Threshold,
		MaxChars: 1000, Now: now, Admit: visibleTo(id),
	}
	if q.Scope != "" {
		folder, err := skald.ParseURI(q.Scope, id, policy)
		if err != nil {
			return recall.Result{}, err
		}
		r.Admit = func(d skald.Doc) bool { return id.Sees(docURI(d)) && within(docURI(d), folder) }
	}
	return recall.Recall(ctx, tx, r)
}

// visibleTo keeps what is another peer's from an identity that acts on behalf of one; nil: it sees everything of its scopes.
func visibleTo(id skald.Identity) func(skald.Doc) bool {
	if id.Peer == "" {
		return nil
	}
	return func(d skald.Doc) bool { return id.Sees(docURI(d)) }
}

func within(uri, folder skald.URI) bool {
	if uri == folder || folder == skald.Root {
		return true
	}
	_, ok := below(uri, folder)
	return ok
}

func docURI(d skald.Doc) skald.URI {
	ref := skald.SessionRef{Scope: d.Scope, ID: d.Session}
	switch {
	case d.URI != "":
		return d.URI
	case d.Kind == skald.DocArchive:
		return ref.ArchiveURI(int(d.Seq))
	}
	return ref.TurnsURI(d.Seq, d.Seq)
}
