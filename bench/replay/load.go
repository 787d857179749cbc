package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"unicode/utf8"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

// MaxLine is the longest message that a file may hold, in bytes.
const MaxLine = 64 << 20

// Load reads conversations in the host's message format: JSON Lines, one message a line; several files are one conversation, in order.
// Everything is checked before anything is played. An error is of KindInvalid and names file and line.
func Load(paths ...string) ([]json.RawMessage, error) {
	var all []json.RawMessage
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, skald.Invalid("replay.load", "file", "%w", err)
		}
		list, err := parse(path, text)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	if len(all) == 0 {
		return nil, skald.Invalid("replay.load", "file", "%v: there is no message in it", paths)
	}
	return all, nil
}

func parse(path string, text []byte) ([]json.RawMessage, error) {
	var list []json.RawMessage
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	for n := 1; len(text) > 0; n++ {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := check(line); err != nil {
			return nil, &skald.Error{Op: "replay.load", URI: fmt.Sprintf("%s:%d", path, n), Field: "line", Kind: skald.KindInvalid, Err: err}
		}
		list = append(list, line)
	}
	return list, nil
}

// check refuses what no host would hand over. Content is not judged: the engine takes any.
func check(line []byte) error {
	switch {
	case len(line) > MaxLine:
		return fmt.Errorf("the message has %d bytes; at most %d are played", len(line), MaxLine)
	case !utf8.Valid(line):
		return fmt.Errorf("is not valid UTF-8")
	}
	var head struct {
		Role *string `json:"role"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return fmt.Errorf("is not a JSON object with a role: %w", err)
	}
	if head.Role == nil || *head.Role == "" {
		return fmt.Errorf("is not a message: it has no role")
	}
	_, err := message.Parse(line)
	return err
}
