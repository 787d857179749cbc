package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/memory"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/strategy"
)

// forget takes a memory and the turns behind it out of everything that is shown: recall, search, summaries, and what already stands
// in the sessions of the same people, their first messages and earlier recalls (design, "Forgetting").
func (e *Engine) forget(tx skald.Tx, scopes []skald.Scope, uri skald.URI, now time.Time) (memory.Receipt, error) {
	return e.forgetting(tx, scopes, now, func() (memory.Receipt, error) { return memory.Forget(tx, scopes, uri) })
}

// forgetting does what was asked for, and cleans what is shown.
func (e *Engine) forgetting(tx skald.Tx, scopes []skald.Scope, now time.Time, do func() (memory.Receipt, error)) (memory.Receipt, error) {
	before, err := memoryLines(tx, scopes)
	if err != nil {
		return memory.Receipt{}, err
	}
	receipt, err := do()
	if err != nil {
		return receipt, err
	}
	after, err := memoryLines(tx, scopes)
	if err != nil {
		return receipt, err
	}
	gone := forgottenWords{uris: map[string]bool{}, sources: receipt.Turns}
	for line := range before {
		if !after[line] {
			gone.lines = append(gone.lines, line)
		}
	}
	for _, u := range receipt.Memories {
		gone.uris[string(u)] = true
	}
	sessions, err := tx.Sessions(skald.SessionQuery{Scopes: scopes})
	for _, s := range sessions {
		if err := e.cleanSession(tx, s, gone, slices.Contains(receipt.Sessions, s.Ref), now); err != nil {
			return receipt, err
		}
	}
	return receipt, err
}

// memoryLines lists the lines of all memories as they are quoted, without what is said about them.
func memoryLines(tx skald.Tx, scopes []skald.Scope) (map[string]bool, error) {
	list, err := tx.Memories(skald.MemoryQuery{Scopes: scopes})
	lines := map[string]bool{}
	for _, m := range list {
		for line := range strings.Lines(m.Text) {
			line, _, _ = strings.Cut(line, " (")
			if line = strings.Trim(line, "-# \n"); line != "" {
				lines[message.Escape(line)] = true
			}
		}
	}
	return lines, err
}

// forgottenWords is what must not be shown any more.
type forgottenWords struct {
	lines   []string
	uris    map[string]bool
	sources []skald.MemorySource
}

func (w forgottenWords) quotedIn(raw []byte) bool {
	m, err := message.Parse(raw)
	return err == nil && slices.ContainsFunc(w.lines, func(line string) bool { return strings.Contains(m.Text(), line) })
}

// recalledIn reports a recall that shows something forgotten: by its uri, by its turns, or in words.
func (w forgottenWords) recalledIn(r skald.PlacedRecall, account string) bool {
	for _, u := range r.URIs {
		if w.uris[u] {
			return true
		}
		t, err := skald.URI(u).Resolve(account)
		if err != nil || t.From == 0 {
			continue
		}
		for _, s := range w.sources {
			if s.Session.ID == t.Session && s.Session.Scope == t.Scope && s.From <= t.To && t.From <= s.To {
				return true
			}
		}
	}
	return slices.ContainsFunc(r.Messages, func(m []byte) bool { return w.quotedIn(m) })
}

// cleanSession makes a session's first message anew without what was forgotten, and empties the recalls that show it.
func (e *Engine) cleanSession(tx skald.Tx, s skald.Session, gone forgottenWords, source bool, now time.Time) error {
	changed := false
	placed, err := tx.Recalls(s.Ref, s.Published)
	if err != nil {
		return err
	}
	for _, r := range placed {
		if len(r.Messages) == 0 || !gone.recalledIn(r, s.Ref.Scope.Account) {
			continue
		}
		if err := tx.PutRecall(s.Ref, skald.PlacedRecall{AfterSeq: r.AfterSeq, TurnID: r.TurnID, Time: r.Time}); err != nil {
			return err
		}
		changed = true
	}
	if s.Head != "" && (source || gone.quotedIn([]byte(s.Head))) {
		return e.renewHead(tx, s, now)
	}
	if !changed {
		return nil
	}
	s.Publication++
	return tx.PutSession(s)
}

// renewHead makes a session's first message anew; the model sees something else from now on.
func (e *Engine) renewHead(tx skald.Tx, s skald.Session, now time.Time) error {
	archives, err := tx.Archives(s.Ref, 1)
	if err != nil {
		return err
	}
	in := strategy.Input{Session: s, Now: now}
	if s.Head, _, err = strategy.Head(tx, in, strategy.Covered(archives, s.Epoch, s.Published), knownBudget(s)); err != nil {
		return err
	}
	s.Publication++
	return tx.PutSession(s)
}

// knownBudget is the budget that a session's last turn showed, in tokens.
func knownBudget(s skald.Session) int {
	if s.Budget > 0 {
		return s.Budget
	}
	return defaultBudget
}
