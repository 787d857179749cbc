package backend

import (
	"context"
	"encoding/json"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/server/api"
)

// SessionArchive implements api.Backend: the messages can be read from phase 1 on, whatever phase 2 does (000-086).
func (b *Backend) SessionArchive(ctx context.Context, id skald.Identity, session string, index int) (out api.Archive, err error) {
	ref := b.ref(id, session)
	err = b.store.View(ctx, func(tx skald.Tx) error {
		a, err := tx.Archive(ref, index)
		if err != nil {
			return err
		}
		turns, err := tx.Turns(ref, skald.TurnQuery{From: a.From, To: a.To})
		out = api.Archive{Index: a.Index, Abstract: a.Abstract, Overview: archive.Text(a), Messages: hostMessages(shown(ref, turns, b.limits))}
		return err
	})
	return out, err
}

// hostMessages leaves out what was purged: there is nothing left to show.
func hostMessages(turns []skald.Turn) []api.HostMessage {
	var out []api.HostMessage
	for _, t := range turns {
		if !t.Purged {
			out = append(out, api.HostMessage{Seq: t.Seq, Time: t.Time, Raw: json.RawMessage(t.Raw)})
		}
	}
	return out
}
