package ovpack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"path"
	"strings"
	"time"

	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/record"
	"github.com/skald-engine/skald/server/api"
)

const maxResult = 16 << 20 // bytes of a result that stands in a file of its own

// reader turns the messages of one session into items.
type reader struct {
	pack    pack
	folder  folder
	session string

	yield func(ingest.Item, error) bool
	done  bool
	last  time.Time
	ids   map[string]bool // messages yielded: an archive and the open messages may overlap
	calls map[string]bool
	tally record.Tally
}

// items reads the archives in order, then the open messages. Every reading starts anew.
func (r reader) items() iter.Seq2[ingest.Item, error] {
	return func(yield func(ingest.Item, error) bool) {
		r := r
		r.yield, r.last = yield, r.folder.created()
		r.ids, r.calls, r.tally = map[string]bool{}, map[string]bool{}, record.Tally{}
		for _, f := range r.folder.files {
			if r.file(f); r.done {
				return
			}
		}
		for _, i := range r.tally.Items(r.folder.path) {
			r.emit(i)
		}
	}
}

func (r *reader) emit(i ingest.Item) {
	if !r.done {
		r.done = !r.yield(i, nil)
	}
}

func (r *reader) file(f named) {
	in, err := f.Open()
	if err != nil {
		r.emit(record.Skip(f.path, "the file cannot be read"))
		return
	}
	defer in.Close()
	for l, err := range record.Lines(in) {
		where := fmt.Sprintf("%s:%d", f.path, l.Number)
		switch {
		case err != nil:
			r.emit(record.Skip(where, fmt.Sprintf("the rest of the file cannot be read: %v", err)))
			return
		case l.TooLong:
			r.emit(record.Skip(where, "a line of more than 64 MB"))
		default:
			r.line(l.Text, where)
		}
		if r.done {
			return
		}
	}
}

// line is a message as OpenViking writes it; early versions had its text in content.
type line struct {
	api.Message
	RoleID  string          `json:"role_id"`
	Content json.RawMessage `json:"content"`
	Raw     json.RawMessage `json:"parts"`
}

func (r *reader) line(text []byte, where string) {
	var l line
	if json.Unmarshal(text, &l) != nil || l.Role == "" {
		r.emit(record.Skip(where, "a broken line: no message"))
		return
	}
	if l.ID == "" {
		l.ID = "ov:" + record.Derived(r.session, where)
	}
	if r.ids[l.ID] {
		r.tally["message that stands in an archive and among the open ones"]++
		return
	}
	r.ids[l.ID] = true
	if t := record.Time(l.CreatedAt); !t.IsZero() {
		r.last = t
	}
	l.Peer = cmp.Or(l.Peer, l.RoleID)
	l.Parts = r.parts(l, where)
	switch {
	case l.Kind == "checkpoint":
		r.emit(record.Compaction(textOf(l.Parts), r.last).Item(l.ID, where))
	case len(l.Parts) == 0:
		r.emit(record.Skip(where, "an empty message"))
	case l.Role != "user" && l.Role != "assistant":
		r.emit(record.Injected(Name+":"+l.Role, textOf(l.Parts), r.last).Item(l.ID, where))
	default:
		r.message(l, where)
	}
}

// message writes the message in the host's form, as Skald's own OpenViking API does: so it reads back there as it was.
func (r *reader) message(l line, where string) {
	r.missingCalls(l, where)
	entries, err := api.ToHost(l.Message, r.last)
	if err != nil {
		r.emit(record.Skip(where, "a message that cannot be written as JSON"))
		return
	}
	for _, e := range entries {
		if l.Role == "user" && l.Peer != "" {
			e.Message = byPeer(e.Message, l.Peer)
		}
		r.emit(ingest.Item{Entry: e, Where: where})
	}
}

