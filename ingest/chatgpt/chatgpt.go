// Package chatgpt imports a ChatGPT data export: the zip file, the folder that it was unpacked to, or its conversations.json alone.
package chatgpt

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"path"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/record"
)

// Name is the source's name.
const Name = "chatgpt"

const op = "ingest.chatgpt"

type source struct {
	exports []export
	o       ingest.OpenOptions
}

// Open finds the export. ChatGPT keeps nothing on the user's machine: a path is needed.
func Open(ctx context.Context, paths []string, o ingest.OpenOptions) (ingest.Source, error) {
	if len(paths) == 0 {
		return nil, skald.E(op, skald.KindNotFound, "no export is named: ask for one in ChatGPT (Settings, Data controls, Export data), then "+
			"give the path of the zip file, of the folder it was unpacked to, or of conversations.json")
	}
	s := &source{o: o}
	for _, p := range paths {
		e, err := openExport(ctx, p)
		if err != nil {
			return nil, err
		}
		s.exports = append(s.exports, e)
	}
	return s, nil
}

// Name is the program's name.
func (s *source) Name() string { return Name }

// Size is the bytes of all conversations, unpacked.
func (s *source) Size() (n int64) {
	for _, e := range s.exports {
		for _, f := range e.files {
			n += f.Size
		}
	}
	return n
}

// Conversations yields the conversations in the order of the export, each followed by its other branches.
func (s *source) Conversations(ctx context.Context) iter.Seq2[ingest.Conversation, error] {
	return func(yield func(ingest.Conversation, error) bool) {
		for _, e := range s.exports {
			for _, f := range e.files {
				if !s.file(ctx, e, f, yield) {
					return
				}
			}
		}
	}
}

// file decodes one array of conversations, one at a time. It reports whether to go on.
func (s *source) file(ctx context.Context, e export, f record.File, yield func(ingest.Conversation, error) bool) bool {
	origin := e.path
	if path.Base(origin) != path.Base(f.Name) {
		origin += "#" + f.Name
	}
	broken := func(n int, err error) bool {
		return yield(record.Unreadable(origin, fmt.Sprintf("broken after conversation %d: %v", n, err)), nil)
	}
	in, err := f.Open()
	if err != nil {
		return yield(record.Unreadable(origin, "the file cannot be read"), nil)
	}
	defer in.Close()
	m := &record.Meter{In: in, Most: maxConversation}
	dec := json.NewDecoder(m)
	if tok, err := dec.Token(); err != nil || tok != json.Delim('[') {
		return yield(record.Unreadable(origin, "no array of conversations"), nil)
	}
	for n := 0; dec.More(); n++ {
		if err := ctx.Err(); err != nil {
			yield(ingest.Conversation{}, err)
			return false
		}
		m.Count = 0
		from := dec.InputOffset()
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return broken(n, err)
		}
		var c conversation
		if err := json.Unmarshal(raw, &c); err != nil {
			if !yield(record.Unreadable(fmt.Sprintf("%s#%d", origin, n), "a conversation of an unknown shape"), nil) {
				return false
			}
			continue
		}
		raw = nil
		for _, out := range s.branches(e, c, origin, dec.InputOffset()-from) {
			if !yield(out, nil) {
				return false
			}
		}
	}
	if _, err := dec.Token(); err != nil {
		return yield(record.Unreadable(origin, fmt.Sprintf("it ends too early: %v", err)), nil)
	}
	return true
}

// branches makes a conversation of what was shown last, and one of each other branch in which the user said something.
func (s *source) branches(e export, c conversation, origin string, size int64) []ingest.Conversation {
	origin += "#" + c.id()
	shown, others := c.paths()
	r := reader{assets: e.asset, started: c.CreateTime.time()}
	out := []ingest.Conversation{{Origin: origin, Title: c.Title, Session: record.Address(s.o, c.id()), Started: r.started, Size: size,
		Items: r.items(shown)}}
	var dropped []ingest.Item
	for _, b := range others {
		if !b.spoken() {
			dropped = append(dropped, record.Skip(b[0].ID, "another version of an answer, which the user did not choose"))
			continue
		}
		id := c.id() + "-" + record.Derived(b[0].ID)[:12]
		out = append(out, ingest.Conversation{Origin: origin + "#" + b[0].ID, Title: c.Title, Started: r.started,
			Session: record.Address(s.o, id), Items: r.items(b)})
	}
	if len(dropped) > 0 {
		out = append(out, record.Notes(origin, dropped...))
	}
	return out
}

// seconds are Unix seconds with a fraction; 0 unknown.
type seconds float64

// UnmarshalJSON reads a number; anything else is an unknown time.
func (s *seconds) UnmarshalJSON(raw []byte) error {
	var f float64
	if json.Unmarshal(raw, &f) == nil {
		*s = seconds(f)
	}
	return nil
}

func (s seconds) time() time.Time {
	if s <= 0 || s > 1e11 {
		return time.Time{}
	}
	return time.UnixMilli(int64(math.Round(float64(s) * 1000))).UTC()
}
