package backend

import (
	"context"
	"encoding/json"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/engine"
	"github.com/skald-engine/skald/server/api"
)

// AddMessages implements api.Backend: messages, counts and the policy's commit are one transaction. Memories are not counted in
// the answer, which is on every writer's path; GetSession counts them.
func (b *Backend) AddMessages(ctx context.Context, id skald.Identity, session string, entries []skald.Entry) (out api.Session, err error) {
	said := speakers(id, entries)
	stored, committed := 0, false
	err = b.store.Update(ctx, func(tx skald.Tx) error {
		s, err := b.open(tx, id, session)
		if err != nil {
			return err
		}
		turns, err := b.engine.Append(tx, &s.Session, said)
		if err != nil {
			return err
		}
		s.stored(turns)
		if stored, committed, err = len(turns), false, nil; stored > 0 {
			committed, err = autoCommit(tx, &s, b.engine.Now())
		}
		if err != nil {
			return err
		}
		if err := s.save(tx); err != nil {
			return err
		}
		out, err = describe(s)
		return err
	})
	if err != nil {
		b.report("add_messages", session, err)
		return api.Session{}, err
	}
	b.engine.Stored(stored)
	if committed {
		b.engine.Committed()
	}
	return out, nil
}

// speakers names who spoke, and drops entries that come twice in one call.
func speakers(id skald.Identity, entries []skald.Entry) []engine.Said {
	said, seen := make([]engine.Said, 0, len(entries)), map[string]bool{}
	for _, e := range entries {
		if e.EntryID != "" && seen[e.EntryID] {
			continue
		}
		seen[e.EntryID] = true
		said = append(said, engine.Said{Entry: e, Speaker: peer(id, e.Message)})
	}
	return said
}

// peer is the person that api.ToHost marked as the speaker; the user himself is no peer.
func peer(id skald.Identity, raw json.RawMessage) string {
	var m struct {
		Mark struct {
			Peer string `json:"peer_id"`
		} `json:"openviking"`
	}
	if json.Unmarshal(raw, &m) != nil || m.Mark.Peer == id.User {
		return ""
	}
	return m.Mark.Peer
}
