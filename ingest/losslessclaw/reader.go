package losslessclaw

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/record"
	"github.com/skald-engine/skald/message"
)

// reader turns the messages of one conversation into items.
type reader struct{ path, conversation, session string }

// items reads the messages and, alongside, their parts: one query each, whatever the length.
func (r reader) items(ctx context.Context) iter.Seq2[ingest.Item, error] {
	return func(yield func(ingest.Item, error) bool) {
		db, err := open(r.path)
		if err != nil {
			yield(ingest.Item{}, err)
			return
		}
		defer db.Close()
		parts := partsOf(db.rows(ctx, partsSQL, r.conversation))
		defer parts.stop()
		for row, err := range db.rows(ctx, messagesSQL, r.conversation) {
			if err != nil {
				yield(ingest.Item{}, err)
				return
			}
			list, err := parts.of(row.text("message_id"))
			if err != nil {
				yield(ingest.Item{}, err)
				return
			}
			for _, i := range r.message(row, list) {
				if !yield(i, nil) {
					return
				}
			}
		}
	}
}

// partStream hands out parts message by message.
type partStream struct {
	next func() (row, error, bool)
	stop func()
	held row
}

func partsOf(rows iter.Seq2[row, error]) *partStream {
	next, stop := iter.Pull2(rows)
	return &partStream{next: next, stop: stop}
}

// of are the parts of a message. Messages are asked for in the order of the parts.
func (p *partStream) of(message string) (list []row, err error) {
	for {
		if p.held == nil {
			r, err, ok := p.next()
			if err != nil || !ok {
				return list, err
			}
			p.held = r
		}
		if p.held.text("message_id") != message {
			return list, nil
		}
		list, p.held = append(list, p.held), nil
	}
}

// message is one stored message, with what is to be said about it.
func (r reader) message(row row, parts []row) []ingest.Item {
	where := fmt.Sprintf("conversation %s, message %s", r.conversation, row.text("seq"))
	id := row.text("transcript_entry_id") // the host's own, so that an import of the host's sessions finds it stored
	if id == "" {
		id = "lcm:" + cmp.Or(r.session, r.conversation) + ":" + row.text("message_id")
	}
	at := record.Time(row.text("created_at"))
	var notes []ingest.Item
	m := stored{role: roleOf(row.text("role"))}
	for i, p := range parts {
		m.part(p, i == 0)
		if m.skipped != "" {
			notes, m.skipped = append(notes, record.Skip(where, m.skipped)), ""
		}
	}
	if row.large() {
		notes = append(notes, record.Skip(where, reasonLarge))
	}
	if text := row.text("content"); len(m.blocks) == 0 && m.whole == nil && strings.TrimSpace(text) != "" {
		m.blocks = []record.Block{record.Text(text)}
	}
	return append(notes, m.item(id, where, at))
}

const reasonLarge = "a large text that lossless-claw moved into a file: what stands in its place is imported"

// stored gathers a message from its parts.
type stored struct {
	role           string
	blocks         []record.Block
	whole          json.RawMessage // a message that was kept whole
	callID, tool   string
	isError, shell bool
	skipped        string
}

// metadata is what a part keeps beside its columns; Raw is the host's own block.
type metadata struct {
	Role         string          `json:"originalRole"`
	CallID       string          `json:"toolCallId"`
	Tool         string          `json:"toolName"`
	IsError      bool            `json:"isError"`
	Source       string          `json:"source"`
	Reasoning    string          `json:"topLevelReasoningContent"`
	Externalized string          `json:"externalizedFileId"`
	Raw          json.RawMessage `json:"raw"`
}

