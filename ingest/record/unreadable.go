package record

import (
	"iter"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/ingest"
)

// Unreadable is a conversation without messages that says why there are none.
func Unreadable(origin, reason string) ingest.Conversation {
	return Notes(origin, Skip(origin, reason))
}

// Notes is a conversation without messages that only reports what is left out. Its session is never made, for want of a message; it has an
// id since every conversation has one.
func Notes(origin string, items ...ingest.Item) ingest.Conversation {
	return ingest.Conversation{Origin: origin, Session: skald.SessionAddress{SessionID: "none-" + Derived(origin)}, Items: Each(items)}
}

// Each yields the items.
func Each(items []ingest.Item) iter.Seq2[ingest.Item, error] {
	return func(yield func(ingest.Item, error) bool) {
		for _, i := range items {
			if !yield(i, nil) {
				return
			}
		}
	}
}
