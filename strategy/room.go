package strategy

import (
	"github.com/skald-engine/skald/message"
	"github.com/skald-engine/skald/recall"
)

// Recalls stay where they stood until the next publication, so that prefixes stay exact. Therefore each has to be worth its place: the
// fuller their share of the budget is, the better an item has to match, and the last part of the share is kept for clear matches.
const (
	recallShare  = 0.10 // of the budget: all recalls in view
	clearReserve = 0.40 // of the share: for clear matches only
	clearScore   = 0.60 // the threshold once only the reserve is left
	clearCover   = 0.50 // what a clear match covers of the prompt's information; rises to certainCover until one last recall has room
	certainCover = 0.80
	clearItems   = 150 // tokens of items that a clear match needs at most
	leastItems   = 60  // tokens of items below which a recall is not worth its frame
	leastRecall  = 20  // tokens of items: one short fact
	leastShare   = 500 // tokens: in small windows two short recalls have room all the same
)

// room is what one recall may take.
type room struct {
	tokens    int     // with the messages around the items
	threshold float64 // of an item's score
	cover     float64 // of the prompt's information, by the best hit
}

// recallRoom shares out what the recalls in view have left, within left tokens of the budget.
func recallRoom(in Input, used, left, frame int) room {
	share := max(int(recallShare*float64(in.Budget)), min(leastShare, in.Budget/4))
	open := int((1 - clearReserve) * float64(share))
	low := in.Settings.Threshold
	if low == 0 {
		low = recall.DefaultThreshold
	}
	least := frame + leastItems
	r := room{tokens: open, threshold: low}
	if used > 0 {
		full := float64(used) / float64(open)
		r = room{tokens: max((open-used)/2, least), threshold: low + (max(low, clearScore)-low)*min(1, full)}
	}
	if used > 0 && used+r.tokens > open {
		full := float64(max(0, used-open)) / float64(max(1, share-open-least))
		r.threshold, r.cover = max(low, clearScore), clearCover+(certainCover-clearCover)*min(1, full)
		r.tokens = min(max((share-used)/2, least), frame+clearItems)
	}
	if r.tokens = min(r.tokens, in.Settings.RecallTokens+frame, left); used+r.tokens > share && used > 0 {
		r.tokens = min(r.tokens, share-used)
	}
	return r
}

// frameTokens is what stands around the items of a recall: measured, since it hangs on the form and the prompt.
func frameTokens(kind string, in Input) int {
	messages, err := recallMessages(kind, in.Prompt, in.TurnID, in.Search, nil, in.Now)
	if err != nil {
		return clearItems
	}
	sum := moreTokens
	for _, m := range messages {
		sum += message.Tokens(m)
	}
	return sum
}

// moreTokens is the call that leads from the first item to its source.
const moreTokens = 35
