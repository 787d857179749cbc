package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

// CommitTurn stores one exchange (000-031). See skald.Engine.
func (e *Engine) CommitTurn(ctx context.Context, r skald.CommitTurnRequest) (skald.CommitTurnResult, error) {
	set := e.settings(r.Settings)
	if !set.autoCapture {
		return e.notStored(r.Request, set, "auto_capture_off")
	}
	d := delivery{by: byCommit, key: r.AdvancementKey, turnID: r.TurnID, heartbeat: r.Heartbeat, budget: r.TokenBudget, now: e.now(r.Request)}
	if d.key == "" {
		d.by = byClient
	}
	d.messages = convertAll(r.Messages)
	anchor(d.messages, r.Admission, r.Terminal)
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
	d := delivery{by: byAfterTurn, heartbeat: r.Heartbeat, now: e.now(r.Request), print: fingerprint(r)}
	var err error
	if d.messages, err = e.newMessages(ctx, r, set); err != nil {
		return skald.CommitTurnResult{}, err
	}
	return e.write(ctx, r.Request, set, d)
}

// fingerprint names the call: the list grows with every turn, so that only a repetition is equal.
func fingerprint(r skald.AfterTurnRequest) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%d of %d\n", r.PrePromptMessageCount, len(r.Messages))
	for _, raw := range r.Messages {
		sum.Write(raw)
		sum.Write([]byte{'\n'})
	}
	return "after-call:" + hex.EncodeToString(sum.Sum(nil)[:16])
}

// afterTurnReach is how many messages before the count are looked at for ones that were never delivered.
const afterTurnReach = 50

// newMessages are those after the count, and those right before it that the store lacks. What the engine itself put into the list is
// not among them (I10).
func (e *Engine) newMessages(ctx context.Context, r skald.AfterTurnRequest, set settings) ([]incoming, error) {
	from := clamp(r.PrePromptMessageCount, 0, len(r.Messages))
	if from == len(r.Messages) {
		return nil, nil // an empty window resurrects nothing
	}
	ref, err := e.ref(r.Request, set)
	if err != nil {
		return nil, err
	}
	before := captured(convertAll(r.Messages[max(0, from-afterTurnReach):from]))
	stored, err := e.storedKeys(ctx, ref, before)
	if err != nil {
		e.note("after_turn", ref.ID, err)
		return nil, err
	}
	first := len(before)
	for first > 0 && !stored[before[first-1].matchKey] {
		first--
	}
	return append(before[first:], captured(convertAll(r.Messages[from:]))...), nil
}

// storedKeys says which of the messages the store has, by content.
func (e *Engine) storedKeys(ctx context.Context, ref skald.SessionRef, list []incoming) (map[string]bool, error) {
	keys := map[string]bool{}
	if len(list) == 0 {
		return keys, nil
	}
	q := skald.TurnQuery{NoRaw: true}
	for _, in := range list {
		q.MatchKeys = append(q.MatchKeys, in.matchKey)
	}
	err := e.store.View(ctx, func(tx skald.Tx) error {
		turns, err := tx.Turns(ref, q)
		for _, t := range turns {
			keys[t.MatchKey] = true
		}
		return err
	})
	return keys, err
}

// captured leaves out what the engine itself put into a list that the host hands back (I10).
func captured(list []incoming) []incoming {
	return slices.DeleteFunc(list, func(in incoming) bool { return in.msg != nil && message.Injected(in.raw) })
}

// Ingest stores single messages on hosts without commitTurn and afterTurn.
func (e *Engine) Ingest(ctx context.Context, r skald.IngestRequest) (skald.CommitTurnResult, error) {
	set := e.settings(r.Settings)
	if !set.autoCapture {
		return e.notStored(r.Request, set, "auto_capture_off")
	}
	d := delivery{by: byClient, heartbeat: r.Heartbeat, now: e.now(r.Request), messages: captured(convertAll(r.Messages))}
	return e.write(ctx, r.Request, set, d)
}
