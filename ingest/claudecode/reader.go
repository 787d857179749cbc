package claudecode

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/record"
)

// reader turns the lines of one file into items.
type reader struct {
	file   transcript
	seen   seen
	groups map[string]string // sub-agent lines of a session's file, by uuid
	group  string            // the sub-agent to read; "" the session itself
	from   int64             // the byte to begin at

	yield  func(ingest.Item, error) bool
	done   bool // the consumer wants no more
	tools  map[string]string
	tally  record.Tally
	open   *reply
	copied int
}

// reply is an assistant message whose blocks come on several lines.
type reply struct {
	id     string // the provider's
	entry  string
	where  string
	at     time.Time
	model  string
	usage  json.RawMessage
	blocks []record.Block
}

// items reads the file. Every reading starts anew.
func (r reader) items() iter.Seq2[ingest.Item, error] {
	return func(yield func(ingest.Item, error) bool) {
		r := r
		r.yield, r.tools, r.tally = yield, map[string]string{}, record.Tally{}
		f, err := os.Open(r.file.path)
		if err != nil {
			yield(ingest.Item{}, skald.E(op, skald.KindUnavailable, "%v", err))
			return
		}
		defer f.Close()
		if _, err := f.Seek(r.from, io.SeekStart); err != nil {
			yield(ingest.Item{}, skald.E(op, skald.KindUnavailable, "%v", err))
			return
		}
		for l, err := range record.Lines(f) {
			if err != nil {
				r.flush()
				if !r.done {
					yield(ingest.Item{}, skald.E(op, skald.KindUnavailable, "reading %s: %v", r.file.path, err))
				}
				return
			}
			if r.line(l); r.done {
				return
			}
		}
		r.end()
	}
}

func (r *reader) end() {
	r.flush()
	if r.copied > 0 {
		r.tally["line copied from an earlier session"] = r.copied
	}
	for _, i := range r.tally.Items(r.file.path) {
		r.emit(i)
	}
}

func (r *reader) emit(i ingest.Item) {
	if !r.done {
		r.done = !r.yield(i, nil)
	}
}

func (r *reader) line(raw record.Line) {
	where := fmt.Sprintf("%s:%d", filepath.Base(r.file.path), raw.Number)
	var l line
	switch {
	case raw.TooLong:
		r.whole(record.Skip(where, "a line of more than 64 MB"))
		return
	case json.Unmarshal(raw.Text, &l) != nil:
		r.whole(record.Skip(where, "a broken line: not JSON"))
		return
	case r.groups[l.UUID] != r.group && !r.file.subagent:
		return // another agent's
	}
	switch l.Type {
	case "user", "assistant", "system", "attachment":
	default:
		r.count(fmt.Sprintf("line of kind %q", l.Type))
		return
	}
	if !r.seen.add(l.identity()) {
		r.copied++
		return
	}
	if l.UUID == "" {
		l.UUID = record.Derived(r.file.session, fmt.Sprint(raw.Number))
	}
	if l.Type == "assistant" && l.Message.Model != "<synthetic>" && !l.IsAPIError {
		r.assistant(l, where)
		return
	}
	r.flush()
	switch l.Type {
	case "user":
		r.user(l, where)
	case "assistant":
		r.emit(record.Injected(Name+":notice", textOf(l.Message.Content), l.at()).Item(l.UUID, where))
	case "system":
		r.system(l, where)
	case "attachment":
		r.attachment(l, where)
	}
}

// whole and count speak once for a file, not again for each of its sub-agents.
func (r *reader) whole(i ingest.Item) {
	if r.group == "" {
		r.emit(i)
	}
}

func (r *reader) count(kind string) {
	if r.group == "" {
		r.tally[kind]++
	}
}

// assistant gathers the lines of one reply: the program writes a line for each block.
func (r *reader) assistant(l line, where string) {
	if r.open != nil && (r.open.id != l.Message.ID || l.Message.ID == "") {
		r.flush()
	}
	if r.open == nil {
		r.open = &reply{id: l.Message.ID, entry: l.UUID, where: where, at: l.at(), model: l.Message.Model}
	}
	r.open.usage = l.Message.Usage
	for _, b := range blocks(l.Message.Content) {
		switch b.Type {
		case "text":
			if strings.TrimSpace(b.Text) != "" {
				r.open.blocks = append(r.open.blocks, record.Text(b.Text))
			}
		case "thinking":
			if b.Thinking != "" {
				r.open.blocks = append(r.open.blocks, record.Thinking(b.Thinking))
			}
		case "redacted_thinking":
			r.count("encrypted thinking")
		case "tool_use":
			r.tools[b.ID] = b.Name
			r.open.blocks = append(r.open.blocks, record.Call(b.ID, b.Name, b.Input))
		default:
			r.open.blocks = append(r.open.blocks, record.Block{Type: b.Type, Raw: b.raw})
		}
	}
}

