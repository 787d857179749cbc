package ovpack

import (
	"cmp"
	"encoding/json"
	"iter"
	"path"
	"strings"

	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/ingest/record"
)

const maxMemory = 4 << 20 // bytes

// notes yields the memories of a folder, each as a note of the agent: it was extracted by a model, nobody said it.
func (f folder) notes(session string) iter.Seq2[ingest.Item, error] {
	return func(yield func(ingest.Item, error) bool) {
		for _, file := range f.files {
			if !yield(f.note(session, file), nil) {
				return
			}
		}
	}
}

// fields stand in a comment at a memory's end.
type fields struct {
	Type      string `json:"memory_type"`
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
}

func (f folder) note(session string, file named) ingest.Item {
	b, err := read(file.File, maxMemory)
	if err != nil {
		return record.Skip(file.path, "a memory that cannot be read")
	}
	name := strings.TrimPrefix(file.path, f.path+"/")
	body, comment, found := strings.Cut(string(b), "<!-- MEMORY_FIELDS")
	var raw json.RawMessage
	var x fields
	if found {
		raw = json.RawMessage(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(comment), "-->")))
		_ = json.Unmarshal(raw, &x)
	}
	if body = strings.TrimSpace(body); body == "" {
		return record.Skip(file.path, "an empty memory")
	}
	at := record.Time(cmp.Or(x.UpdatedAt, x.CreatedAt))
	m := record.Injected(Name+":memory", "Memory that OpenViking extracted ("+name+"):\n"+body, at)
	m.Set("memory_type", cmp.Or(x.Type, strings.TrimSuffix(strings.Split(name, "/")[0], path.Ext(name))))
	m.Set("fields", raw)
	// A memory that was changed since the last import is another note.
	return m.Item("ov:"+record.Derived(session, name, string(b)), file.path)
}
