package jsonl

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
)

// part is the lines of one session in a file.
type part struct {
	session string // "" for lines that name none
	first   []byte // digest of the first message
	runs    []run
	bytes   int64
}

// run is a run of lines of one session.
type run struct {
	from, to int64 // byte offsets
	number   int   // of the first line
}

// index finds the sessions of a file, in the order in which they begin. A line that is no message belongs to the session of the line
// before it.
func index(ctx context.Context, path string) ([]*part, error) {
	l, err := open(path)
	if err != nil {
		return nil, err
	}
	defer l.close()
	var parts []*part
	by := map[string]*part{}
	var last *part
	lead := run{number: 1} // lines before the first message
	for {
		at, ok, err := l.next()
		if err == nil && at.number%1024 == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, at.number, err)
		}
		if !ok {
			break
		}
		p := last
		if f, fault := at.sessionOf(by[""] != nil); fault == "" {
			if p = by[f.session]; p == nil {
				p = &part{session: f.session, first: digest(string(at.text))}
				by[f.session], parts = p, append(parts, p)
			}
		}
		if p == nil {
			lead.to = at.to
			continue
		}
		p.add(at, p == last)
		last = p
	}
	return withLead(parts, lead), nil
}

// withLead gives the lines before the first message to the first session; a file without any message is a session of skipped lines.
func withLead(parts []*part, lead run) []*part {
	if lead.to == 0 {
		return parts
	}
	if len(parts) == 0 {
		parts = []*part{{first: digest("")}}
	}
	parts[0].runs = slices.Insert(parts[0].runs, 0, lead)
	parts[0].bytes += lead.to
	return parts
}

// sessionOf is parse where only the session matters. Most lines name none, and then a glance does, unless it is the first such line.
func (l *line) sessionOf(nameless bool) (fields, string) {
	if len(l.text) == 0 {
		return fields{}, "blank"
	}
	plain := l.fault == "" && l.text[0] == '{' && bytes.Contains(l.text, []byte(`"role"`))
	if nameless && plain && !bytes.Contains(l.text, []byte(`"session"`)) {
		return fields{}, ""
	}
	return l.parse()
}

func (p *part) add(at line, more bool) {
	p.bytes += at.to - at.from
	if n := len(p.runs); more && n > 0 {
		p.runs[n-1].to = at.to
		return
	}
	p.runs = append(p.runs, run{from: at.from, to: at.to, number: at.number})
}

// items yields the messages of the part.
func (p *part) items(path, session string) iter.Seq2[ingest.Item, error] {
	return func(yield func(ingest.Item, error) bool) {
		l, err := open(path)
		if err != nil {
			yield(ingest.Item{}, err)
			return
		}
		defer l.close()
		ids := namer{session: session, met: map[uint64]int{}, given: map[string]int{}}
		for _, r := range p.runs {
			if err := l.seek(r.from, r.number); err != nil {
				yield(ingest.Item{}, unreadable(path, err))
				return
			}
			for l.offset < r.to {
				at, ok, err := l.next()
				if err != nil {
					yield(ingest.Item{}, fmt.Errorf("%s:%d: %w", path, at.number, err))
					return
				}
				if !ok {
					break
				}
				if len(at.text) == 0 && at.fault == "" {
					continue
				}
				if !yield(ids.item(path, at), nil) {
					return
				}
			}
		}
	}
}

// namer gives messages without an id of their own one: made of session, content, and how many equal ones came before. So a line keeps
// its id when others are added, and equal lines are different messages.
type namer struct {
	session string
	met     map[uint64]int // how many messages of that content came
	given   map[string]int // lines by the id that they give themselves
}

func (n *namer) item(path string, at line) ingest.Item {
	f, fault := at.parse()
	if fault != "" {
		return ingest.Item{Skipped: fault, Where: fmt.Sprintf("%s:%d", path, at.number)}
	}
	raw := bytes.Clone(at.text)
	id := f.id
	if before := n.given[id]; id != "" && before > 0 {
		return ingest.Item{Skipped: "another line of the session has the same id",
			Where: fmt.Sprintf("%s:%d, id %q as in line %d", path, at.number, id, before)}
	}
	n.given[id] = at.number
	if id == "" {
		sum := digest(n.session, string(raw))
		key := binary.LittleEndian.Uint64(sum)
		again := n.met[key]
		n.met[key]++
		id = "jsonl-" + hex.EncodeToString(sum[:12])
		if again > 0 {
			id += "-" + strconv.Itoa(again)
		}
	}
	return ingest.Item{Entry: skald.Entry{EntryID: id, Message: inMillis(raw, f.Timestamp)}, Where: fmt.Sprintf("%s:%d", path, at.number)}
}
