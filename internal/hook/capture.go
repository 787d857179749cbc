package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/claudecode"
	"github.com/skald-engine/skald/message"
)

// pollEvery is how often a transcript that lags behind is looked at again.
const pollEvery = 20 * time.Millisecond

// complete decides whether a reply at the end of a transcript is written whole. The host writes a line for each block and behind the
// conversation, and a reply goes by the id of its first line: half of one, once stored, would stand for the whole.
type complete func(reply *message.Message) bool

func always(*message.Message) bool { return true }

// answered accepts a reply that calls no tool and ends with the given text, any text when that is empty.
func answered(last string) complete {
	last = strings.TrimSpace(last)
	return func(reply *message.Message) bool {
		text := strings.TrimSpace(reply.Text())
		return len(reply.ToolCalls()) == 0 && text != "" && strings.HasSuffix(text, last)
	}
}

// captureReply stores a turn at its end. It waits a little for the reply to be in the transcript; otherwise that comes with the next
// hook of the session.
func (h Runner) captureReply(ctx context.Context, path, last string) error {
	late, cancel := context.WithTimeout(ctx, h.times().late)
	defer cancel()
	for {
		whole, err := h.capture(ctx, path, answered(last))
		if err != nil || whole || last == "" {
			return err
		}
		select {
		case <-late.Done():
			return nil
		case <-time.After(pollEvery):
		}
	}
}

// capture stores what a transcript has and the store lacks, and reports whether the newest exchange ends with a complete reply. No file
// is a session in which nothing was said yet.
func (h Runner) capture(ctx context.Context, path string, ends complete) (whole bool, err error) {
	if path == "" {
		return true, nil
	}
	whole, err = h.captureFile(ctx, path, ends)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return whole, err
}

// captureFile reads a transcript from the stored cursor on.
func (h Runner) captureFile(ctx context.Context, path string, ends complete) (whole bool, err error) {
	o := ingest.OpenOptions{Agent: h.Identity.Agent}
	address, err := claudecode.Address(path, o)
	if err != nil {
		return false, err
	}
	d := delivery{h: h, path: path, ends: ends, request: skald.Request{Identity: h.Identity, Session: address}}
	b, err := h.Engine.Bootstrap(ctx, skald.BootstrapRequest{Request: d.request})
	if err != nil {
		return false, err
	}
	d.from = readCursor(b.Cursor, path)
	c, err := claudecode.Tail(path, d.from, o)
	if err != nil {
		return false, err
	}
	for item, err := range c.Items {
		if err != nil {
			return false, err
		}
		if item.Skipped == "" {
			if err := d.add(ctx, item); err != nil {
				return false, err
			}
		}
	}
	return d.finish(ctx)
}

// The most that one call of the engine brings: little enough to be stored well within the time of a hook, so that each hook of a long
// backlog gets some of it done.
const (
	batchEntries = 200
	batchBytes   = 256 << 10
)

// delivery sends the items of one reading.
type delivery struct {
	h       Runner
	request skald.Request
	path    string
	from    int64 // the byte at which the reading began
	ends    complete

	held    *ingest.Item // the newest item, when it is a reply that may be incomplete
	whole   bool         // the newest exchange has a complete reply
	entries []skald.Entry
	bytes   int
	user    int // line of the newest message of the user among entries, from 1; 0 none
}

func (d *delivery) add(ctx context.Context, item ingest.Item) error {
	if d.held != nil { // something stands behind it, so it is complete
		if err := d.take(ctx, *d.held); err != nil {
			return err
		}
		d.held = nil
	}
	m, err := message.Parse(item.Entry.Message)
	switch {
	case err != nil:
	case m.Role == message.RoleUser:
		d.user, d.whole = lineOf(item.Where), false
	case m.Role == message.RoleAssistant:
		if d.whole = d.ends(m); !d.whole {
			d.held = &item
			return nil
		}
	}
	return d.take(ctx, item)
}

func (d *delivery) take(ctx context.Context, item ingest.Item) error {
	d.entries = append(d.entries, item.Entry)
	if d.bytes += len(item.Entry.Message); len(d.entries) < batchEntries && d.bytes < batchBytes {
		return nil
	}
	return d.send(ctx)
}

func (d *delivery) finish(ctx context.Context) (whole bool, err error) { return d.whole, d.send(ctx) }

// send delivers the entries with the cursor: the start of the newest exchange, which the next hook reads once more.
func (d *delivery) send(ctx context.Context) error {
	if len(d.entries) == 0 {
		return nil
	}
	r := skald.ReconcileRequest{Request: d.request, Entries: d.entries}
	if d.user > 0 {
		offset, err := offsetOf(d.path, d.from, d.user)
		if err != nil {
			return err
		}
		if r.Cursor, err = json.Marshal(newCursor(d.path, offset)); err != nil {
			return err
		}
	}
	d.entries, d.bytes, d.user = nil, 0, 0
	_, err := d.h.Engine.Reconcile(ctx, r)
	return err
}

// cursor is what capture keeps with a session's turns, in the same transaction: where in its transcript to go on. An importer may have
// put its own there; then the transcript is read from the start, and its entries are recognised by their ids.
type cursor struct {
	Transcript struct {
		Path   string `json:"path"`
		Offset int64  `json:"offset"`
	} `json:"transcript"`
}

func newCursor(path string, offset int64) (c cursor) {
	c.Transcript.Path, c.Transcript.Offset = path, offset
	return c
}

// readCursor is the offset to read a file from: 0 when it is another file, or one that became shorter.
func readCursor(raw json.RawMessage, path string) int64 {
	var c cursor
	info, err := os.Stat(path)
	if json.Unmarshal(raw, &c) != nil || err != nil || c.Transcript.Path != path || c.Transcript.Offset > info.Size() {
		return 0
	}
	return c.Transcript.Offset
}

// lineOf reads the line's number out of an item's place.
func lineOf(where string) int {
	n, _ := strconv.Atoi(where[strings.LastIndexByte(where, ':')+1:])
	return n
}

// offsetOf is the byte at which the nth line behind from begins.
func offsetOf(path string, from int64, n int) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return 0, err
	}
	buffer := make([]byte, 256<<10)
	for n--; n > 0; {
		got, err := f.Read(buffer)
		part := buffer[:got]
		for n > 0 {
			i := bytes.IndexByte(part, '\n')
			if i < 0 {
				break
			}
			n--
			from += int64(i) + 1
			part = part[i+1:]
		}
		if n > 0 {
			from += int64(len(part))
		}
		if err != nil && n > 0 {
			return 0, err
		}
	}
	return from, nil
}
