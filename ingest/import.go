package ingest

import (
	"context"
	"fmt"
	"time"

	"github.com/skald-engine/skald"
)

// Import delivers what a source holds through the engine's write path: in order, in large batches, each of them durable as a whole. An
// entry is recognised by its id, so that an import may be repeated, and killed anywhere: the next run goes on where it stopped. Roles and
// times are kept; a session's times are those of its messages. What a host does not go on with itself is committed in the background.
//
// A message that cannot be imported is a skip in the report; a conversation that cannot be read to its end is its Fault. An error of
// the engine, of the source as a whole or of ctx ends the import: the report then says how far it came, and the error how to go on.
// With DryRun e and i may be nil: nothing is stored yet.
func Import(ctx context.Context, e skald.Engine, i skald.Inspector, source Source, o Options) (Report, error) {
	r := newRun(e, i, source, o)
	err := r.all(ctx, source)
	r.report.Seconds = time.Since(r.began).Seconds()
	r.report.Complete = err == nil && !r.full()
	if err != nil {
		err = r.report.stopped(err)
	}
	return r.report, err
}

// run is one import under way.
type run struct {
	engine    skald.Engine
	inspector skald.Inspector
	o         Options
	report    Report
	began     time.Time
	open      map[string]bool // stored sessions with turns that no archive covers
	total     int64           // bytes to read; 0 unknown
	before    int64           // bytes of the finished conversations
}

func newRun(e skald.Engine, i skald.Inspector, source Source, o Options) *run {
	if o.Identity == (skald.Identity{}) {
		o.Identity = skald.DefaultIdentity
	}
	r := &run{engine: e, inspector: i, o: o, began: time.Now(), open: map[string]bool{}}
	r.report = Report{Source: source.Name(), DryRun: o.DryRun,
		Conversations: []ConversationReport{}, Reasons: map[string]int{}, Skips: []Skip{}}
	if s, ok := source.(Sizer); ok {
		r.total = s.Size()
	}
	return r
}

func (r *run) all(ctx context.Context, source Source) error {
	if err := r.listOpen(ctx); err != nil {
		return err
	}
	for c, err := range source.Conversations(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = r.conversation(ctx, c)
		}
		if err != nil {
			return err
		}
		if r.full() {
			return nil
		}
	}
	return ctx.Err()
}

// listOpen finds the sessions that an earlier run was killed before it could commit them.
func (r *run) listOpen(ctx context.Context) error {
	if r.inspector == nil || r.o.DryRun {
		return nil
	}
	list, err := r.inspector.ListSessions(ctx, r.o.Identity, 0)
	for _, s := range list {
		r.open[s.ID] = s.Open > 0
	}
	return err
}

// full reports that the run has imported as much as it may.
func (r *run) full() bool { return r.o.Limit > 0 && r.report.Imported >= r.o.Limit }

func (r *run) conversation(ctx context.Context, c Conversation) error {
	if r.o.Session != "" && r.o.Session != c.Session.SessionID {
		c.Session, c.Live = skald.SessionAddress{SessionID: r.o.Session, AgentID: c.Session.AgentID}, false
	}
	d := &delivery{run: r, c: c, report: newConversation(c, r.o.Identity)}
	if c.Items == nil || c.Session == (skald.SessionAddress{}) {
		return skald.E("ingest.import", skald.KindInternal, "%s: the source %s gave no session", c.Origin, r.report.Source)
	}
	err := d.all(ctx)
	r.before += max(c.Size, d.bytes)
	r.report.Conversations = append(r.report.Conversations, d.report)
	r.progress(0)
	return err
}

// progress tells how far the run is, in the middle of a conversation of which so many bytes are read.
func (r *run) progress(bytes int64) {
	if r.o.Progress == nil {
		return
	}
	p := Progress{Conversations: len(r.report.Conversations), Messages: r.report.Messages, Imported: r.report.Imported,
		Bytes: r.before + bytes, Total: r.total, Elapsed: time.Since(r.began)}
	if p.Total > 0 && p.Bytes > 0 {
		p.Bytes = min(p.Bytes, p.Total)
		p.Remaining = time.Duration(float64(p.Elapsed) / float64(p.Bytes) * float64(p.Total-p.Bytes))
	}
	r.o.Progress(p)
}

// delivery is one conversation on its way into the store.
type delivery struct {
	run    *run
	c      Conversation
	report ConversationReport
	stored map[string]bool // the ids of the entries that the store has; known for a dry run, and where the session is shared
	others map[string]int  // what the host has delivered of a shared session, by content
	bytes  int64           // read so far
	fresh  int             // messages stored since the last commit
}

