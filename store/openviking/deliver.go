package openviking

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client/openviking"
)

// Limits of one request.
const (
	mostMessages = 50
	mostBody     = 2 << 20 // bytes of messages; a single one may be longer
)

// delivery is one session on its way.
type delivery struct {
	store    *Store
	session  skald.Session
	state    state
	archives []skald.Archive // that the server lacks
}

// deliver brings the server up to date with one session: for each archive its turns and then the archive, the open turns, and at last what
// the server made of earlier archives. It returns when to come again; 0 when nothing is left.
func (s *Store) deliver(ctx context.Context, ref skald.SessionRef) (again time.Duration, err error) {
	d, err := s.load(ctx, ref)
	if skald.KindOf(err) == skald.KindNotFound {
		return 0, nil // deleted meanwhile
	}
	if err != nil {
		return 0, err
	}
	if !s.certain[ref] {
		if err := d.readBack(ctx); err != nil {
			return 0, err
		}
	}
	for _, a := range d.archives {
		if err := d.push(ctx, a.To); err != nil {
			return 0, err
		}
		if err := d.commit(ctx, a); err != nil {
			return 0, err
		}
	}
	to, held, err := d.ripe(ctx)
	if err != nil {
		return 0, err
	}
	if err := d.push(ctx, to); err != nil {
		return 0, err
	}
	if err := d.collect(ctx); err != nil {
		return 0, err
	}
	switch {
	case len(d.state.Waiting) > 0:
		return s.o.Poll, nil
	case held:
		return min(s.o.Hold/10, time.Minute), nil
	}
	return 0, nil
}

func (s *Store) load(ctx context.Context, ref skald.SessionRef) (*delivery, error) {
	d := &delivery{store: s}
	err := s.local.View(ctx, func(tx skald.Tx) (err error) {
		if d.session, err = tx.Session(ref); skald.KindOf(err) == skald.KindNotFound {
			_, last, err := tx.LastLink(ref)
			if err != nil || last == 0 {
				return skald.NotFound("openviking.deliver", string(ref.URI()))
			}
			d.session = skald.Session{Ref: ref} // turns without a session: as the suite of stores has them
		} else if err != nil {
			return err
		}
		if d.state, err = readState(tx, ref); err != nil {
			return err
		}
		d.archives, err = tx.Archives(ref, d.state.Commits+1)
		return err
	})
	return d, err
}

func (d *delivery) ref() skald.SessionRef { return d.session.Ref }

// save writes down how far the session is delivered.
func (d *delivery) save(ctx context.Context, more func(skald.Tx) error) error {
	return d.store.local.Update(ctx, func(tx skald.Tx) error {
		if more != nil {
			if err := more(tx); err != nil {
				return err
			}
		}
		return putState(tx, d.ref(), d.state, d.store.now())
	})
}

// ripe is the newest turn that may be delivered: none beyond an archive that was closed meanwhile, whose commit must come first. A turn that was
// only seen in the host's view waits for its original, for a while.
func (d *delivery) ripe(ctx context.Context) (to int64, held bool, err error) {
	view := skald.SourceView
	err = d.store.local.View(ctx, func(tx skald.Tx) error {
		if _, to, err = tx.LastLink(d.ref()); err != nil {
			return err
		}
		closed, err := tx.Archives(d.ref(), d.state.Commits+1)
		if err != nil {
			return err
		}
		for _, a := range closed {
			to = min(to, a.To)
		}
		seen, err := tx.Turns(d.ref(), skald.TurnQuery{From: d.state.Pushed + 1, Source: &view, Limit: 1, NoRaw: true})
		if err == nil && len(seen) > 0 && d.store.now().Sub(seen[0].Time) < d.store.o.Hold {
			to, held = min(to, seen[0].Seq-1), true
		}
		return err
	})
	return to, held, err
}