// missingCalls writes the calls of results that stand without one: OpenViking's plugins send a result alone, with the input of its call.
func (r *reader) missingCalls(l line, where string) {
	for i, p := range l.Parts {
		id := text(p, "tool_id")
		if text(p, "type") != "tool" || id == "" || r.calls[id] {
			continue
		}
		if r.calls[id] = true; l.Role != "user" {
			continue
		}
		m := record.Assistant([]record.Block{record.Call(id, cmp.Or(text(p, "tool_name"), "unknown"), p["tool_input"])}, r.last)
		r.emit(m.Item(fmt.Sprintf("%s/call%d", l.ID, i), where))
	}
}

// parts are the parts that were said or done. A context is what OpenViking injected: it is kept beside (I10).
func (r *reader) parts(l line, where string) (said []api.Part) {
	for i, raw := range l.raw() {
		var p api.Part
		if json.Unmarshal(raw, &p) != nil || p == nil {
			r.emit(record.Skip(where, "a part of an unknown shape"))
			continue
		}
		switch text(p, "type") {
		case "text":
			if strings.TrimSpace(text(p, "text")) != "" {
				said = append(said, api.Part{"type": p["type"], "text": p["text"]})
			}
		case "context":
			m := record.Injected(Name+":context", strings.TrimSpace(text(p, "uri")+"\n"+text(p, "abstract")), r.last)
			m.Set("context_type", text(p, "context_type"))
			r.emit(m.Item(fmt.Sprintf("%s/context%d", l.ID, i), where))
		case "tool":
			said = append(said, r.tool(p, where))
		default:
			said = append(said, p)
		}
	}
	return said
}

func (l line) raw() []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(l.Raw, &list) == nil && list != nil {
		return list
	}
	var content string
	if json.Unmarshal(l.Content, &content) != nil {
		return nil
	}
	part, err := json.Marshal(map[string]string{"type": "text", "text": content})
	if err != nil {
		return nil
	}
	return []json.RawMessage{part}
}

// tool puts the whole result back into a part that only shows its beginning.
func (r *reader) tool(p api.Part, where string) api.Part {
	for key, raw := range p { // an absent value and null are the same there
		if string(raw) == "null" {
			delete(p, key)
		}
	}
	for _, key := range []string{"tool_id", "tool_name"} {
		if text(p, key) == "" {
			p[key] = json.RawMessage(`"unknown"`)
		}
	}
	if in := p["tool_input"]; in != nil {
		p["tool_input"] = record.Arguments(in)
	}
	ref := cmp.Or(text(p, "tool_output_storage_uri"), text(p, "tool_output_ref"))
	if ref == "" {
		return p
	}
	_, id, _ := strings.Cut(ref, "/tool-results/")
	id, _, _ = strings.Cut(id, "/")
	f, ok := r.pack.files[path.Join(r.folder.path, "tool-results", id, "output.txt")]
	if !ok {
		r.emit(record.Skip(where, "a long result, of which the pack holds the beginning only"))
		return p
	}
	whole, err := read(f, maxResult)
	if err != nil {
		r.emit(record.Skip(where, "a long result, whose file cannot be read"))
		return p
	}
	if raw, err := json.Marshal(string(whole)); err == nil {
		p["tool_output"] = raw
	}
	return p
}

// byPeer marks a message of somebody who is not the owner of the pack: nothing of it becomes the owner's profile (I10).
func byPeer(raw json.RawMessage, peer string) json.RawMessage {
	var list map[string]json.RawMessage
	name, err := json.Marshal(peer)
	if err != nil || json.Unmarshal(raw, &list) != nil {
		return raw
	}
	list["senderIsOwner"], list["senderName"] = json.RawMessage("false"), name
	out, err := json.Marshal(list)
	if err != nil {
		return raw
	}
	return out
}

func text(p api.Part, key string) string {
	var s string
	_ = json.Unmarshal(p[key], &s)
	return s
}

func textOf(parts []api.Part) string {
	var texts []string
	for _, p := range parts {
		if s := text(p, "text"); s != "" {
			texts = append(texts, s)
		}
	}
	return strings.Join(texts, "\n")
}
