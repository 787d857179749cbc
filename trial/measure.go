package trial

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/skald-engine/skald/archive/sentence"
	"github.com/skald-engine/skald/bench/replay"
	"github.com/skald-engine/skald/ingest"
	"github.com/skald-engine/skald/message"
)

func tokensOf(list []json.RawMessage) (n int) {
	for _, raw := range list {
		n += message.Tokens(raw)
	}
	return n
}

// outOfView counts the session's messages before an exchange that its first request no longer holds raw.
func (s *session) outOfView(c replay.Call) int {
	if c.Refused {
		return c.Start
	}
	oldest := c.Start
	for _, raw := range c.Before {
		if at, ok := s.index[string(raw)]; ok && at < oldest {
			oldest = at
		}
	}
	return oldest
}

// longestQuote is how many characters of a turn the report shows.
const longestQuote = 400

func quote(at place, text string) Quote {
	return Quote{Session: at.session.number, Turn: at.index, Time: at.time, Text: sentence.Clip(text, longestQuote)}
}

func noSessions(src ingest.Source, o Options) error {
	if !o.Since.IsZero() {
		return fmt.Errorf("%s has no conversation since %s", src.Name(), o.Since.Format("2006-01-02"))
	}
	return errors.New(src.Name() + " has no conversation to replay")
}
