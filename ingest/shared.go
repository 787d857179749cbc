package ingest

import (
	"context"
	"encoding/json"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

// stored is what the store holds of a session before an import.
type stored struct {
	ids   map[string]bool
	turns []skald.TurnInfo
}

// listStored collects the turns 1 to last.
func (d *delivery) listStored(ctx context.Context, last int64) (s stored, err error) {
	const page = 1000
	s.ids = map[string]bool{}
	for from := int64(1); from <= last; from += page {
		turns, err := d.run.inspector.ListTurns(ctx, d.identity(), d.report.SessionID, from, min(from+page-1, last))
		if err != nil {
			return s, err
		}
		for _, t := range turns {
			s.ids[t.EntryID] = true
		}
		s.turns = append(s.turns, turns...)
	}
	return s, nil
}

// hosted reports a session that a host delivers to: it keeps a cursor that is not an import's. Its cursor stays, and it is the engine
// that decides when its turns are archived.
func hosted(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null" && readCursor(raw).Import.Entries == 0
}

// others counts, by content, the stored turns that came under ids which the conversation does not have: what the host has delivered of it.
// A turn counts once, so that genuine repeats are kept.
func (s stored) others(c Conversation) map[string]int {
	own := map[string]bool{}
	for item, err := range c.Items {
		if err != nil {
			break // the import itself reports it
		}
		own[item.Entry.EntryID] = true
	}
	counts := map[string]int{}
	for _, t := range s.turns {
		if !own[t.EntryID] {
			counts[message.ContentKey(t.Raw)]++
		}
	}
	return counts
}

// fromHost drops the entries that the host has delivered, and returns how many there were.
func (d *delivery) fromHost(entries []skald.Entry) (rest []skald.Entry, known int) {
	if len(d.others) == 0 {
		return entries, 0
	}
	for _, e := range entries {
		key := message.ContentKey(e.Message)
		if d.others[key] > 0 && !d.stored[e.EntryID] {
			d.others[key]--
			known++
			continue
		}
		rest = append(rest, e)
	}
	return rest, known
}
