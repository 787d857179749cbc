package replay

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/skald-engine/skald"
)

// history is what the session holds before the replay: the host would have it in its list too.
type history struct {
	before []json.RawMessage // stored messages that are not in the conversation
	known  int               // leading messages of the conversation that are stored already
}

// lookUp finds out what is stored. A conversation that was played before, as a whole or in part, is recognised: its exchanges are delivered
// again under the same keys. Any other conversation goes on where the session stands.
func (p *Player) lookUp(ctx context.Context, messages []json.RawMessage) error {
	b, err := p.target.Engine.Bootstrap(ctx, skald.BootstrapRequest{Request: p.request(0)})
	if err != nil {
		return err
	}
	p.report.SessionID = b.SessionID
	if b.LastSeq == 0 {
		return nil
	}
	turns, err := p.target.Inspector.ListTurns(ctx, p.options.Identity, b.SessionID, 0, 0)
	if err != nil {
		return err
	}
	stored := make([]json.RawMessage, len(turns))
	for i, t := range turns {
		stored[i] = t.Raw
	}
	at := overlap(stored, messages)
	p.history = history{before: stored[:at], known: min(len(stored)-at, len(messages))}
	return nil
}

// overlap is the place in stored from which on it holds the beginning of messages, or all of them; len(stored) when nowhere.
func overlap(stored, messages []json.RawMessage) int {
	for at := range stored {
		n := min(len(stored)-at, len(messages))
		i := 0
		for i < n && bytes.Equal(stored[at+i], messages[i]) {
			i++
		}
		if i == n {
			return at
		}
	}
	return len(stored)
}
