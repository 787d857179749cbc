package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

// batch is what one delivery brings, and what was met on the way to it.
type batch struct {
	entries []skald.Entry
	skips   []Skip
	known   int       // entries that the cursor says are stored
	leftOut int       // entries older than Options.Since
	bytes   int64     // read for it
	size    int64     // of the entries, in bytes
	from    time.Time // the oldest and newest time that a message tells; zero when none does
	to      time.Time
	after   cursor // where the conversation stands once the batch is stored
	fault   error  // the conversation cannot be read further
}

// reader cuts a conversation into batches while the one before is being stored.
type reader struct {
	conversation Conversation
	since        time.Time
	out          chan batch
}

// read runs the reader in the background; it ends with the conversation or with ctx, and closes the channel.
func read(ctx context.Context, c Conversation, done cursor, since time.Time) <-chan batch {
	r := reader{conversation: c, since: since, out: make(chan batch, 2)}
	go func() {
		defer close(r.out)
		if done.Import.Entries == 0 || !r.from(ctx, done) {
			r.from(ctx, cursor{})
		}
	}()
	return r.out
}

// from reads on after done. It sends nothing and reports false when the conversation does not begin with what done counts.
func (r *reader) from(ctx context.Context, done cursor) bool {
	t := newTally()
	var b batch
	for item, err := range r.conversation.Items {
		if ctx.Err() != nil {
			return true
		}
		if err != nil {
			b.fault = err
			break
		}
		h, ok := r.look(&b, item)
		if !ok {
			continue
		}
		if b.full(h) {
			b.after = t.cursor(r.conversation.Origin)
			if !r.send(ctx, b) {
				return true
			}
			b = batch{}
		}
		t.add(item.Entry)
		b.span(h.time())
		if t.entries > done.Import.Entries {
			b.entries = append(b.entries, item.Entry)
			b.size += int64(len(item.Entry.Message))
			continue
		}
		b.known++
		if t.entries == done.Import.Entries && t.cursor("").Import.Digest != done.Import.Digest {
			return false
		}
	}
	if t.entries < done.Import.Entries {
		return false
	}
	b.after = t.cursor(r.conversation.Origin)
	r.send(ctx, b)
	return true
}

// look counts an item and reports whether it is an entry to import.
func (r *reader) look(b *batch, item Item) (h head, ok bool) {
	b.bytes += int64(len(item.Entry.Message))
	reason := item.Skipped
	if reason == "" {
		h, reason = headOf(item.Entry)
	}
	if reason != "" {
		where := item.Where
		if where == "" {
			where = item.Entry.EntryID
		}
		b.skips = append(b.skips, Skip{Where: where, Reason: reason})
		return h, false
	}
	at := h.time()
	if at.IsZero() {
		at = r.conversation.Started
	}
	if !r.since.IsZero() && !at.IsZero() && at.Before(r.since) {
		b.leftOut++
		return h, false
	}
	return h, true
}

func (r *reader) send(ctx context.Context, b batch) bool {
	select {
	case r.out <- b:
		return true
	case <-ctx.Done():
		return false
	}
}

// full reports that the next message begins another delivery. An exchange is not cut, unless it is very long: what it is (a heartbeat,
// say) is decided for the whole of it.
func (b *batch) full(next head) bool {
	const most = 4 // times the usual size
	n := len(b.entries)
	if next.Role == "user" {
		return n >= batchMessages || b.size >= batchBytes
	}
	return n >= most*batchMessages || b.size >= most*batchBytes
}

func (b *batch) span(at time.Time) {
	if at.IsZero() {
		return
	}
	if b.from.IsZero() || at.Before(b.from) {
		b.from = at
	}
	if at.After(b.to) {
		b.to = at
	}
}

// head is what an import needs to know of a message.
type head struct {
	Role      string          `json:"role"`
	Timestamp json.RawMessage `json:"timestamp"`
}

// maxNesting leaves room for what stands around a message on its way to the daemon: 10,000 levels are read there.
const maxNesting = 9_900

// headOf reads the head, or says why the message cannot be imported.
func headOf(e skald.Entry) (h head, reason string) {
	switch {
	case e.EntryID == "":
		return h, "the message has no id"
	case len(e.Message) > maxMessage:
		return h, fmt.Sprintf("the message is longer than %d MB", maxMessage>>20)
	case message.Nesting(e.Message) > maxNesting:
		return h, fmt.Sprintf("more than %d lists and objects stand in each other in the message", maxNesting)
	case json.Unmarshal(e.Message, &h) != nil:
		return h, "the message is not a JSON object"
	}
	return h, ""
}

// lastMoment is the end of the year 9999 in milliseconds; no report could be written with a later time.
const lastMoment = 253_402_300_799_999

// time reads the timestamp: milliseconds, or RFC 3339; zero when there is none.
func (h head) time() time.Time {
	text := strings.Trim(string(h.Timestamp), `"`)
	var ms float64
	if json.Unmarshal([]byte(text), &ms) == nil && ms > 0 && ms <= lastMoment {
		return time.UnixMilli(int64(ms)).UTC()
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}
