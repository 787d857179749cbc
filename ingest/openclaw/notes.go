package openclaw

import (
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/record"
)

// The notes of a workspace become the turns of a session of their own, a section each: so they are searched, cited and expanded like
// anything that was said. A section's id is made of its text, so that one that changed is a new turn, and the old one stays history.

// note is a file of notes.
type note struct {
	path, name string
	owner      bool // the user's own words; the others were written by the agent (I10)
	at         time.Time
	size       int64
}

var dated = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2}).*\.md$`)

// notes is the conversation that holds the notes of an agent's workspace; none when there are none.
func (s *source) notes(agent string) ([]ingest.Conversation, error) {
	dir := s.workspace(agent)
	if dir == "" {
		return nil, nil
	}
	list, err := findNotes(dir)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	c := ingest.Conversation{Origin: dir, Title: "notes of " + agent,
		Session: skald.SessionAddress{SessionID: "openclaw-notes-" + agent, AgentID: agent}}
	for _, n := range list {
		c.Size += n.size
	}
	c.Items = sections(list)
	return []ingest.Conversation{c}, nil
}

// findNotes lists the files of notes, oldest first: USER.md, MEMORY.md, and what is dated in the folder memory.
func findNotes(dir string) ([]note, error) {
	var list []note
	for _, name := range []string{"USER.md", "MEMORY.md", "memory.md"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || !info.Mode().IsRegular() || slices.ContainsFunc(list, func(n note) bool { return strings.EqualFold(n.name, name) }) {
			continue
		}
		list = append(list, note{filepath.Join(dir, name), name, name == "USER.md", info.ModTime(), info.Size()})
	}
	files, err := os.ReadDir(filepath.Join(dir, "memory"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, skald.E(op, skald.KindInvalid, "%w", err)
	}
	for _, f := range files {
		day := dated.FindStringSubmatch(f.Name())
		info, err := f.Info()
		if day == nil || err != nil || !info.Mode().IsRegular() {
			continue
		}
		at, err := time.Parse(time.DateOnly, day[1])
		if err != nil {
			at = info.ModTime()
		}
		list = append(list, note{filepath.Join(dir, "memory", f.Name()), "memory/" + f.Name(), false, at, info.Size()})
	}
	slices.SortStableFunc(list, func(a, b note) int { return a.at.Compare(b.at) })
	return list, nil
}

func sections(list []note) iter.Seq2[ingest.Item, error] {
	return func(yield func(ingest.Item, error) bool) {
		for _, n := range list {
			text, err := os.ReadFile(n.path)
			if err != nil {
				if !yield(ingest.Item{Skipped: "cannot be read: " + err.Error(), Where: n.path}, nil) {
					return
				}
				continue
			}
			met := map[string]int{}
			for _, s := range split(strings.ToValidUTF8(string(text), "\uFFFD")) {
				item, err := n.item(s, met)
				if !yield(item, err) || err != nil {
					return
				}
			}
		}
	}
}

// section is a part of a note under its headings.
type section struct {
	headings []string // from the outermost
	text     string
}

// split cuts Markdown at its headings. A section without text of its own is none; a "#" in a code block is no heading.
func split(text string) (list []section) {
	var headings []string
	var body []string
	code := false
	flush := func() {
		if t := strings.TrimSpace(strings.Join(body, "\n")); t != "" {
			list = append(list, section{slices.Clone(headings), t})
		}
		body = nil
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		}
		title := strings.TrimLeft(line, "#")
		level := len(line) - len(title)
		if code || level == 0 || level > 6 || !strings.HasPrefix(title, " ") {
			body = append(body, line)
			continue
		}
		flush()
		for len(headings) >= level {
			headings = headings[:len(headings)-1]
		}
		for len(headings) < level-1 {
			headings = append(headings, "")
		}
		headings = append(headings, strings.TrimSpace(title))
	}
	flush()
	return list
}

// item is a section as a message. met counts equal sections of the file.
func (n note) item(s section, met map[string]int) (ingest.Item, error) {
	path := append([]string{n.name}, slices.DeleteFunc(s.headings, func(h string) bool { return h == "" })...)
	title := strings.Join(path, " > ")
	id := "note-" + record.Derived(title, s.text)[:24]
	met[id]++
	if met[id] > 1 {
		return ingest.Item{Skipped: "the same section stands in the file twice", Where: n.path + ": " + title}, nil
	}
	raw, err := n.message(title + "\n\n" + s.text)
	return ingest.Item{Entry: skald.Entry{EntryID: id, Message: raw}, Where: n.path + ": " + title}, err
}

// message writes a section as said by its author.
func (n note) message(text string) (json.RawMessage, error) {
	type block struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	type marks struct {
		SenderIsOwner bool `json:"senderIsOwner"`
	}
	m := struct {
		Role      string  `json:"role"`
		Content   []block `json:"content"`
		Timestamp int64   `json:"timestamp"`
		Marks     *marks  `json:"__openclaw,omitempty"`
	}{"assistant", []block{{"text", text}}, n.at.UnixMilli(), nil}
	if n.owner {
		m.Role, m.Marks = "user", &marks{true}
	}
	return json.Marshal(m)
}