// push delivers the turns up to a sequence.
func (d *delivery) push(ctx context.Context, to int64) error {
	for most := mostMessages; d.state.Pushed < to; {
		turns, err := d.next(ctx, to, most)
		if err != nil {
			return err
		}
		if len(turns) == 0 {
			return skald.E("openviking.push", skald.KindInternal, "session %s: turns after %d are missing in the local store", d.ref().ID, d.state.Pushed)
		}
		sent, err := d.send(ctx, turns)
		switch fault := openviking.AsFault(err); {
		case err == nil:
			most = mostMessages
		case fault == nil || openviking.Unclear(err) || !unfit(fault):
			return err
		case sent > 1:
			most = 1 // one of them is what the server refuses
			continue
		default:
			if err := d.tombstone(ctx, turns[0]); err != nil {
				return err
			}
			d.state.Lost = append(d.state.Lost, turns[0].Seq)
			d.store.health.refused(err)
			sent = 1
		}
		d.state.Pushed, d.state.Created = turns[sent-1].Seq, true
		if err := d.save(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

// unfit reports that the content of a request is refused, which it will always be.
func unfit(f *openviking.Fault) bool {
	return f.Status == http.StatusBadRequest || f.Status == http.StatusRequestEntityTooLarge || f.Status == http.StatusUnprocessableEntity
}

func (d *delivery) next(ctx context.Context, to int64, most int) (turns []skald.Turn, err error) {
	err = d.store.local.View(ctx, func(tx skald.Tx) error {
		turns, err = tx.Turns(d.ref(), skald.TurnQuery{From: d.state.Pushed + 1, To: to, Limit: most})
		return err
	})
	return turns, err
}

// send appends the first turns of a list, as many as fit into one request, and says how many.
func (d *delivery) send(ctx context.Context, turns []skald.Turn) (sent int, err error) {
	var list []openviking.Message
	size := 0
	for _, t := range turns {
		m, err := toMessage(headerOf(d.session), t)
		if err != nil {
			return 0, err
		}
		size += len(t.Raw) + len(m.Sources[carrierSize-1])
		if len(list) > 0 && (size > mostBody || !d.store.server.batch) {
			break
		}
		list = append(list, m)
	}
	return len(list), d.append(ctx, list)
}

// tombstone delivers a turn whose bytes the server refuses, without them: the order of the others must not suffer.
func (d *delivery) tombstone(ctx context.Context, t skald.Turn) error {
	t.Raw, t.Salt, t.Purged = nil, nil, true
	m, err := toMessage(headerOf(d.session), t)
	if err != nil {
		return err
	}
	return d.append(ctx, []openviking.Message{m})
}

// append is one request. Until its answer is there nobody knows whether it was carried out.
func (d *delivery) append(ctx context.Context, list []openviking.Message) error {
	if err := d.create(ctx); err != nil {
		return err
	}
	return d.attempt(func() error {
		if len(list) == 1 {
			return d.store.o.Client.AppendOne(ctx, d.state.Name, list[0])
		}
		return d.store.o.Client.Append(ctx, d.state.Name, list)
	})
}

// attempt keeps in mind that a request's fate is unclear, in this process; after a restart every fate is.
func (d *delivery) attempt(request func() error) error {
	delete(d.store.certain, d.ref())
	err := request()
	if err == nil || !openviking.Unclear(err) {
		d.store.certain[d.ref()] = true
	}
	return err
}

// create makes the session on the server, without the archiving of its own that a server may be set to.
func (d *delivery) create(ctx context.Context) error {
	if d.state.Created {
		return nil
	}
	err := d.attempt(func() error { return d.store.o.Client.CreateSession(ctx, d.state.Name) })
	if skald.KindOf(err) == skald.KindExists {
		err = nil // by an attempt whose answer was lost: readBack has seen that it is ours or empty
	}
	if err == nil {
		d.state.Created = true
	}
	return err
}

// commit archives on the server what is archived here: everything up to the archive's last turn is there, and nothing after it.
func (d *delivery) commit(ctx context.Context, a skald.Archive) error {
	if a.Index <= d.state.Commits {
		return nil
	}
	var done openviking.Commit
	err := d.attempt(func() (err error) {
		done, err = d.store.o.Client.Commit(ctx, d.state.Name)
		return err
	})
	if err != nil {
		return err
	}
	return d.committed(ctx, a.Index, committed{URI: done.Archive, Task: done.Task})
}

// committed notes that the server has an archive, and waits for what it makes of it.
func (d *delivery) committed(ctx context.Context, index int, c committed) error {
	c.Index, c.Since, c.State = index, d.store.now(), "waiting"
	d.state.Commits = index
	if c.URI == "" {
		c.State = "done" // there was nothing to archive
	} else {
		d.state.Waiting = append(slices.Clone(d.state.Waiting), c)
	}
	return d.save(ctx, func(tx skald.Tx) error { return d.putArchive(tx, c) })
}

// putArchive keeps the server's archive with the archive.
func (d *delivery) putArchive(tx skald.Tx, c committed) error {
	return putRecord(tx, d.ref().Scope, kindArchive, d.ref().ID+"/"+strconv.Itoa(c.Index), c, d.store.now())
}
