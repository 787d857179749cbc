package openclaw

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/skald-engine/skald/ingest"
)

// ownCommands are the plugin's chat commands (openclaw/src/command.ts).
var ownCommands = []string{"/skald", "/ov-import", "/add-resource", "/add-skill", "/ov-search", "/ov-recall-trace"}

// withoutCommands skips what was typed to them, and the host's own answers to it, as the plugin does (openclaw/src/command.ts): the
// transcript has them, but nobody said them to the agent. A line that a model answered was said.
func withoutCommands(items iter.Seq2[ingest.Item, error]) iter.Seq2[ingest.Item, error] {
	return func(yield func(ingest.Item, error) bool) {
		var command *ingest.Item // waits for what follows it
		reset := false           // of a message that was skipped: it belongs to the next one
		release := func(skip bool) bool {
			if command == nil {
				return true
			}
			item := *command
			command = nil
			if skip {
				reset = item.Entry.Reset
				item = commandSkipped(item)
			}
			return yield(item, nil)
		}
		for item, err := range items {
			if err != nil {
				if release(false) {
					yield(item, err)
				}
				return
			}
			m := saidIn(item)
			answer := command != nil && m.injected()
			if !release(answer) {
				return
			}
			if item.Skipped == "" {
				item.Entry.Reset, reset = item.Entry.Reset || reset, false
			}
			if m.command() {
				command = &item
				continue
			}
			if answer {
				reset, item = item.Entry.Reset, commandSkipped(item)
			}
			if !yield(item, nil) {
				return
			}
		}
		release(true)
	}
}

func commandSkipped(item ingest.Item) ingest.Item {
	return ingest.Item{Skipped: "typed to /skald, or its answer: no part of the conversation", Where: item.Where}
}

// said is what tells a command and the host's own answers.
type said struct {
	Role     string          `json:"role"`
	Content  json.RawMessage `json:"content"`
	Provider string          `json:"provider"`
	Model    string          `json:"model"`
}

func saidIn(item ingest.Item) (m said) {
	if item.Skipped == "" {
		_ = json.Unmarshal(item.Entry.Message, &m) // what cannot be read is no command
	}
	return m
}

// injected reports an answer that no model gave.
func (m said) injected() bool {
	return m.Role == "assistant" && m.Provider == "openclaw" && m.Model == "gateway-injected"
}

func (m said) command() bool {
	if m.Role != "user" {
		return false
	}
	words := strings.Fields(m.text())
	return len(words) > 0 && slices.Contains(ownCommands, strings.ToLower(words[0]))
}

func (m said) text() string {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return text
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	_ = json.Unmarshal(m.Content, &blocks)
	for _, b := range blocks {
		if b.Type == "text" {
			return b.Text
		}
	}
	return ""
}
