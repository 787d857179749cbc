package codex

import (
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/record"
)

// reader turns the lines of one rollout into items.
type reader struct {
	path    string
	session string
	parent  string // the rollout that this one began as a copy of, or ""

	yield      func(ingest.Item, error) bool
	done       bool // the consumer wants no more
	tools      map[string]string
	tally      record.Tally
	model, cwd string
	open       *reply
}

// reply is an assistant message; its parts come on several lines.
type reply struct {
	entry, where string
	at           time.Time
	blocks       []record.Block
}

// items reads the rollout. Every reading starts anew.
func (r reader) items() iter.Seq2[ingest.Item, error] {
	return func(yield func(ingest.Item, error) bool) {
		r := r
		r.yield, r.tools, r.tally = yield, map[string]string{}, record.Tally{}
		f, err := os.Open(r.path)
		if err != nil {
			yield(ingest.Item{}, skald.E(op, skald.KindUnavailable, "%v", err))
			return
		}
		defer f.Close()
		copied, stop := original(r.parent)
		defer stop()
		for l, err := range record.Lines(f) {
			if err != nil {
				r.flush()
				if !r.done {
					yield(ingest.Item{}, skald.E(op, skald.KindUnavailable, "reading %s: %v", r.path, err))
				}
				return
			}
			if r.line(l, copied); r.done {
				return
			}
		}
		r.flush()
		for _, i := range r.tally.Items(r.path) {
			r.emit(i)
		}
	}
}

func (r *reader) emit(i ingest.Item) {
	if !r.done {
		r.done = !r.yield(i, nil)
	}
}

func (r *reader) line(raw record.Line, copied func(payload []byte) bool) {
	where := fmt.Sprintf("%s:%d", filepath.Base(r.path), raw.Number)
	if raw.TooLong {
		r.emit(record.Skip(where, "a line of more than 64 MB"))
		return
	}
	l, ok := parse(raw.Text)
	if !ok {
		r.emit(record.Skip(where, "a broken line: not JSON"))
		return
	}
	entry := fmt.Sprintf("%s:%d", r.session, raw.Number)
	switch l.Type {
	case typeMeta, typeContext:
		r.context(l)
	case typeItem, typeCompacted:
		if copied(l.Payload) {
			r.tally["line copied from the session that this one was forked from"]++
			return
		}
		if l.Type == typeCompacted {
			r.compacted(l, entry, where)
			return
		}
		r.item(l, entry, where)
	case "event_msg": // what is said and done stands in the response items, too
		var e struct {
			Type string `json:"type"`
		}
		_ = json.Unmarshal(l.Payload, &e)
		r.tally[eventReason(e.Type)]++
	default:
		r.tally[fmt.Sprintf("line of kind %q", l.Type)]++
	}
}

// eventReason tells why an event is not imported.
func eventReason(kind string) string {
	switch kind {
	case "user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content":
		return fmt.Sprintf("event of kind %q, which repeats an item", kind)
	}
	return fmt.Sprintf("event of kind %q", kind)
}

func (r *reader) context(l line) {
	var c struct {
		Model string `json:"model"`
		CWD   string `json:"cwd"`
	}
	_ = json.Unmarshal(l.Payload, &c)
	if c.Model != "" {
		r.model = c.Model
	}
	if c.CWD != "" {
		r.cwd = c.CWD
	}
}

func (r *reader) compacted(l line, entry, where string) {
	var c struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(l.Payload, &c)
	r.flush()
	if strings.TrimSpace(c.Message) == "" {
		r.tally["encrypted summary"]++
		return
	}
	r.emit(record.Compaction(c.Message, record.Time(l.Timestamp)).Item(entry, where))
}

func (r *reader) item(l line, entry, where string) {
	var i item
	if json.Unmarshal(l.Payload, &i) != nil {
		r.emit(record.Skip(where, "a broken line: an item of an unknown shape"))
		return
	}
	at := record.Time(l.Timestamp)
	reply := func(blocks ...record.Block) {
		if r.open == nil {
			r.open = newReply(entry, where, at)
		}
		r.open.blocks = append(r.open.blocks, blocks...)
	}
	switch {
	case i.Type == "message" && i.Role == "assistant":
		reply(r.texts(i.Content, where)...)
	case i.Type == "message":
		r.flush()
		r.message(i, entry, where, at)
	case i.Type == "agent_message":
		r.flush()
		r.emit(record.Injected(Name+":agent_message", textOf(i.Content), at).Item(entry, where))
	case i.Type == "reasoning":
		text := strings.Trim(textOf(i.Summary)+"\n"+textOf(i.Content), "\n")
		if text == "" {
			r.tally["encrypted reasoning"]++
			return
		}
		reply(record.Thinking(text))
	case strings.HasSuffix(i.Type, "_output") && i.CallID != "":
		r.flush()
		r.result(i, entry, where, at)
	case strings.HasSuffix(i.Type, "_call") && i.CallID != "" || i.Type == "local_shell_call":
		reply(r.call(i))
	case i.Type == "image_generation_call" && i.Result != "":
		reply(record.Image("image/png", i.Result))
	case strings.HasSuffix(i.Type, "_call"): // the provider ran it: there is no result of its own
		reply(record.Block{Type: i.Type, Raw: l.Payload})
	default:
		r.tally[fmt.Sprintf("item of kind %q", i.Type)]++
	}
}

