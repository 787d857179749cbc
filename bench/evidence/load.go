// Package evidence measures recall: of what answers a question, how much is in the context that the model is shown? Conversations go
// through the engine's own write path, session by session, each committed at its end; then every question is the first prompt of a new
// session. No model judges: a piece of evidence is in the context or it is not.
package evidence

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/skald-engine/skald"
)

// Conversation is one line of a data file. Evidence and Answer may be absent: then the contexts are written and nothing is scored.
type Conversation struct {
	ID        string     `json:"id"`
	Sessions  []Session  `json:"sessions"`
	Questions []Question `json:"questions"`
}

// Session is one of a conversation's sessions.
type Session struct {
	ID        string    `json:"id"`
	StartedAt string    `json:"started_at"` // RFC 3339, or without zone, or a date
	Messages  []Message `json:"messages"`
}

// Message is one message of a session.
type Message struct {
	ID      string `json:"id"`
	Role    string `json:"role"`
	Name    string `json:"name"`
	Text    string `json:"text"`
	Caption string `json:"caption"`
}

// Question is put to the engine after all sessions.
type Question struct {
	ID       string   `json:"id"`
	Category string   `json:"category"`
	Question string   `json:"question"`
	Answer   string   `json:"answer"`
	Evidence []string `json:"evidence"` // message ids; empty: nothing answers it; nil, where the file has no such key: not known
}

const maxLine = 64 << 20 // bytes of one conversation

// Load reads a file of conversations, gzipped when its name ends in .gz. Errors are of KindInvalid and name file and line.
func Load(path string) iter.Seq2[Conversation, error] {
	return func(yield func(Conversation, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(Conversation{}, skald.Invalid("evidence.load", "data", "%w", err))
			return
		}
		defer f.Close()
		var r io.Reader = f
		if strings.HasSuffix(path, ".gz") {
			if r, err = gzip.NewReader(f); err != nil {
				yield(Conversation{}, skald.Invalid("evidence.load", "data", "%s: %w", path, err))
				return
			}
		}
		scan(path, r, yield)
	}
}

func scan(path string, r io.Reader, yield func(Conversation, error) bool) {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxLine)
	for n := 1; sc.Scan(); n++ {
		if len(sc.Bytes()) == 0 {
			continue
		}
		var c Conversation
		err := json.Unmarshal(sc.Bytes(), &c)
		if err == nil {
			err = c.check()
		}
		if err != nil {
			err = skald.Invalid("evidence.load", "data", "%s:%d: %w", path, n, err)
		}
		if !yield(c, err) || err != nil {
			return
		}
	}
	if err := sc.Err(); err != nil {
		yield(Conversation{}, skald.Invalid("evidence.load", "data", "%s: %w", path, err))
	}
}

// check refuses what would silently spoil the figures.
func (c Conversation) check() error {
	if len(c.Sessions) == 0 {
		return errors.New("a conversation without sessions")
	}
	for _, s := range c.Sessions {
		if _, err := s.start(); err != nil {
			return fmt.Errorf("session %q: %w", s.ID, err)
		}
	}
	return nil
}

func (s Session) start() (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"} {
		if t, err := time.Parse(layout, s.StartedAt); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("started_at %q is not a time", s.StartedAt)
}
