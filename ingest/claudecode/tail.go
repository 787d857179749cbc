package claudecode

import (
	"bytes"
	"encoding/json"
	"io"
	"os"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/record"
)

// Tail is one transcript from a byte offset on, for a hook that follows a session while it goes on. The offset is the start of a line
// with a user's message, so that replies and results find what belongs to them. Entry ids are those of an import. Lines of sub-agents in
// the session's own file (older versions) are left to the import. Line numbers in Where count from the offset.
func Tail(path string, offset int64, o ingest.OpenOptions) (ingest.Conversation, error) {
	t, err := look(path)
	if err != nil {
		return ingest.Conversation{}, err
	}
	r := &reader{file: t, seen: seen{}, from: offset}
	c := ingest.Conversation{Origin: path, Title: t.title, Started: t.first, Size: t.size - offset, Live: true}
	if t.subagent {
		c.Session = record.SubagentAddress(o, t.session+"-"+stem(path))
	} else {
		c.Session = record.Address(o, t.session)
		r.groups = within(path, offset)
	}
	c.Items = r.items()
	return c, nil
}

// within marks the lines of sub-agents behind an offset.
func within(path string, offset int64) map[string]string {
	f, err := os.Open(path)
	if err != nil {
		return nil // reading the items reports it
	}
	defer f.Close()
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil
	}
	groups := map[string]string{}
	for text, err := range record.Lines(f) {
		var l line
		if err == nil && bytes.Contains(text.Text, []byte(`"isSidechain":true`)) && json.Unmarshal(text.Text, &l) == nil && l.IsSidechain {
			groups[l.UUID] = "sub-agent"
		}
	}
	return groups
}

// Address is the session that a transcript belongs to.
func Address(path string, o ingest.OpenOptions) (skald.SessionAddress, error) {
	c, err := Tail(path, 0, o)
	return c.Session, err
}
