package openclaw

import (
	"encoding/json"
	"fmt"
	"iter"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
)

// event is one event of a transcript: a message, a reset, or what does not matter here.
type event struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Parent    string          `json:"parentId"`
	Target    string          `json:"targetId"` // of a leaf: where the session goes on
	Timestamp string          `json:"timestamp"`
	Message   json.RawMessage `json:"message"`

	active   int64 // position on the active path
	seq      int64 // number of the event in the transcript, or of its line
	position int64 // among messages and resets, as the host counts; -1 none
	where    string
	fault    error // it cannot be read
}

func (e *event) read(raw []byte) {
	if err := json.Unmarshal(raw, e); err != nil {
		e.Type, e.fault = "", fmt.Errorf("event %d is not JSON: %w", e.seq, err)
	}
}

// entries makes entries of the messages on a path. Of a live session a user's message that nothing follows yet is left to the host: a run
// that was aborted is taken back and stands in the next prompt (docs/openclaw.md, 9).
func entries(path events, live bool) iter.Seq2[ingest.Item, error] {
	return func(yield func(ingest.Item, error) bool) {
		var held []ingest.Item
		release := func() bool {
			for _, item := range held {
				if !yield(item, nil) {
					return false
				}
			}
			held = nil
			return true
		}
		reset := false
		for e, err := range path {
			if err != nil {
				yield(ingest.Item{}, err)
				return
			}
			switch {
			case e.fault != nil:
				held = append(held, ingest.Item{Skipped: e.fault.Error(), Where: e.place()})
			case e.Type == "reset":
				reset = true
			case e.Type == "message":
				held = append(held, e.item(reset))
				reset = false
				if live && e.user() {
					continue
				}
			default:
				continue
			}
			if !release() {
				return
			}
		}
		for i := range held { // of a live session only
			held[i].Skipped = "nothing follows this message yet: the host brings it with the next turn"
		}
		release()
	}
}

func (e event) item(reset bool) ingest.Item {
	item := ingest.Item{Entry: skald.Entry{EntryID: e.ID, Reset: reset, Message: e.Message}, Where: e.place()}
	if e.position >= 0 {
		item.Entry.Position = &e.position
	}
	return item
}

// place is where the event stands: file and line, or its number in the host's database.
func (e event) place() string {
	if e.where != "" {
		return e.where
	}
	return fmt.Sprintf("event %d (%s)", e.seq, e.ID)
}

func (e event) user() bool {
	var head struct {
		Role string `json:"role"`
	}
	return json.Unmarshal(e.Message, &head) == nil && head.Role == "user"
}
