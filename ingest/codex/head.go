package codex

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/skald-engine/skald/ingest/record"
)

// head is what the first lines of a rollout tell.
type head struct {
	session  string
	parent   string // the session that this one was forked from, or ""
	subagent bool
	started  time.Time
	size     int64
}

// meta is the first line of a rollout: a session_meta's payload, or, in older ones, the line itself.
type meta struct {
	ID         string          `json:"id"`
	SessionID  string          `json:"session_id"`
	ForkedFrom string          `json:"forked_from_id"`
	Timestamp  string          `json:"timestamp"`
	CWD        string          `json:"cwd"`
	Source     json.RawMessage `json:"source"` // a word, or an object that tells of a sub-agent
}

func (m meta) session() string {
	if m.ID != "" {
		return m.ID
	}
	return m.SessionID
}

// headLines is how many lines are looked at: a fork's own session_meta, then the copied one of its parent.
const headLines = 3

var uuid = regexp.MustCompile(`[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`)

func look(path string) (head, error) {
	var h head
	f, err := os.Open(path)
	if err != nil {
		return h, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		h.size = info.Size()
	}
	for l, err := range record.Lines(f) {
		if err != nil {
			return h, err
		}
		if h.line(l.Text); l.Number >= headLines {
			break
		}
	}
	if h.session == "" {
		h.session = uuid.FindString(filepath.Base(path))
	}
	if h.session == "" {
		h.session = record.Derived(Name, filepath.Base(path))
	}
	return h, nil
}

func (h *head) line(text []byte) {
	l, ok := parse(text)
	if !ok || l.Type != typeMeta {
		return
	}
	var m meta
	_ = json.Unmarshal(l.Payload, &m)
	id := m.session()
	switch {
	case id == "":
	case h.session == "":
		h.session, h.parent = id, m.ForkedFrom
		h.subagent = strings.HasPrefix(string(m.Source), "{") && strings.Contains(string(m.Source), `"subagent"`)
		if h.started = record.Time(m.Timestamp); h.started.IsZero() {
			h.started = record.Time(l.Timestamp)
		}
	case id != h.session && h.parent == "":
		h.parent = id
	}
}
