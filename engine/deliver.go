package engine

import (
	"context"

	"github.com/skald-engine/skald"
)

// CommitTurn stores one exchange (000-031). See skald.Engine.
func (e *Engine) CommitTurn(ctx context.Context, r skald.CommitTurnRequest) (skald.CommitTurnResult, error) {
	set := e.settings(r.Settings)
	if !set.autoCapture {
		return e.notStored(r.Request, set, "auto_capture_off")
	}
	d := delivery{by: byCommit, key: r.AdvancementKey, turnID: r.TurnID, heartbeat: r.Heartbeat, window: r.TokenBudget, now: e.now(r.Request)}
	if d.key == "" {
		d.by = byClient
	}
	d.messages = convertAll(r.Messages)
	anchor(d.messages, r.Admission, r.Terminal)
	if kept, err := e.keepAside(ctx, r.Request, set, &d); err != nil || kept && len(d.messages) == 0 {
		return skald.CommitTurnResult{Status: "committed", Reason: "dead_letter"}, err
	}
	return e.write(ctx, r.Request, set, d)
}

// anchor gives the first and last message their entry ids, and all of them their positions when the count agrees.
func anchor(list []incoming, admission, terminal *skald.Anchor) {
	if len(list) == 0 {
		return
	}
	if admission != nil {
		list[0].entryID, list[0].position = admission.EntryID, admission.Position
	}
	if terminal == nil {
		return
	}
	last := len(list) - 1
	if last > 0 || admission == nil {
		list[last].entryID, list[last].position = terminal.EntryID, terminal.Position
	}
	if admission != nil && terminal.Position-admission.Position == int64(last) {
		for i := range list {
			list[i].position = admission.Position + int64(i)
		}
	}
}

// keepAside takes out of d what can never be stored, as dead letters.
func (e *Engine) keepAside(ctx context.Context, r skald.Request, set settings, d *delivery) (bool, error) {
	kept := false
	for i := 0; i < len(d.messages); i++ {
		if len(d.messages[i].raw) <= maxMessageBytes {
			continue
		}
		ref, err := e.ref(r, set)
		if err != nil {
			return kept, err
		}
		if err := e.deadLetter(ctx, ref, d.now, "message over 256 MB", d.messages[i].raw); err != nil {
			return kept, err
		}
		d.messages = append(d.messages[:i], d.messages[i+1:]...)
		kept = true
		i--
	}
	return kept, nil
}

// notStored acknowledges without storing, at the user's wish (C-1). Doctor and status say so.
func (e *Engine) notStored(r skald.Request, set settings, reason string) (skald.CommitTurnResult, error) {
	ref, err := e.ref(r, set)
	if err != nil {
		return skald.CommitTurnResult{}, err
	}
	e.skipped.add()
	return skald.CommitTurnResult{Status: "committed", SessionID: ref.ID, Reason: reason}, nil
}

// AfterTurn stores the messages of a turn on hosts without commitTurn (000-031, 000-040). Messages before the count that the store
// lacks are taken as well: the count may point past the prompt (CAP-02).
func (e *Engine) AfterTurn(ctx context.Context, r skald.AfterTurnRequest) (skald.CommitTurnResult, error) {
	set := e.settings(r.Settings)
	if !set.autoCapture {
		return e.notStored(r.Request, set, "auto_capture_off")
	}
	d := delivery{by: byAfterTurn, heartbeat: r.Heartbeat, now: e.now(r.Request)}
	from, err := e.firstUnstored(ctx, r, set)
	if err != nil {
		return skald.CommitTurnResult{}, err
	}
	d.messages = convertAll(r.Messages[from:])
	return e.write(ctx, r.Request, set, d)
}

// afterTurnReach is how many messages before the count are looked at for ones that were never delivered.
const afterTurnReach = 50

// firstUnstored walks back from the count over messages that the store lacks.
func (e *Engine) firstUnstored(ctx context.Context, r skald.AfterTurnRequest, set settings) (int, error) {
	from := clamp(r.PrePromptMessageCount, 0, len(r.Messages))
	ref, err := e.ref(r.Request, set)
	if err != nil {
		return 0, err
	}
	if from == len(r.Messages) {
		return from, nil // an empty window resurrects nothing
	}
	err = e.store.View(ctx, func(tx skald.Tx) error {
		for ; from > 0 && from > r.PrePromptMessageCount-afterTurnReach; from-- {
			in := convert(r.Messages[from-1])
			known, err := tx.Turns(ref, skald.TurnQuery{MatchKeys: []string{in.matchKey}, NoRaw: true, Limit: 1})
			if err != nil || len(known) > 0 {
				return err
			}
		}
		return nil
	})
	return from, err
}

// Ingest stores single messages on hosts without commitTurn and afterTurn.
func (e *Engine) Ingest(ctx context.Context, r skald.IngestRequest) (skald.CommitTurnResult, error) {
	set := e.settings(r.Settings)
	if !set.autoCapture {
		return e.notStored(r.Request, set, "auto_capture_off")
	}
	d := delivery{by: byClient, heartbeat: r.Heartbeat, now: e.now(r.Request), messages: convertAll(r.Messages)}
	return e.write(ctx, r.Request, set, d)
}
