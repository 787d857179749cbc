package strategy

import (
	"encoding/json"
	"fmt"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/message"
)

// fitInput is everything that competes for the budget.
type fitInput struct {
	head    []json.RawMessage
	list    []exchange
	recalls []skald.PlacedRecall
	budget  int // tokens
	keep    int // raw turns that stay
	uri     skald.SessionRef
}

// turnURI leads to a turn; "" when none is stored.
func (in fitInput) turnURI(seq int64) string {
	if in.uri.ID == "" {
		return ""
	}
	return string(in.uri.TurnsURI(seq, seq))
}

func (in fitInput) sessionURI() string {
	if in.uri.ID == "" {
		return ""
	}
	return string(in.uri.URI())
}

// fitted is what stays. tokens never exceeds the budget (I6).
type fitted struct {
	head         []shown
	list         []exchange
	recalls      []standingRecall
	headTokens   int
	recallTokens int
	tokens       int
	cut          []string
}

// standingRecall is an earlier recall with its messages made ready.
type standingRecall struct {
	skald.PlacedRecall
	messages []message.Ready
}

func (f *fitted) note(format string, args ...any) {
	f.cut = append(f.cut, fmt.Sprintf(format, args...))
}

// fit lets things yield in the order of I6: recalls, old summaries, older raw turns at exchange boundaries, oversized tool results
// and then long texts of the newest turns, then turns from the oldest.
func fit(in fitInput) fitted {
	f := fitted{list: in.list}
	for _, raw := range in.head {
		f.head = append(f.head, made(raw))
	}
	for _, p := range in.recalls {
		f.recalls = append(f.recalls, standingRecall{p, prepared(p.Messages)})
	}
	f.dropUnanchored()
	for _, step := range []func(*fitted, fitInput){dropRecalls, shortenHead, dropOlder, shortenTools, shortenTexts, stubLong, dropHead, dropOldest} {
		f.measure()
		if f.tokens <= in.budget {
			break
		}
		step(&f, in)
	}
	f.measure()
	return f
}

func prepared(raws [][]byte) []message.Ready {
	list := make([]message.Ready, len(raws))
	for i, raw := range raws {
		list[i] = message.Prepare(raw, nil)
	}
	return list
}

func (f *fitted) measure() {
	_, f.tokens = render(*f, nil)
	f.headTokens, f.recallTokens = 0, 0
	for _, m := range f.head {
		f.headTokens += m.tokens
	}
	for _, r := range f.recalls {
		f.recallTokens += r.Tokens
	}
}

// dropUnanchored removes recalls that stand before the oldest turn in view: their prompt is not there any more.
func (f *fitted) dropUnanchored() {
	for len(f.recalls) > 0 && (len(f.list) == 0 || f.recalls[0].AfterSeq+1 < f.list[0].first()) {
		f.recalls = f.recalls[1:]
	}
}

func dropRecalls(f *fitted, in fitInput) {
	over, dropped := f.tokens-in.budget, 0
	for over > 0 && len(f.recalls) > 0 {
		over -= f.recalls[0].Tokens
		f.recalls = f.recalls[1:]
		dropped++
	}
	if dropped > 0 {
		f.note("%d earlier recalls were dropped", dropped)
	}
}

func shortenHead(f *fitted, in fitInput) {
	if len(f.head) == 0 {
		return
	}
	rest := f.headTokens - f.head[0].tokens
	room := max(f.head[0].tokens-(f.tokens-in.budget), in.budget/10-rest)
	if room >= f.head[0].tokens {
		return
	}
	f.head = append([]shown{made(message.Shorten(f.head[0].raw, room, in.sessionURI()))}, f.head[1:]...)
	f.note("the summary was shortened to %d tokens", f.head[0].tokens)
}

func dropOlder(f *fitted, in fitInput) {
	dropped, turns := 0, countTurns(f.list)
	for f.tokens > in.budget {
		over, before := f.tokens-in.budget, dropped
		for over > 0 && len(f.list) > 1 && turns-len(f.list[0].turns) >= in.keep {
			over -= f.list[0].tokens
			dropped += len(f.list[0].turns)
			turns -= len(f.list[0].turns)
			f.list = f.list[1:]
		}
		if dropped == before {
			break
		}
		f.dropUnanchored()
		f.measure()
	}
	if dropped > 0 {
		f.note("%d older turns were left out", dropped)
	}
}

func dropHead(f *fitted, _ fitInput) {
	if len(f.head) > 0 {
		f.head = nil
		f.note("the summary was left out")
	}
}

// dropOldest removes exchanges, then steps within the last one, from the oldest. What the user asked for in the last one goes last:
// tool output without its task is worth nothing (ASM-05).
func dropOldest(f *fitted, in fitInput) {
	dropped := 0
	for f.tokens > in.budget && len(f.list) > 0 {
		over := f.tokens - in.budget
		for over > 0 && len(f.list) > 0 {
			gone := f.dropOne()
			over -= gone.tokens
			dropped += len(gone.turns)
		}
		f.dropUnanchored()
		f.measure()
	}
	f.note("%d of the newest turns were left out", dropped)
}

func (f *fitted) dropOne() exchange {
	x := f.list[0]
	if len(f.list) > 1 || len(x.turns) == 1 {
		f.list = f.list[1:]
		return x
	}
	at := 0
	if x.turns[0].msg.SkaldRole() == skald.RoleUser {
		at = 1
	}
	gone := x.turns[at]
	turns := append(append([]shown{}, x.turns[:at]...), x.turns[at+1:]...)
	f.list = []exchange{{turns: turns, tokens: x.tokens - gone.tokens}}
	return exchange{turns: []shown{gone}, tokens: gone.tokens}
}

// openLine stands first when the oldest message in view is not a user's: providers want a user to begin.
const openLine = message.Mark + "The conversation so far, from here on:"

var opening = message.User(openLine, 1)

// render lays the messages out: head, raw turns with recalls where they stand, the recall for the prompt; calls paired.
func render(f fitted, current []message.Ready) ([]json.RawMessage, int) {
	var list []message.Ready
	for _, m := range f.head {
		list = append(list, m.ready)
	}
	recalls := f.recalls
	for _, x := range f.list {
		for _, t := range x.turns {
			for len(recalls) > 0 && recalls[0].AfterSeq < t.seq {
				list = append(list, recalls[0].messages...)
				recalls = recalls[1:]
			}
			list = append(list, t.ready)
		}
	}
	messages, tokens, opener := message.Join(append(list, current...))
	if len(messages) > 0 && opener != message.RoleUser {
		messages, tokens = append([]json.RawMessage{opening}, messages...), tokens+message.Tokens(opening)
	}
	return messages, tokens
}
