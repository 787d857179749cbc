package chatgpt

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/record"
)

// reader turns a branch into items.
type reader struct {
	assets  func(pointer string) (mime, data string, err error)
	started time.Time

	yield func(ingest.Item, error) bool
	done  bool
	last  time.Time
	open  []call // calls without a result
}

// call is a message to a tool; ChatGPT has no other id for it.
type call struct{ id, name string }

// items reads the branch. Every reading starts anew.
func (r reader) items(b branch) iter.Seq2[ingest.Item, error] {
	return func(yield func(ingest.Item, error) bool) {
		r := r
		r.yield, r.last = yield, r.started
		for _, n := range b {
			if n.Message != nil {
				r.node(n)
			}
			if r.done {
				return
			}
		}
	}
}

func (r *reader) emit(i ingest.Item) {
	if !r.done {
		r.done = !r.yield(i, nil)
	}
}

func (r *reader) skip(n node, reason string) { r.emit(record.Skip(n.ID, reason)) }

func (r *reader) node(n node) {
	m := n.Message
	if t := m.CreateTime.time(); !t.IsZero() {
		r.last = t // a message without a time has the one before
	}
	c := content(m.Content)
	if text := c.instructions(m.Metadata); text != "" {
		r.emit(record.Injected(Name+":custom-instructions", text, r.last).Item(n.ID, n.ID))
		return
	}
	switch {
	case m.Metadata.Hidden:
		r.skip(n, "hidden from the conversation")
		return
	case m.Weight != nil && *m.Weight == 0:
		r.skip(n, "taken out of the conversation (weight 0)")
		return
	case c.Type == "reasoning_recap":
		r.skip(n, "content of kind \"reasoning_recap\"")
		return
	}
	for _, a := range m.Metadata.Attachments {
		if !strings.HasPrefix(a.Mime, "image/") {
			r.emit(record.Skip(fmt.Sprintf("%s (%s)", n.ID, a.Name), "an attached file: only texts and images are imported"))
		}
	}
	blocks, known := r.blocks(n, c)
	switch {
	case !known:
		r.skip(n, fmt.Sprintf("content of kind %q", c.Type))
	case len(blocks) == 0:
		r.skip(n, "an empty message")
	default:
		r.message(n, c, blocks)
	}
}

func (r *reader) message(n node, c body, blocks []record.Block) {
	m := n.Message
	switch role := m.Author.Role; {
	case role == "user":
		out := record.User(blocks, r.last)
		if len(blocks) == 1 && blocks[0].Type == "text" {
			out.Content = blocks[0].Text
		}
		r.emit(out.Item(n.ID, n.ID))
	case role == "assistant" && m.Recipient != "" && m.Recipient != "all":
		r.open = append(r.open, call{id: n.ID, name: m.Recipient})
		r.assistant(n, []record.Block{record.Call(n.ID, m.Recipient, argumentsOf(textOf(blocks)))})
	case role == "assistant":
		r.assistant(n, blocks)
	case role == "tool":
		r.result(n, c, blocks)
	default:
		r.emit(record.Injected(Name+":"+role, textOf(blocks), r.last).Item(n.ID, n.ID))
	}
}

func (r *reader) assistant(n node, blocks []record.Block) {
	out := record.Assistant(blocks, r.last)
	out.Provider, out.Model = "openai", n.Message.Metadata.ModelSlug
	r.emit(out.Item(n.ID, n.ID))
}

// result pairs a tool's message with the newest open call to that tool. A tool that spoke unasked, or again, is kept beside the talk.
func (r *reader) result(n node, c body, blocks []record.Block) {
	name := n.Message.Author.Name
	for i := len(r.open) - 1; i >= 0; i-- {
		o := r.open[i]
		if name != "" && o.name != name && !strings.HasPrefix(o.name, name+".") && !strings.HasPrefix(name, o.name+".") {
			continue
		}
		r.open = append(r.open[:i], r.open[i+1:]...)
		r.emit(record.Result(o.id, o.name, blocks, c.Type == "system_error", r.last).Item(n.ID, n.ID))
		return
	}
	out := record.Injected(Name+":tool", "", r.last)
	out.Content = blocks
	out.Set("tool", name)
	r.emit(out.Item(n.ID, n.ID))
}

// argumentsOf is the text of a call: JSON as it is, anything else as a string.
func argumentsOf(text string) json.RawMessage {
	raw, err := json.Marshal(text)
	if err != nil {
		return nil
	}
	return raw
}

func textOf(blocks []record.Block) string {
	var texts []string
	for _, b := range blocks {
		if b.Text != "" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}
