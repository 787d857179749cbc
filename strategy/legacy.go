package strategy

import (
	"context"
	"strings"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/archive"
	"github.com/skald-engine/skald/message"
)

// Legacy is the host's way without an engine (document 003, "legacy"): the whole history in its order until it no longer fits, then one
// rolling summary of the oldest and the newest messages raw. It looks nothing up, and its summary leads back to nothing.
//
// The host lets a model write that summary. Here the builtin summariser stands in for it, and works from the turns themselves each time,
// where the host distils its last summary again: both favour Legacy (docs/trial.md).
type Legacy struct{}

// Sizes in tokens: the raw messages that a compaction keeps, as the host does by default, and the most that the summary takes.
const (
	LegacyKeep    = 20_000
	LegacySummary = 4_000
)

const legacyIntro = message.Mark + "Summary of the conversation so far:\n"

// Name implements Strategy.
func (Legacy) Name() string { return "legacy" }

// Assemble implements Strategy: the summary, if anything was compacted, and all raw turns since.
func (Legacy) Assemble(_ context.Context, tx skald.Tx, in Input) (Output, error) {
	if in.Budget < MinBudget {
		return Output{}, tooSmall(in)
	}
	list, whole, err := view(tx, in, in.Budget)
	if err != nil {
		return Output{}, err
	}
	head, err := standingSummary(tx, in)
	if err != nil {
		return Output{}, err
	}
	f := fit(fitInput{head: headMessages(head), list: list, budget: in.Budget, keep: in.Settings.RecentTurns, uri: in.Session.Ref})
	if !whole {
		f.note("older turns were left out: over the budget")
	}
	out := outputOf(f)
	out.Trace = skald.RecallTrace{Query: in.Prompt, Skipped: "the strategy legacy looks nothing up"}
	out.Messages, out.Tokens = render(f, nil)
	return out, nil
}

// Publish implements Strategy. It compacts when the history no longer fits, or when it is told to, and keeps the newest LegacyKeep tokens,
// less in a small window.
func (Legacy) Publish(tx skald.Tx, in Input, target Target) (Publication, error) {
	list, whole, err := view(tx, in, 2*in.Budget)
	if err != nil || len(list) < 2 {
		return Publication{}, err
	}
	before := tokensOfHead(summaryOf(in.Session)) + tokensOf(list)
	if whole && before <= in.Budget && !target.Force {
		return Publication{}, nil
	}
	leaving := choose(list, in.Session.LastSeq, Target{Tokens: min(LegacyKeep, in.Budget/2), Keep: target.Keep}, 0)
	if leaving == 0 && whole {
		return Publication{}, nil
	}
	p := Publication{Through: list[leaving].first() - 1, Before: before, FirstKept: list[leaving].first()}
	if p.Summary, err = rolling(tx, in, p.Through); err != nil {
		return Publication{}, err
	}
	if p.Summary != "" {
		p.Head = string(message.User(legacyIntro+p.Summary, in.Now.UnixMilli()))
	}
	p.After = tokensOfHead(p.Head) + tokensOf(list[leaving:])
	return p, nil
}

// summaryOf is the session's first message when it is a summary of this strategy; what the engine sets at the start, and after something
// was forgotten, is not.
func summaryOf(s skald.Session) string {
	if !strings.Contains(s.Head, strings.TrimSpace(legacyIntro)) {
		return ""
	}
	return s.Head
}

// standingSummary is the first message. What another strategy had published, and what the engine wrote anew after something was forgotten,
// is told in this strategy's way: a change of strategy costs no history (003, FAQ 1).
func standingSummary(tx skald.Tx, in Input) (string, error) {
	if own := summaryOf(in.Session); own != "" || in.Session.Published < in.Session.EpochFrom {
		return own, nil
	}
	archives, err := tx.Archives(in.Session.Ref, 1)
	if err != nil {
		return "", err
	}
	notes := archive.Notes(Covered(archives, in.Session.Epoch, in.Session.Published), min(LegacySummary, int(headShare*float64(in.Budget))))
	if notes == "" {
		return "", nil
	}
	return string(message.User(legacyIntro+notes, 1)), nil
}

// rolling is the summary of the epoch's turns up to a sequence; "" when they tell nothing. What is archived has its summary already.
func rolling(tx skald.Tx, in Input, through int64) (string, error) {
	archives, ready, err := summarised(tx, in.Session, false)
	if err != nil {
		return "", err
	}
	parts := Covered(archives, in.Session.Epoch, min(ready, through))
	rest, err := tx.Turns(in.Session.Ref, skald.TurnQuery{From: max(ready, in.Session.EpochFrom-1) + 1, To: through, Epoch: in.Session.Epoch})
	if err != nil {
		return "", err
	}
	if ready < through && len(rest) > 0 {
		s, err := archive.Builtin{}.Summarise(context.Background(), archive.Input{
			Turns: archive.Turns(rest), Previous: archive.Merge(parts), Now: in.Now, MaxTokens: LegacySummary,
		})
		if err != nil {
			return "", err
		}
		parts = append(parts, skald.Archive{Overview: s.Overview})
	}
	return archive.Notes(parts, min(LegacySummary, int(headShare*float64(in.Budget)))), nil
}