func (r *reader) flush() {
	if r.open == nil {
		return
	}
	a := r.open
	r.open = nil
	m := record.Assistant(a.blocks, a.at)
	m.Provider, m.Model = "anthropic", a.model
	m.Set("usage", a.usage)
	r.emit(m.Item(a.entry, a.where))
}

// user handles what came to the model from the user's side: results, what was said, and what was injected.
func (r *reader) user(l line, where string) {
	ids := numbered(l.UUID)
	if l.IsCompact {
		r.emit(record.Compaction(textOf(l.Message.Content), l.at()).Item(l.UUID, where))
		return
	}
	var said []record.Block
	var injected []string
	for _, b := range blocks(l.Message.Content) {
		switch b.Type {
		case "tool_result":
			name := r.tools[b.ToolUseID]
			delete(r.tools, b.ToolUseID)
			r.emit(record.Result(b.ToolUseID, name, r.result(b, where), b.IsError, l.at()).Item(ids(), where))
		case "text":
			text, taken := split(b.Text)
			if l.byProgram() {
				text, taken = "", b.Text
			}
			if strings.TrimSpace(text) != "" {
				said = append(said, record.Text(text))
			}
			if taken != "" {
				injected = append(injected, taken)
			}
		default:
			said = append(said, r.other(b, where)...)
		}
	}
	r.say(l, said, injected, ids, where)
}

// say emits the injected parts before what was said, as the model read them.
func (r *reader) say(l line, said []record.Block, injected []string, ids func() string, where string) {
	if text := strings.Join(injected, "\n"); strings.HasPrefix(strings.TrimSpace(text), continued) {
		r.emit(record.Compaction(text, l.at()).Item(ids(), where))
	} else if text != "" {
		r.emit(record.Injected(l.kind(), text, l.at()).Item(ids(), where))
	}
	if len(said) == 0 {
		return
	}
	if len(said) == 1 && strings.HasPrefix(said[0].Text, continued) {
		r.emit(record.Compaction(said[0].Text, l.at()).Item(ids(), where))
		return
	}
	m := record.User(said, l.at())
	if len(said) == 1 && said[0].Type == "text" {
		m.Content = said[0].Text
	}
	m.Set("cwd", l.CWD)
	m.Set("gitBranch", l.GitBranch)
	r.emit(m.Item(ids(), where))
}

// byProgram tells a line that has the user's role but was written by the program or by another agent.
func (l line) byProgram() bool { return l.IsMeta || l.Origin.Kind != "" && l.Origin.Kind != "human" }

func (l line) kind() string {
	if l.Origin.Kind != "" && l.Origin.Kind != "human" {
		return Name + ":" + l.Origin.Kind
	}
	return Name + ":injected"
}

// result is a result's blocks.
func (r *reader) result(b block, where string) []record.Block {
	var out []record.Block
	for _, part := range blocks(b.Content) {
		switch {
		case part.Type == "text" && strings.TrimSpace(part.Text) != "":
			out = append(out, record.Text(part.Text))
		case part.Type != "text":
			out = append(out, r.other(part, where)...)
		}
	}
	return out
}

// other is an image, or a block of a kind that is not known here. Documents are left out: their bytes are no text.
func (r *reader) other(b block, where string) []record.Block {
	switch {
	case b.Type == "image" && b.Source.Type == "base64":
		return []record.Block{record.Image(b.Source.MediaType, b.Source.Data)}
	case b.Type == "document":
		r.emit(record.Skip(where, "an attached document"))
		return nil
	}
	return []record.Block{{Type: b.Type, Raw: b.raw}}
}

// system keeps what the program told the user, and counts its other marks.
func (r *reader) system(l line, where string) {
	text := textOf(l.Content)
	if strings.TrimSpace(text) == "" {
		r.count(fmt.Sprintf("system line of kind %q", l.Subtype))
		return
	}
	r.emit(record.Injected(Name+":"+cmp.Or(l.Subtype, "system"), text, l.at()).Item(l.UUID, where))
}

// attachment takes what the user typed while the agent worked; everything else was put there by the program and can be read again.
func (r *reader) attachment(l line, where string) {
	a := l.Attachment
	if a.Type != "queued_command" || a.CommandMode != "" && a.CommandMode != "prompt" || l.byProgram() {
		r.count(fmt.Sprintf("attachment of kind %q", a.Type))
		return
	}
	l.Message.Content = a.Prompt
	r.user(l, where)
}

// numbered gives the messages of one line their ids: the line's, then with a number.
func numbered(id string) func() string {
	n := 0
	return func() string {
		if n++; n == 1 {
			return id
		}
		return fmt.Sprintf("%s#%d", id, n)
	}
}

// textOf joins the texts of a content.
func textOf(raw json.RawMessage) string {
	var parts []string
	for _, b := range blocks(raw) {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}
