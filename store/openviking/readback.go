package openviking

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client/openviking"
)

// Nothing is sent again before it is known what the server has: a request whose answer was lost may have been carried out. The messages carry
// their sequences, so that they can be asked.

// stock is what the server has of a session.
type stock struct {
	exists   bool
	live     []openviking.Message
	archives []archived // newest first, as far as they were needed
	strange  bool       // messages of somebody else, and none of ours
}

// archived is an archive on the server.
type archived struct {
	uri      string
	messages []openviking.Message
}

// span is the first and the last sequence that messages carry, and the last one's link; 0 when they carry none.
func span(list []openviking.Message) (first, last int64, link string) {
	for _, m := range list {
		seq, l, ok := carries(m.Sources)
		if !ok {
			continue
		}
		if first == 0 || seq < first {
			first = seq
		}
		if seq > last {
			last, link = seq, l
		}
	}
	return first, last, link
}

// readBack compares the state with the server's, and corrects it.
func (d *delivery) readBack(ctx context.Context) error {
	have, err := d.store.takeStock(ctx, d.state.Name, d.committedTo(ctx))
	if err != nil {
		return err
	}
	top, link := have.top()
	same, err := d.same(ctx, top, link)
	if err != nil {
		return err
	}
	if have.strange || !same {
		return d.rename(ctx)
	}
	d.state.Pushed, d.state.Created = top, have.exists
	if err := d.save(ctx, nil); err != nil {
		return err
	}
	if err := d.found(ctx, have); err != nil {
		return err
	}
	d.store.certain[d.ref()] = true
	return nil
}

// committedTo is the last turn of the newest archive that the server is known to have.
func (d *delivery) committedTo(ctx context.Context) (to int64) {
	if d.state.Commits == 0 {
		return 0
	}
	_ = d.store.local.View(ctx, func(tx skald.Tx) error {
		a, err := tx.Archive(d.ref(), d.state.Commits)
		to = a.To
		return err
	})
	return to
}

// takeStock reads a session's messages: the live ones, and archives from the newest back to the one that ends with the turn `back`.
func (s *Store) takeStock(ctx context.Context, name string, back int64) (have stock, err error) {
	info, err := s.o.Client.Session(ctx, name)
	if skald.KindOf(err) == skald.KindNotFound {
		return have, nil
	}
	if err != nil {
		return have, err
	}
	have.exists = true
	root := "viking://user/" + s.server.user + "/sessions/" + name
	if have.live, err = s.messages(ctx, root+"/messages.jsonl"); err != nil {
		return have, err
	}
	_, last, _ := span(have.live)
	strange := len(have.live) > 0 && last == 0
	if info.Commits > 0 {
		if err := s.archivesBack(ctx, root+"/history", back, &have); err != nil {
			return have, err
		}
		strange = strange || last == 0 && len(have.archives) > 0
	}
	top, _ := have.top()
	have.strange = strange && top == 0
	return have, nil
}

func (s *Store) archivesBack(ctx context.Context, history string, back int64, have *stock) error {
	list, err := s.o.Client.List(ctx, history)
	if skald.KindOf(err) == skald.KindNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	index := func(e openviking.Entry) int { n, _ := skald.ParseArchiveID(e.Name); return n }
	list = slices.DeleteFunc(list, func(e openviking.Entry) bool { return index(e) == 0 })
	slices.SortFunc(list, func(a, b openviking.Entry) int { return index(b) - index(a) })
	for _, e := range list {
		a := archived{uri: history + "/" + e.Name}
		if a.messages, err = s.messages(ctx, a.uri+"/messages.jsonl"); err != nil {
			return err
		}
		have.archives = append(have.archives, a)
		if _, last, _ := span(a.messages); last > 0 && last <= back {
			return nil
		}
	}
	return nil
}

// messages reads a file of messages; a missing one has none. Lines end with a line feed and nothing else: texts hold other separators.
func (s *Store) messages(ctx context.Context, uri string) (list []openviking.Message, err error) {
	b, err := s.o.Client.Read(ctx, uri)
	if skald.KindOf(err) == skald.KindNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for line := range bytes.SplitSeq(b, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var m openviking.Message
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, skald.E("openviking.read", skald.KindInternal, "%s: a line is no message (%w); it is read again", uri, err)
		}
		list = append(list, m)
	}
	return list, nil
}

// top is the newest turn that the server has.
func (h stock) top() (seq int64, link string) {
	_, seq, link = span(h.live)
	for _, a := range h.archives {
		if _, last, l := span(a.messages); last > seq {
			seq, link = last, l
		}
	}
	return seq, link
}

// same reports whether the server's newest turn is the local one of that sequence.
func (d *delivery) same(ctx context.Context, seq int64, link string) (same bool, err error) {
	if seq == 0 {
		return true, nil
	}
	err = d.store.local.View(ctx, func(tx skald.Tx) error {
		turns, err := tx.Turns(d.ref(), skald.TurnQuery{From: seq, To: seq, NoRaw: true})
		same = len(turns) == 1 && hex.EncodeToString(turns[0].Link) == link
		return err
	})
	return same, err
}

// rename takes another name on the server: the session's own is taken there, by another program or by a session that went another way
// (a second machine, a local file that was restored from a backup). Neither is mixed with the other, and both are kept.
func (d *delivery) rename(ctx context.Context) error {
	mark := make([]byte, 4)
	_, _ = rand.Read(mark)
	d.store.o.Log.Warn("the session's name is taken on the server; it goes there under another one", "session", d.ref().ID, "taken", d.state.Name)
	d.state = state{Name: remoteName(d.ref()) + "-" + hex.EncodeToString(mark)}
	if err := d.save(ctx, nil); err != nil {
		return err
	}
	d.store.certain[d.ref()] = true
	err := d.store.local.View(ctx, func(tx skald.Tx) (err error) {
		d.archives, err = tx.Archives(d.ref(), 1)
		return err
	})
	return err
}

// found notes archives that the server has already: their commit's answer was lost.
func (d *delivery) found(ctx context.Context, have stock) error {
	firstLive, _, _ := span(have.live)
	for _, a := range d.archives {
		if a.To > d.state.Pushed || firstLive > 0 && firstLive <= a.To {
			return nil // its turns are still live, or not there at all
		}
		at := slices.IndexFunc(have.archives, func(x archived) bool {
			first, last, _ := span(x.messages)
			return first > 0 && first <= a.To && last >= a.To
		})
		if at < 0 {
			return nil
		}
		if err := d.committed(ctx, a.Index, committed{URI: have.archives[at].uri}); err != nil {
			return err
		}
	}
	return nil
}
