package search

import (
	"encoding/json"

	skald "github.com/skald-engine/skald"
	"github.com/skald-engine/skald/server/api"
)

// ledgerTurns is the greatest dedup_turns: what was shown longer ago is not kept.
const ledgerTurns = 100

// ledger is the record of what a session has been shown, so that dedup_turns can leave it out.
type ledger struct {
	Shown map[skald.URI]shown `json:"shown"`
}

type shown struct {
	Turn   int64  `json:"turn"` // messages that the session had
	Detail string `json:"detail"`
}

// remember reads what the session has been shown within the last turns.
func (b *briefing) remember() error {
	b.stats.Dedup = api.BriefDedup{Turns: b.q.DedupTurns, Status: "off"}
	if b.q.DedupTurns == 0 || b.q.Session == "" {
		return nil
	}
	turn := b.asking.LastSeq
	b.stats.Dedup.Status, b.stats.Dedup.Turn = "new", &turn
	r, err := b.tx.Record(b.asking.Ref.Scope, skald.RecordShown, b.asking.Ref.ID)
	if skald.KindOf(err) == skald.KindNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(r.Body, &b.shown); err != nil {
		return skald.E("search.ledger", skald.KindInternal, "the record of what session %s was shown is damaged: %w", b.asking.Ref.ID, err)
	}
	b.stats.Dedup.Status, b.cooled = "ok", map[skald.URI]bool{}
	for uri, s := range b.shown.Shown {
		if turn-s.Turn < int64(b.q.DedupTurns) {
			b.cooled[uri] = true
		}
	}
	b.stats.Dedup.Cooled = len(b.cooled)
	return nil
}

// note writes down what the session is shown now.
func (b *briefing) note() error {
	if b.q.DedupTurns == 0 || b.q.Session == "" {
		return nil
	}
	turn, next := b.asking.LastSeq, ledger{Shown: map[skald.URI]shown{}}
	for uri, s := range b.shown.Shown {
		if turn-s.Turn < ledgerTurns {
			next.Shown[uri] = s
		}
	}
	for _, e := range b.entries {
		next.Shown[e.uri] = shown{turn, e.shown().name}
	}
	body, err := json.Marshal(next)
	if err != nil {
		return err
	}
	return b.tx.PutRecord(skald.Record{Scope: b.asking.Ref.Scope, Kind: skald.RecordShown, ID: b.asking.Ref.ID, Body: body, Updated: b.now})
}
