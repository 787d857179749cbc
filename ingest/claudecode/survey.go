package claudecode

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/record"
)

// transcript is what a look at the head and the tail of a file tells.
type transcript struct {
	path        string
	size        int64
	session     string // of a sub-agent's file: its parent's
	subagent    bool
	title       string
	first, last time.Time
}

// Lines at the head of a file, and bytes at its tail, that are looked at.
const (
	headLines = 200
	tailBytes = 256 << 10
)

// survey looks at the files and orders them: a session that was resumed into a new file began with the same line, and ended later.
func survey(paths []string) ([]transcript, []ingest.Conversation) {
	var list []transcript
	var bad []ingest.Conversation
	for _, p := range paths {
		t, err := look(p)
		if err != nil {
			bad = append(bad, record.Unreadable(p, "the file cannot be read"))
			continue
		}
		list = append(list, t)
	}
	slices.SortStableFunc(list, func(a, b transcript) int {
		if c := a.first.Compare(b.first); c != 0 {
			return c
		}
		if c := a.last.Compare(b.last); c != 0 {
			return c
		}
		return strings.Compare(filepath.Base(a.path), filepath.Base(b.path))
	})
	return list, bad
}

var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

func look(path string) (transcript, error) {
	t := transcript{path: path}
	f, err := os.Open(path)
	if err != nil {
		return t, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		t.size = info.Size()
	}
	for l, err := range record.Lines(f) {
		if err != nil {
			return t, err
		}
		if t.head(l.Text); l.Number >= headLines || !t.first.IsZero() && t.session != "" {
			break
		}
	}
	if t.last = tail(f, t.size); t.last.IsZero() {
		t.last = t.first
	}
	switch name := stem(path); {
	case !t.subagent && uuid.MatchString(name):
		t.session = strings.ToLower(name)
	case t.session == "":
		t.session = record.Derived(Name, name)
	}
	return t, nil
}

// head takes what one line at the head of the file tells.
func (t *transcript) head(text []byte) {
	var l line
	if json.Unmarshal(text, &l) != nil {
		return
	}
	if t.title == "" {
		t.title = l.title()
	}
	if l.Timestamp == "" || l.Type != "user" && l.Type != "assistant" && l.Type != "system" {
		return
	}
	if t.first.IsZero() {
		t.first = record.Time(l.Timestamp)
		t.subagent = l.IsSidechain && strings.HasPrefix(stem(t.path), "agent-")
	}
	if t.session == "" {
		t.session = l.SessionID
	}
}

// tail is the time of the last whole line.
func tail(f *os.File, size int64) (last time.Time) {
	from := max(0, size-tailBytes)
	b := make([]byte, size-from)
	n, err := f.ReadAt(b, from)
	if err != nil && err != io.EOF {
		return last
	}
	for _, text := range bytes.Split(b[:n], []byte("\n")) {
		var l struct {
			Timestamp string `json:"timestamp"`
		}
		if json.Unmarshal(text, &l) == nil && l.Timestamp != "" {
			last = record.Time(l.Timestamp)
		}
	}
	return last
}

// sidechains finds the sub-agents whose lines older versions wrote into their parent's file: the group of each line by its uuid, and the
// groups in order. A group is named after the agent's id, else after its first line.
func sidechains(path string) (map[string]string, []string) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil // reading its items reports it
	}
	defer f.Close()
	groups, order := map[string]string{}, []string(nil)
	known := map[string]bool{}
	for text, err := range record.Lines(f) {
		var l line
		if err != nil || !bytes.Contains(text.Text, []byte(`"isSidechain"`)) || json.Unmarshal(text.Text, &l) != nil || !l.IsSidechain {
			continue
		}
		group := l.AgentID
		if group == "" {
			group = groups[l.ParentUUID]
		}
		if group == "" {
			group = l.UUID
		}
		groups[l.UUID] = group
		if !known[group] {
			known[group], order = true, append(order, group)
		}
	}
	return groups, order
}
