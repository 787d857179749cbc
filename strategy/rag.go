package strategy

import (
	"context"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/recall"
)

// Rag shows history by its relevance to the prompt (document 003, "RAG"): the newest turns raw, and what the prompt asks for from
// everything older, looked up anew for every prompt. It does not compact by itself: nothing is summarised because the history grows.
type Rag struct{}

// Shares of the budget, for a long history.
const (
	ragRaw    = 0.50 // the newest turns
	ragRecall = 0.40 // what is looked up
)

// Name implements Strategy.
func (Rag) Name() string { return "rag" }

// Patient implements Patient.
func (Rag) Patient() {}

// Assemble implements Strategy: the first message, the newest raw turns, and what the prompt asks for.
func (Rag) Assemble(ctx context.Context, tx skald.Tx, in Input) (Output, error) {
	if in.Budget < MinBudget {
		return Output{}, tooSmall(in)
	}
	raw := int(ragRaw * float64(in.Budget))
	list, whole, err := view(tx, in, raw)
	if err != nil {
		return Output{}, err
	}
	list, left := newest(list, raw, in.Settings.RecentTurns)
	placed, err := tx.Recalls(in.Session.Ref, in.Session.Published)
	if err != nil {
		return Output{}, err
	}
	_, own := standing(placed, in)
	f := fit(fitInput{head: headMessages(in.Session.Head), list: list, budget: in.Budget, keep: in.Settings.RecentTurns, uri: in.Session.Ref})
	if !whole || left > 0 {
		f.note("older turns are looked up only: the newest %d tokens stand raw", tokensOf(f.list))
	}
	out := outputOf(f)
	current, err := chooseRecall(ctx, tx, in, f, own, wide(in, in.Budget-f.tokens), &out)
	if err != nil {
		return Output{}, err
	}
	var recalled []message.Ready
	if current != nil {
		recalled = prepared(current.Messages)
	}
	out.Messages, out.Tokens = render(f, recalled)
	return out, nil
}

// wide asks for more than a recall that has to stand for long: it is gone with the next prompt.
func wide(in Input, left int) func(*recall.Request) {
	most := min(int(ragRecall*float64(in.Budget)), left-frameTokens(FormTool, in))
	return func(r *recall.Request) { r.Budget = max(r.Budget, most) }
}

// newest keeps the newest exchanges within limit tokens, and at least keep turns; left is how many were left out.
func newest(list []exchange, limit, keep int) (kept []exchange, left int) {
	sum := tokensOf(list)
	for sum > limit && left < len(list)-1 && countTurns(list[left+1:]) >= keep {
		sum -= list[left].tokens
		left++
	}
	return list[left:], left
}

// Publish implements Strategy. Only when it is told to, older turns leave the view for good: they are found by looking up.
func (Rag) Publish(tx skald.Tx, in Input, target Target) (Publication, error) {
	if !target.Force {
		return Publication{}, nil
	}
	return publish(tx, in, target, Head)
}