func (d *delivery) all(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	done, err := d.begin(ctx)
	batches := read(ctx, d.c, done, d.run.o.Since)
	defer func() {
		cancel()
		for range batches { // the reader has ended when the channel is closed
		}
	}()
	for b := range batches {
		if err == nil {
			err = d.take(ctx, b)
		}
		if err != nil || d.run.full() {
			return err
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && !d.c.Live && (d.fresh > 0 || d.run.open[d.report.SessionID]) {
		err = d.commit(ctx)
	}
	return err
}

// begin asks where the store stands.
func (d *delivery) begin(ctx context.Context) (cursor, error) {
	if d.run.engine == nil {
		return cursor{}, nil
	}
	at, err := d.run.engine.Bootstrap(ctx, skald.BootstrapRequest{Request: d.request()})
	if err != nil || at.LastSeq == 0 {
		return cursor{}, err
	}
	if d.run.o.DryRun || d.c.Shared && d.run.inspector != nil {
		s, err := d.listStored(ctx, at.LastSeq)
		if err != nil {
			return cursor{}, err
		}
		if d.stored = s.ids; d.c.Shared {
			d.others = s.others(d.c)
		}
	}
	if d.c.Live = d.c.Live || hosted(at.Cursor) || len(d.others) > 0; d.c.Live {
		d.report.Live = true
		return cursor{}, nil
	}
	return readCursor(at.Cursor), nil
}

func (d *delivery) request() skald.Request {
	return skald.Request{Identity: d.run.o.Identity, Session: d.c.Session}
}

// identity is the caller's, as the session's agent.
func (d *delivery) identity() skald.Identity {
	id := d.run.o.Identity
	id.Agent = d.report.Agent
	return id
}

// take counts a batch and stores it.
func (d *delivery) take(ctx context.Context, b batch) error {
	r := &d.run.report
	for _, s := range b.skips {
		r.skip(&d.report, s.Where, s.Reason)
	}
	d.report.span(b.from)
	d.report.span(b.to)
	d.report.LeftOut += b.leftOut
	d.report.Messages += b.leftOut + b.known + len(b.entries)
	d.report.Known += b.known
	r.LeftOut, r.Known, r.Messages = r.LeftOut+b.leftOut, r.Known+b.known, r.Messages+b.leftOut+b.known+len(b.entries)
	r.Bytes, d.bytes = r.Bytes+b.bytes, d.bytes+b.bytes
	if b.fault != nil && ctx.Err() == nil {
		d.report.Fault = b.fault.Error()
		r.skip(&d.report, d.c.Origin, "cannot be read further: "+b.fault.Error())
	}
	err := d.deliver(ctx, b)
	d.run.progress(d.bytes)
	return err
}

// deliver stores a batch, in parts when the limit cuts it.
func (d *delivery) deliver(ctx context.Context, b batch) error {
	rest, known := d.fromHost(b.entries)
	d.report.Known, d.run.report.Known = d.report.Known+known, d.run.report.Known+known
	for len(rest) > 0 && !d.run.full() {
		n := len(rest)
		if limit := d.run.o.Limit; limit > 0 {
			n = min(n, limit-d.run.report.Imported)
		}
		got, err := d.store(ctx, rest[:n], b, n == len(rest))
		if err != nil {
			return err
		}
		d.report.Imported += got.Imported
		d.report.Known += got.Known
		d.run.report.Imported += got.Imported
		d.run.report.Known += got.Known
		d.fresh += got.Imported
		rest = rest[n:]
	}
	if d.c.Live || d.fresh < batchMessages {
		return nil
	}
	return d.commit(ctx) // an archive of a bounded size, summarised while the import goes on
}

// store delivers entries, with the cursor when they are the last of their batch.
func (d *delivery) store(ctx context.Context, entries []skald.Entry, b batch, last bool) (skald.ReconcileResult, error) {
	if d.run.o.DryRun {
		return d.count(entries), ctx.Err()
	}
	req := skald.ReconcileRequest{Request: d.request(), Entries: entries}
	req.Now = d.now(b)
	if last && !d.c.Live {
		raw, err := b.after.raw()
		if err != nil {
			return skald.ReconcileResult{}, err
		}
		req.Cursor = raw
	}
	return d.run.engine.Reconcile(ctx, req)
}

// count says what a store would do, as far as ids tell.
func (d *delivery) count(entries []skald.Entry) (r skald.ReconcileResult) {
	for _, e := range entries {
		if d.stored[e.EntryID] {
			r.Known++
		} else {
			r.Imported++
		}
	}
	return r
}

// now is the time at which the batch was said, so that the session's times are the conversation's; 0 when nothing tells.
func (d *delivery) now(b batch) int64 {
	at := b.to
	if at.IsZero() {
		at = d.c.Started
	}
	if at.IsZero() {
		return 0
	}
	return min(at.UnixMilli(), d.run.began.UnixMilli())
}

// commit has the session's open turns archived; summary and memories are written in the background.
func (d *delivery) commit(ctx context.Context) error {
	d.fresh = 0
	if d.run.o.DryRun || d.run.inspector == nil {
		return nil
	}
	got, err := d.run.inspector.Commit(ctx, d.identity(), d.report.SessionID, false)
	if err != nil {
		return fmt.Errorf("%s: commit: %w", d.c.Origin, err)
	}
	d.report.Committed = d.report.Committed || got.Archived
	return nil
}