func (m *stored) part(p row, first bool) {
	var meta metadata
	_ = json.Unmarshal([]byte(p.text("metadata")), &meta)
	if first && meta.Role != "" {
		m.role = meta.Role
	}
	if meta.Externalized != "" {
		m.skipped = reasonLarge
	}
	m.shell = m.shell || meta.Source == "bash-exec"
	m.isError = m.isError || meta.IsError || p.text("tool_error") != ""
	m.callID = cmp.Or(m.callID, meta.CallID, p.text("tool_call_id"))
	m.tool = cmp.Or(m.tool, meta.Tool, p.text("tool_name"))
	if meta.Reasoning != "" {
		m.blocks = append(m.blocks, record.Thinking(meta.Reasoning))
	}
	switch {
	case meta.Source == "unknown-message-shape" && isMessage(meta.Raw):
		m.whole = meta.Raw
	case isObject(meta.Raw):
		m.blocks = append(m.blocks, record.Block{Type: m.kind(p), Raw: meta.Raw})
	default:
		m.column(p)
	}
}

// kind is the kind of a block that is kept as the host wrote it.
func (m *stored) kind(p row) string {
	if p.text("part_type") == "tool" && m.role == message.RoleAssistant {
		return string(message.KindToolCall)
	}
	return p.text("part_type")
}

// column reads a part that has no copy of the host's block.
func (m *stored) column(p row) {
	text := p.text("text_content")
	switch kind := p.text("part_type"); {
	case kind == "reasoning" && text != "":
		m.blocks = append(m.blocks, record.Thinking(text))
	case kind == "tool" && m.role == message.RoleAssistant:
		m.blocks = append(m.blocks, record.Call(p.text("tool_call_id"), p.text("tool_name"), rawOrText(p.text("tool_input"))))
		m.output(p)
	case kind == "tool":
		if out := cmp.Or(plain(p.text("tool_output")), p.text("tool_error"), text); out != "" {
			m.blocks = append(m.blocks, record.Text(out))
		}
	case strings.TrimSpace(text) != "":
		m.blocks = append(m.blocks, record.Text(text))
	case kind == "file":
		m.skipped = "an attached file"
	case kind != "text" && kind != "reasoning":
		m.skipped = fmt.Sprintf("a part of kind %q without text", kind)
	}
}

// output keeps a result that stands in the same part as its call.
func (m *stored) output(p row) {
	if out := cmp.Or(plain(p.text("tool_output")), p.text("tool_error")); out != "" {
		m.blocks = append(m.blocks, record.Text(out))
	}
}

func (m *stored) item(id, where string, at time.Time) ingest.Item {
	if m.whole != nil {
		return ingest.Item{Entry: skald.Entry{EntryID: id, Message: m.whole}, Where: where}
	}
	switch m.role {
	case message.RoleAssistant:
		return record.Assistant(m.blocks, at).Item(id, where)
	case message.RoleToolResult:
		if m.callID == "" {
			m.callID = id
		}
		return record.Result(m.callID, m.tool, m.blocks, m.isError, at).Item(id, where)
	case message.RoleUser:
		out := record.User(m.blocks, at)
		if len(m.blocks) == 1 && m.blocks[0].Raw == nil {
			out.Content = m.blocks[0].Text
		}
		return out.Item(id, where)
	}
	out := record.Message{Role: m.role, Content: m.blocks, Timestamp: record.Millis(at)}
	if m.shell {
		out = record.Injected(Name+":"+message.RoleBash, textOf(m.blocks), at)
	}
	return out.Item(id, where)
}

func textOf(blocks []record.Block) string {
	var texts []string
	for _, b := range blocks {
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, "\n")
}

// roleOf is the host's name of a stored role.
func roleOf(role string) string {
	if role == "tool" {
		return message.RoleToolResult
	}
	return role
}

// isMessage tells a host message that was kept as a whole.
func isMessage(raw json.RawMessage) bool {
	m, err := message.Parse(raw)
	return err == nil && m.Role != ""
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// rawOrText is a column's JSON, or the column as a JSON string.
func rawOrText(s string) json.RawMessage {
	if json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	b, _ := json.Marshal(s) // a string always encodes
	return b
}

// plain undoes the JSON of a text; other JSON stays as it is.
func plain(s string) string {
	var text string
	if json.Unmarshal([]byte(s), &text) == nil {
		return text
	}
	return s
}