func newReply(entry, where string, at time.Time) *reply {
	return &reply{entry: entry, where: where, at: at}
}

func (r *reader) flush() {
	if r.open == nil {
		return
	}
	a := r.open
	r.open = nil
	m := record.Assistant(a.blocks, a.at)
	m.Provider, m.Model = "openai", r.model
	r.emit(m.Item(a.entry, a.where))
}

// message handles a message that is not the agent's: the user's, or instructions of the program.
func (r *reader) message(i item, entry, where string, at time.Time) {
	if i.Role != "user" {
		r.emit(record.Injected(Name+":"+i.Role, textOf(i.Content), at).Item(entry, where))
		return
	}
	var said []record.Block
	var injected []string
	for _, b := range r.texts(i.Content, where) {
		if b.Type != "text" {
			said = append(said, b)
			continue
		}
		text, taken := split(b.Text)
		if strings.TrimSpace(text) != "" {
			said = append(said, record.Text(text))
		}
		if taken != "" {
			injected = append(injected, taken)
		}
	}
	if len(injected) > 0 {
		r.emit(record.Injected(Name+":injected", strings.Join(injected, "\n"), at).Item(entry+"#injected", where))
		if len(said) == 0 {
			return
		}
	}
	m := record.User(said, at)
	if len(said) == 1 && said[0].Type == "text" {
		m.Content = said[0].Text
	}
	m.Set("cwd", r.cwd)
	r.emit(m.Item(entry, where))
}

// texts are the blocks of a message's content; files are left out, since their bytes are no text.
func (r *reader) texts(raw json.RawMessage, where string) []record.Block {
	var out []record.Block
	for _, p := range parts(raw) {
		switch {
		case p.isText() && (strings.TrimSpace(p.Text) == "" || imageLabel(p.Text)):
		case p.Type == "input_file":
			r.emit(record.Skip(where, "an attached file"))
		default:
			out = append(out, p.block())
		}
	}
	return out
}

func (r *reader) call(i item) record.Block {
	id, name := i.CallID, i.Name
	if id == "" {
		id = i.ID
	}
	if name == "" {
		name = strings.TrimSuffix(i.Type, "_call")
	}
	r.tools[id] = name
	return record.Call(id, name, i.arguments())
}

// result reads an output: a text, a list of parts, or an object with them; older shells wrapped the text in JSON with the exit code.
func (r *reader) result(i item, entry, where string, at time.Time) {
	name := r.tools[i.CallID]
	delete(r.tools, i.CallID)
	raw, failed := i.Output, false
	var o struct {
		Content json.RawMessage `json:"content"`
		Success *bool           `json:"success"`
	}
	if strings.HasPrefix(string(raw), "{") && json.Unmarshal(raw, &o) == nil && o.Content != nil {
		raw, failed = o.Content, o.Success != nil && !*o.Success
	}
	var shell struct {
		Output   *string         `json:"output"`
		Metadata json.RawMessage `json:"metadata"`
	}
	var blocks []record.Block
	if text := textOf(raw); strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &shell) == nil && shell.Output != nil && shell.Metadata != nil {
		if failed = failed || exitCode(shell.Metadata) != 0; strings.TrimSpace(*shell.Output) != "" {
			blocks = []record.Block{record.Text(*shell.Output)}
		}
	} else {
		shell.Metadata = nil
		blocks = r.texts(raw, where)
	}
	m := record.Result(i.CallID, name, blocks, failed, at)
	m.Set("metadata", shell.Metadata)
	r.emit(m.Item(entry, where))
}

func exitCode(metadata json.RawMessage) int {
	var m struct {
		ExitCode int `json:"exit_code"`
	}
	_ = json.Unmarshal(metadata, &m)
	return m.ExitCode
}

func textOf(raw json.RawMessage) string {
	var texts []string
	for _, p := range parts(raw) {
		if p.isText() {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}
